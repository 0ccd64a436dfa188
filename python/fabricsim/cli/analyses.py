"""Commands that ask a question of their own: routes, capacity, knee, effects, pareto."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fabricsim.cli._base import (
    CHECK,
    OK,
    ExperimentOption,
    ForceOption,
    FreshOption,
    InputError,
    JobsOption,
    JsonOption,
    OutOption,
    QuietOption,
    SetOption,
    StudyArgument,
    VariantOption,
    app,
    failed_code,
    load_study,
    outcome_code,
    put,
    run_campaign,
    say,
)
from fabricsim.errors import CheckFailed, StudyError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fabricsim.results import Results
    from fabricsim.study import Study


def _answer(found: dict[str, Any], show: Callable[[], None], written: Sequence[Path], *, as_json: bool) -> None:
    """Print what was found and the files it was written to: one JSON object, or text by `show`."""
    if as_json:
        put(json.dumps({**found, "files": [str(path) for path in written]}))
        return
    show()
    for path in written:
        put(f"written: {path}")


def _engine_names(engines: list[str] | None) -> list[str]:
    return [name.strip() for text in engines or [] for name in text.split(",") if name.strip()]


@app.command()
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
    compare: Annotated[bool, typer.Option("--compare", help="All engines; those that refuse the fabric say why.")] = False,
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
    shift: Annotated[
        int | None, typer.Option("--shift", min=1, metavar="K", help="Also look at host i sending to host i + K.")
    ] = None,
    rack: Annotated[
        int | None,
        typer.Option("--rack", min=2, metavar="HOSTS", help="Also mpiGraph within racks of so many consecutive hosts."),
    ] = None,
    samples: Annotated[
        int, typer.Option("--samples", min=2, metavar="N", help="Random matchings of the bisection bandwidth.")
    ] = 1000,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the matchings.")] = 1,
    lanes: Annotated[int, typer.Option("--lanes", min=1, max=15, help="Virtual lanes that engines may use.")] = 8,
    lmc: Annotated[
        int | None, typer.Option("--lmc", min=0, max=7, help="2^LMC addresses per host \\[default: the fabric's].")
    ] = None,
    path: Annotated[int, typer.Option("--path", min=0, help="Which of a host's addresses senders use.")] = 0,
    root: Annotated[
        list[str] | None, typer.Option("--root", metavar="SWITCH", help="A root of updn and ftree; may be repeated.")
    ] = None,
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
    from fabricsim._routes import route_engines
    from fabricsim._routes import routes as find_routes
    from fabricsim._text import routes_text
    from fabricsim._units import format_bytes

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
        routes_text(found)
        for name in written:
            put(f"{'report' if name.name == 'report.html' else 'written'}: {name}")
    lossy = [each for each in found if each.broken]
    for one in lossy:
        which = "".join(f", {example}" for example in one.summary["broken_examples"][:1])
        say(f"error: {one.name}: {one.broken:,} pairs of hosts do not reach each other{which}")
    if lossy:
        raise typer.Exit(CHECK)


@app.command()
def capacity(
    study: StudyArgument,
    sets: SetOption = None,
    variant: VariantOption = None,
    pairs: Annotated[bool, typer.Option("--pairs", help="Every two jobs as well: who slows whom down.")] = False,
    out: OutOption = None,
    jobs: JobsOption = None,
    resume: Annotated[bool, typer.Option("--resume", help="Keep the runs that are finished.")] = False,
    force: ForceOption = False,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Run the jobs of a study together and each of them alone in the same place: what sharing the network costs."""
    from fabricsim._capacity import capacity as evaluate
    from fabricsim._capacity import capacity_study, write
    from fabricsim._text import capacity_text

    loaded = load_study(study, sets, variant)
    try:
        campaign = capacity_study(loaded, pairs=pairs)
    except StudyError:
        raise
    except ValueError as error:
        raise InputError(str(error)) from error
    outcome, results = run_campaign(
        campaign,
        out=out,
        experiments=None,
        jobs=jobs,
        workers=None,
        resume=resume,
        force=force,
        limit=None,
        quiet=quiet,
    )
    code = failed_code(results, outcome_code(outcome))
    if code != OK:
        raise typer.Exit(code)
    points = evaluate(results)
    rows = [
        {**asdict(point), "interference": [[*two, slowdown] for two, slowdown in point.interference.items()]} for point in points
    ]
    _answer({"points": rows}, lambda: capacity_text(points), write(points, results.folder), as_json=as_json)


