"""The command `fabricsim routes`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from fabricsim._units import format_bytes
from fabricsim.analyses.routes.defaults import LANES, SAMPLES, TORUS
from fabricsim.analyses.routes.options import AddressOfHost, Compare, Lanes, Lmc, Rack, Samples, Seed, Shift, TorusFile
from fabricsim.cli._base import CHECK, INPUT, InputError, JsonOption, app, example, put, say


def _engine_names(engines: list[str] | None) -> list[str]:
    return [name.strip() for text in engines or [] for name in text.split(",") if name.strip()]


@app.command(epilog=example("routes fabric.ibnetdiscover --engine minhop,sssp,dfsssp"))
def routes(
    fabric: Annotated[
        str | None,
        typer.Argument(
            metavar="STUDY|FILE|PRESET", help="A study, the output of ibnetdiscover, a graph file, or a topology preset."
        ),
    ] = None,
    engine: Annotated[
        list[str] | None,
        typer.Option("--engine", metavar="NAME,...", help="Routing engines, such as sssp,dfsssp \\[default: minhop]."),
    ] = None,
    compare: Compare = False,
    tables: Annotated[
        Path | None,
        typer.Option("--tables", metavar="FILE", help="Tables of a file: of dump_lfts, ibroute, OpenSM, or fabricsim's own."),
    ] = None,
    levels: Annotated[
        Path | None, typer.Option("--levels", metavar="FILE", help="Service levels for --tables: OpenSM's path record dump.")
    ] = None,
    remove: Annotated[
        list[str] | None,
        typer.Option(
            "--remove",
            metavar="WHAT",
            help="Break something first: 'switch NAME', 'cable NAME PORT', 'random COUNT SEED', or a file of such lines; may be repeated.",
        ),
    ] = None,
    demand: Annotated[
        Path | None,
        typer.Option("--demand", metavar="CSV", help="Also lay this demand over the cables: source,destination,amount."),
    ] = None,
    shift: Shift = None,
    rack: Rack = None,
    samples: Samples = SAMPLES,
    seed: Seed = 1,
    lanes: Lanes = LANES,
    lmc: Lmc = None,
    path: AddressOfHost = 0,
    root: Annotated[
        list[str] | None, typer.Option("--root", metavar="SWITCH", help="A root of updn and ftree; may be repeated.")
    ] = None,
    torus: TorusFile = None,
    hottest: Annotated[int, typer.Option("--hottest", min=0, metavar="N", help="How many of the busiest cables to name.")] = 5,
    out: Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Write report.html and all tables there.")] = None,
    dump: Annotated[
        bool,
        typer.Option("--dump", help="With --out: also NAME.lft as ibroute prints it and NAME.levels, a line per pair of hosts."),
    ] = False,
    names: Annotated[bool, typer.Option("--list", help="List the engines instead.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Route a fabric and tell what its forwarding tables are worth, without a simulation."""
    from fabricsim.analyses.routes.route import route_engines
    from fabricsim.analyses.routes.route import routes as find_routes
    from fabricsim.analyses.routes.table import show

    if names:
        found_engines = route_engines()
        if as_json:
            put(json.dumps(found_engines))
        else:
            for entry in found_engines:
                put(f"{entry['name']:8} {entry['line']}")
        return
    if fabric is None:
        raise InputError("name a study, a file of ibnetdiscover or a topology preset (--list shows the engines)")
    if levels is not None and tables is None:
        raise InputError("--levels are service levels for --tables: give both")
    if torus is not None and not compare and TORUS not in _engine_names(engine):
        raise InputError(f"--torus tells {TORUS} which switch is where: ask for it by --engine {TORUS}")
    if dump and out is None:
        raise InputError("--dump goes beside the report: say where by --out DIR")
    found = find_routes(
        fabric,
        engine=_engine_names(engine),
        compare=compare,
        tables=tables,
        levels=levels,
        remove=remove or [],
        demand=demand,
        shift=shift,
        rack=rack,
        samples=samples,
        seed=seed,
        lanes=lanes,
        lmc=lmc,
        path=path,
        roots=root or [],
        torus=torus,
        hottest=hottest,
    )
    if dump:
        sizes = found.dump_sizes()
        each = ", ".join(f"{name} {format_bytes(size)}" for name, size in sizes.items())
        say(f"--dump writes {format_bytes(sum(sizes.values()))}: {each}")
    written = found.write(out, dump=dump) if out is not None else []
    if as_json:
        put(json.dumps({**found.to_json(), "files": [str(name) for name in written]}))
    else:
        show(found)
        for name in written:
            put(f"{'report' if name.name == 'report.html' else 'written'}: {name}")
    lossy = [each for each in found if each.broken]
    for one in lossy:
        which = "".join(f", {example}" for example in one.summary["broken_examples"][:1])
        say(f"error: {one.name}: {one.broken:,} pairs of hosts do not reach each other{which}")
    refused = [found.refused[name] for name in _engine_names(engine) if name in found.refused]
    for reason in refused:
        say(f"error: {reason}")
    if lossy or refused:
        raise typer.Exit(CHECK if lossy else INPUT)
