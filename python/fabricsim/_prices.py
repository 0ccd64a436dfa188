"""What the networks of a study cost and draw, a line for each, without running anything."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from fabricsim._runs import Run, point_words
from fabricsim.registry import bill

__all__ = ["PricedNetwork", "price_sentence", "priced_networks"]

#: Swept keys with their values.
SweptValues = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class PricedNetwork:
    """A network of a study with its bill.

    Attributes
    ----------
    point : tuple of (key, value)
        The swept keys that its bill depends on, or that come with those.
    nodes, routers, racks : int
        How many there are.
    electrical, optical : int
        Cables of either kind, those to nodes among them.
    metres : float
        All their lengths together.
    bisection : float
        Cables between two halves, as a share of those that full bisection needs: one for each node of a half.
    price_usd, power_w : float
        What it costs, and what it draws when nothing is sent.
    saves : float
        Share of the price of the first network that it saves for each node; below zero where it costs more.
    prices : str
        ``of the study`` or ``default``.
    """

    point: SweptValues
    nodes: int
    routers: int
    racks: int
    electrical: int
    optical: int
    metres: float
    bisection: float
    price_usd: float
    power_w: float
    saves: float
    prices: str

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON, with price and power of a node."""
        per_node = {"price_per_node_usd": self.price_usd / self.nodes, "power_per_node_w": self.power_w / self.nodes}
        return asdict(self) | {"point": dict(self.point)} | per_node


def priced_networks(runs: Sequence[Run]) -> list[PricedNetwork]:
    """Return the bill of every network of a study, in the order of its points.

    Those of one experiment with the same network, links and prices are one.

    Parameters
    ----------
    runs : sequence of Run
        Those of a study; seeds do not matter.
    """
    found: dict[str, PricedNetwork] = {}
    first: float | None = None
    for run in runs:
        specification = json.loads(run.canonical)
        parts = [run.experiment, *(specification.get(part) for part in ("topology", "links", "cost"))]
        if (name := json.dumps(parts)) in found:
            continue
        network = bill(run.canonical)
        each = network["bill"]["price_usd"] / network["nodes"]
        first = each if first is None else first
        found[name] = _priced(_words(run), network, saves=1 - each / first if first else 0.0)
    return list(found.values())


def _priced(point: SweptValues, network: dict[str, Any], *, saves: float) -> PricedNetwork:
    parts = network["bill"]
    cables = {kind: sum(line["cables"] for line in parts["cables"] if line["kind"] == kind) for kind in ("electrical", "optical")}
    return PricedNetwork(
        point=point,
        nodes=network["nodes"],
        routers=parts["routers"],
        racks=parts["racks"],
        **cables,
        metres=sum(line["metres"] for line in parts["cables"]),
        bisection=2 * network["bisection_links"] / network["nodes"],
        price_usd=parts["price_usd"],
        power_w=parts["power_w"],
        saves=saves,
        prices=network["prices"],
    )


def _words(run: Run) -> SweptValues:
    """Return the experiment and the swept keys that say which network it is, or what it is made of."""
    of_network = ("topology", "link", "cost")
    swept = [(key, value) for key, value in run.sweep if any(part.strip().startswith(of_network) for part in key.split(","))]
    return ((("experiment", run.experiment),) if run.experiment else ()) + tuple(swept)


def price_sentence(networks: Sequence[PricedNetwork]) -> str:
    """Return what networks cost in a sentence: of several which is the cheapest for a node, and what it saves of the dearest.

    Parameters
    ----------
    networks : sequence of PricedNetwork
        At least one.
    """
    each = [network.price_usd / network.nodes for network in networks]
    cheap, dear = (networks[each.index(end)] for end in (min(each), max(each)))
    if min(each) == max(each):
        of = "Every network costs" if len(networks) > 1 else "The network costs"
        return f"{of} {each[0]:,.0f} USD for each of {cheap.nodes:,} nodes, and draws {cheap.power_w / cheap.nodes:,.1f} W for it when idle."
    saved = 1 - min(each) / max(each)
    return (
        f"{point_words(cheap.point)} costs least: {min(each):,.0f} USD a node, {saved:.1%} less than {point_words(dear.point)} "
        f"({max(each):,.0f} USD), with {cheap.bisection:.0%} of full bisection in place of {dear.bisection:.0%}."
    )
