"""Prices, powers and energies: the bill of a network, of all networks of a study, and what runs make of them."""

import json
import os
import subprocess
import sys

import pytest

import fabricsim as fs
from conftest import REAL
from fabricsim._prices import priced_networks
from fabricsim.analyses.pareto.front import pareto
from fabricsim.registry import bill, describe

pytestmark = pytest.mark.skipif(not REAL, reason="needs the real core")


def study(**more):
    return fs.Study(
        {
            "name": "taper",
            "topology": {"kind": "dragonfly", "groups": 4, "routers_per_group": 2, "nodes_per_router": 2},
            "link": {"bandwidth": "100 Gbit/s"},
            "job": [{"work": {"kind": "uniform", "message": "4 KiB", "count": 3}}],
            "sweep": {"topology.links_per_pair": [4, 2], "routing.kind": ["minimal", "ugal"]},
            "run": {"seeds": [1, 2]},
            **more,
        }
    )


def told(*arguments):
    command = [sys.executable, "-m", "fabricsim", *map(str, arguments)]
    environment = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1"}
    return subprocess.run(command, env=environment, text=True, capture_output=True, timeout=120, check=True).stdout


def test_every_network_of_a_study_has_one_line():
    full, tapered = priced_networks(study().expand().runs)
    assert [network.point for network in (full, tapered)] == [(("topology.links_per_pair", n),) for n in ("4", "2")]
    # 16 nodes, 4 cables within groups, 6 pairs of groups.
    assert (full.electrical + full.optical, tapered.electrical + tapered.optical) == (16 + 4 + 24, 16 + 4 + 12)
    assert tapered.power_w == pytest.approx((16 + 2 * 16) * 2.8)
    assert full.saves == 0
    assert tapered.saves == pytest.approx(1 - tapered.price_usd / full.price_usd)
    assert tapered.price_usd < full.price_usd
    assert (full.bisection, tapered.bisection) == (2.0, 1.0)
    assert full.prices == "default"


def test_the_commands_tell_bills_as_text_and_as_json(tmp_path):
    file = tmp_path / "taper.toml"
    file.write_text(
        'topology = { kind = "ring", routers = 4, nodes_per_router = 2 }\n[cost]\nport_price = "100 USD"\nrouter_rebate = "0 USD"\n'
        '[cost.electrical]\nper = "cable"\nprice = "10 USD"\nprice_per_metre = "0 USD"\n'
    )
    shown = told("show", file)
    assert "host cables, electrical" in shown
    assert "prices of the study" in shown
    parts = json.loads(told("show", file, "--json"))["bill"]
    # 4 routers of 4 ports; 8 cables to nodes and 4 of the ring.
    assert parts["price_usd"] == 4 * 4 * 100 + 12 * 10
    (line,) = json.loads(told("cost", file, "--json"))
    assert line["price_usd"] == parts["price_usd"]
    assert line["price_per_node_usd"] == parts["price_usd"] / 8
    table = told("cost", file)
    assert "1,720" in table
    assert "default prices" not in table
    assert "default prices of 2014" in told("show", "torus-4")


def test_runs_have_price_power_and_energy_as_numbers_like_others(tmp_path):
    results = study(cost={"port_send_power": "2 W"}).run(out=tmp_path / "r", progress=False)
    record = results.records[0]
    cost = record.summary["cost"]
    network = bill(record.run.canonical)
    assert cost["price_usd"] == network["bill"]["price_usd"] == describe(record.run.canonical)["bill"]["price_usd"]
    assert cost["energy_j"] == pytest.approx(cost["power_w"] * record.summary["sim_time_ns"] * 1e-9 + cost["energy_sending_j"])
    assert cost["energy_sending_j"] > 0
    front = pareto(results, minimise=["cost.price_usd", "cost.energy_j", "latency_ns.mean"])
    assert len(front.rows) == 4
    assert front.front
    assert "cost.price_usd" in results.runs.column_names
    page = results.report().read_text()
    assert "cost.price_usd" in page


def test_runs_without_prices_have_none(tmp_path):
    results = study(sweep={}).run(out=tmp_path / "r", progress=False)
    assert "cost" not in results.records[0].summary
    with pytest.raises(ValueError, match=r"no number cost\.price_usd"):
        pareto(results, minimise=["cost.price_usd", "latency_ns.mean"])