@app.command()
def knee(
    study: StudyArgument,
    over: Annotated[str, typer.Option("--over", metavar="KEY", help="What to double, such as link.bandwidth.")],
    start: Annotated[
        str | None,
        typer.Option("--from", metavar="VALUE", help="First value \\[default: of the study's sweep, else the study's]."),
    ] = None,
    stop: Annotated[
        str | None, typer.Option("--to", metavar="VALUE", help="Largest value that may be run \\[default: ten doublings].")
    ] = None,
    gain: Annotated[float, typer.Option("--gain", help="A doubling pays if it improves the metric by this share.")] = 0.05,
    metric: Annotated[
        str | None,
        typer.Option("--metric", metavar="NAME", help="A number of a run \\[default: time of the first job, else mean latency]."),
    ] = None,
    maximise: Annotated[bool, typer.Option("--maximise", help="A larger metric is better.")] = False,
    seeds: Annotated[
        int | None, typer.Option("--seeds", min=1, metavar="N", help="Seeds 1 to N at every value \\[default: the study's].")
    ] = None,
    precision: Annotated[float, typer.Option("--precision", help="How close values are bisected, as a share.")] = 0.1,
    level: Annotated[float, typer.Option("--level", help="Level of the intervals.")] = 0.95,
    sets: SetOption = None,
    variant: VariantOption = None,
    experiment: ExperimentOption = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Where to \\[default: results/NAME-knee].")] = None,
    jobs: JobsOption = None,
    fresh: FreshOption = False,
    force: ForceOption = False,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Find where the next doubling of a key, such as the bandwidth, pays less than a given gain, with few runs."""
    from fabricsim._knee import knee as find
    from fabricsim._knee import write
    from fabricsim._text import knee_text

    loaded = load_study(study, sets, variant)

    def runner(study: Study, folder: Path, experiments: Sequence[str] | None) -> Results:
        outcome, results = run_campaign(
            study,
            out=folder,
            experiments=list(experiments) if experiments else None,
            jobs=jobs,
            workers=None,
            resume=not fresh,
            force=force,
            limit=None,
            quiet=quiet,
        )
        code = outcome_code(outcome)
        if code != OK:
            raise typer.Exit(code)
        return results

    folder = out or Path("results") / f"{loaded.expand().name}-knee"
    try:
        found = find(
            loaded,
            over=over,
            start=start,
            stop=stop,
            gain=gain,
            metric=metric,
            maximise=maximise,
            seeds=seeds,
            precision=precision,
            level=level,
            experiments=experiment,
            out=folder,
            runner=runner,
        )
    except StudyError:
        raise
    except CheckFailed as error:
        say(f"error: {error}")
        raise typer.Exit(CHECK) from error
    except ValueError as error:
        raise InputError(str(error)) from error
    written = write(found, folder)
    _answer({"knees": [entry.to_json() for entry in found]}, lambda: knee_text(found), written, as_json=as_json)


@app.command()
def effects(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A results directory of a study with a sample.")],
    of: Annotated[
        str | None,
        typer.Option("--of", metavar="METRIC", help="A number of a run \\[default: time of the first job, else mean latency]."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Tell which sampled keys a metric depends on: alone, in pairs, and how much is left to the seeds."""
    from fabricsim._effects import effects as evaluate
    from fabricsim._effects import write
    from fabricsim._text import effects_text
    from fabricsim.results import Results

    results = Results.open(folder)
    try:
        found = evaluate(results, of=of)
    except ModuleNotFoundError as error:
        raise InputError(f"{error.name} is not installed: pip install 'fabricsim[effects]'") from error
    except ValueError as error:
        raise InputError(str(error)) from error
    written = write(found, folder)
    results.report()
    _answer({"effects": [entry.to_json() for entry in found]}, lambda: effects_text(found), written, as_json=as_json)


@app.command()
def pareto(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A results directory.")],
    minimise: Annotated[
        list[str] | None, typer.Option("--minimise", metavar="NAME", help="Less of this is better; may be repeated.")
    ] = None,
    maximise: Annotated[
        list[str] | None, typer.Option("--maximise", metavar="NAME", help="More of this is better; may be repeated.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Find the points that no other point beats in every objective: numbers of runs, or swept and sampled quantities."""
    from fabricsim._pareto import pareto as evaluate
    from fabricsim._pareto import write
    from fabricsim._text import pareto_text
    from fabricsim.results import Results

    results = Results.open(folder)
    try:
        found = evaluate(results, minimise=minimise or [], maximise=maximise or [])
    except ValueError as error:
        raise InputError(str(error)) from error
    written = write(found, folder)
    results.report()
    _answer(found.to_json(), lambda: pareto_text(found), written, as_json=as_json)
