"""What a search for saturation has measured and found, and the answer in words."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["SHARES", "Links", "Measured", "Saturation"]

#: What is accepted beyond saturation is told where it is so many times as much.
_CLEARLY = 1.03
#: Shares of the saturation load at which latency is told.
SHARES = (0.25, 0.5, 0.8)


@dataclass(frozen=True, slots=True)
class Measured:
    """A load and what the network made of it, the seeds together.

    Attributes
    ----------
    load : float
        Offered by every node that sends, a fraction of its injection bandwidth.
    length_ns : float
        How long was simulated.
    state : str
        ``ok`` if every seed is, ``saturated`` if one is, else ``unsettled``.
    states : tuple of str
        Of the seeds.
    share : float or None
        Which share of the saturation load it is, of those that every curve has.
    offered_load, accepted_load : float
        Means over all nodes, silent ones too.
    accepted_load_error : float or None
        Half the width of its 95 % interval: over seeds, of one seed as the run says.
    accepted_load_min, fairness : float
        Of the worst node of the worst seed.
    busiest_link : float or None
        Part of the time that the busiest link was busy.
    latency_ns : dict
        ``mean`` and ``p99`` with ``mean_error`` and ``p99_error`` (half of the 95 % interval), null where a seed has none; then
        ``mean_at_least`` and ``p99_at_least`` if the seeds have those.
    """

    load: float
    length_ns: float
    state: str
    states: tuple[str, ...]
    share: float | None
    offered_load: float
    accepted_load: float
    accepted_load_error: float | None
    accepted_load_min: float | None
    fairness: float | None
    busiest_link: float | None
    latency_ns: dict[str, float | None]


@dataclass(frozen=True, slots=True)
class Links:
    """Links that limit, and how that is known.

    Attributes
    ----------
    words : str
        Which ones.
    by : str
        ``links`` of the saturated run, or ``channel loads``.
    busy : float or None
        Part of the time that the busiest of them was busy in the saturated run.
    count : int or None
        How many, where they were counted in the run.
    full : bool
        They are; else something other than links limits.
    """

    words: str
    by: str
    busy: float | None
    count: int | None
    full: bool


@dataclass(frozen=True, slots=True)
class Saturation:
    """Where a network stops to keep up.

    Attributes
    ----------
    name : str
        The point in words.
    point : tuple of (key, value)
        The experiment and the values of swept keys, and what was changed.
    kind : str
        ``found``; ``full``: it keeps up with full injection; ``overload``: the least load that was run is too much; ``open``: runs did not
        get as close as was asked; ``silent``: nothing is sent; ``failed``: see `reason`.
    load, low, high : float or None
        Saturation load, the greatest load that was kept up with, and the least that was not; loads between them may be undecided.
    within : float
        How close was asked for.
    bound : float or None
        Load at which links are full by what the routing loads them with.
    exact : bool
        No load above the bound is carried; else it says where the search began.
    links : Links or None
        What limits.
    twice : float or None
        The bound with twice the bandwidth of the class of these links; None where the bound is not exact.
    twice_class : str
        That class.
    at : Measured or None
        What was accepted at the least load that was not kept up with.
    measured : tuple of Measured
        Every load that was run, rising, each with its longest run.
    runs : int
        Loads that were run, those run again for longer counted again.
    notes : tuple of str
        What else there is to say.
    reason : str
        Why there is no answer.
    changed : tuple of (key, value)
        What was changed of the study for it.
    moved : tuple of Saturation
        The same with a change each.
    """

    name: str
    point: tuple[tuple[str, str], ...]
    kind: str
    within: float
    load: float | None = None
    low: float | None = None
    high: float | None = None
    bound: float | None = None
    exact: bool = False
    links: Links | None = None
    twice: float | None = None
    twice_class: str = ""
    at: Measured | None = None
    measured: tuple[Measured, ...] = ()
    runs: int = 0
    notes: tuple[str, ...] = ()
    reason: str = ""
    changed: tuple[tuple[str, str], ...] = ()
    moved: tuple[Saturation, ...] = ()

    @property
    def half(self) -> float | None:
        """Half of the interval."""
        return (self.high - self.low) / 2 if self.low is not None and self.high is not None else None

    @property
    def value(self) -> str:
        """The saturation load with its interval, or what is known of it."""
        if self.kind == "full":
            return "full injection"
        if self.kind == "found" and self.half is not None:
            digits = 3 if self.half >= 0.0005 else 4
            return f"{self.load:.{digits}f} +- {max(self.half, 0.1**digits):.{digits}f}"
        if self.low is not None and self.high is not None:
            return f"between {self.low:g} and {self.high:g}"
        if self.high is not None:
            return f"below {self.high:g}"
        return f"above {self.low:g}" if self.low is not None else "unknown"

    @property
    def sentence(self) -> str:
        """The answer in words."""
        if self.kind == "failed":
            return f"{self.name}: no answer: {self.reason}."
        if self.kind == "silent":
            return f"{self.name}: nothing is sent, so that nothing can saturate."
        if self.kind == "full":
            return f"{self.name} keeps up with full injection{self._moved()}."
        if self.kind == "overload":
            head = f"{self.name} is saturated already at {self.high:g} of the injection bandwidth, the least load that was run"
        elif self.kind == "found":
            head = f"{self.name} saturates at {self.value} of the injection bandwidth"
        else:
            head = f"{self.name} saturates {self.value} of the injection bandwidth, {self.runs} runs did not get closer"
        return f"{head}{self._limited()}{self._beyond()}{self._moved()}."

    def _beyond(self) -> str:
        """Say what is accepted of higher loads, where that is clearly more than what the network does not keep up with."""
        accepted = [one.load * one.accepted_load / one.offered_load for one in self.measured if one.offered_load]
        if self.high is None or max(accepted, default=0.0) <= _CLEARLY * self.high:
            return ""
        return f"; of higher loads up to {max(accepted):.3g} is accepted, though not of every node"

    def _limited(self) -> str:
        if self.links is None:
            return ""
        if not self.links.full:
            busy = f" (the busiest, {self.links.words}, is busy {100 * (self.links.busy or 0.0):.0f} % of the time)"
            return f", and no link is full{busy}: buffers, arbitration or interfaces limit"
        return f", limited by {self.links.words}"

    def _moved(self) -> str:
        """Say what moves it: as measured, else as bounded, else nothing."""
        measured = []
        for other in self.moved:
            change = " and ".join(f"`{key.rpartition('.')[2]} = {value}`" for key, value in other.changed)
            if other.kind in ("failed", "silent"):
                measured.append(f"{change} gives no answer")
            else:
                measured.append(
                    f"{change} moves it to {other.value}"
                    if other.kind != "full"
                    else f"{change} lets it keep up with full injection"
                )
        if measured:
            return "; " + ", ".join(measured)
        if self.twice is None or self.kind == "full":
            return ""
        much = "full injection" if self.twice >= 1.0 else f"{self.twice:.3g} at most"
        return f"; twice the bandwidth of {self.twice_class} links would allow {much} (bound of the channel loads)"

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON, with the sentence."""
        found = {key: value for key, value in asdict(self).items() if key not in ("moved", "point", "changed")}
        return {
            "sentence": self.sentence,
            "point": dict(self.point),
            "changed": dict(self.changed),
            "half_width": self.half,
            **found,
            "moved": [other.to_json() for other in self.moved],
        }
