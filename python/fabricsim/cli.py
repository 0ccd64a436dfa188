"""The command line. Numbers go to stdout, progress and errors to stderr.

Exit codes: 0 fine, 2 the user's input, 3 a failed self-check, 1 ours, 130 interrupted.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from rich.console import Console

from fabricsim import __version__
from fabricsim._host import available_cores
from fabricsim._mpi import Ranks, connect, serve
from fabricsim._units import axis_value
from fabricsim.claims import ClaimError
from fabricsim.errors import CampaignInterrupted, CheckFailed, ClusterError, DiskError, ResultsError, StudyError, diagnostics_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fabricsim._campaign import Outcome
    from fabricsim._dask import Cluster
    from fabricsim.results import Results
    from fabricsim.study import Study

__all__ = ["app", "main"]

OK, OURS, INPUT, CHECK, INTERRUPTED = 0, 1, 2, 3, 130

#: The other processes, where a launcher such as mpirun has started several.
_ranks: Ranks | None = None

app = typer.Typer(
    name="fabricsim",
    help="How long will this work take on that network, why, and what would change it?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

StudyArgument = Annotated[
    str, typer.Argument(metavar="STUDY", help="A study file (TOML), or the name of a study that comes with fabricsim.")
]
SetOption = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Override a key of the study; may be repeated.")
]
VariantOption = Annotated[
    str | None, typer.Option("--variant", metavar="NAME", help="Use a \\[variant.NAME] of the study, such as quick.")
]
ExperimentOption = Annotated[
    list[str] | None, typer.Option("--experiment", metavar="NAME", help="Only this experiment; may be repeated.")
]
OutOption = Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Results directory \\[default: results/NAME-HASH].")]
JobsOption = Annotated[
    int | None, typer.Option("--jobs", "-j", min=1, help="Runs at a time \\[default: the cores, fewer where memory is short].")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print exactly one JSON object on stdout.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace what another study left in the results directory.")]


class _InputError(Exception):
    """Something the user can mend; the message says what."""


#: Base of the command line library's own errors (unknown option, missing argument, ...).
_USAGE_ERROR: Any = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")


def _stderr() -> Console:
    return Console(stderr=True)


def _say(text: str) -> None:
    _stderr().print(text, markup=False, highlight=False, soft_wrap=True)


def _print(text: str) -> None:
    sys.stdout.write(text + "\n")


def _parse_sets(sets: list[str] | None) -> list[tuple[str, object]]:
    pairs: list[tuple[str, object]] = []
    for text in sets or []:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise _InputError(f"--set {text}: write KEY=VALUE, for example --set link.bandwidth='50 GB/s'")
        pairs.append((key.strip(), value.strip()))
    return pairs


def _load(study: str, sets: list[str] | None, variant: str | None, extra: list[tuple[str, object]] | None = None) -> Study:
    from fabricsim.study import load

    return load(study, sets=[*_parse_sets(sets), *(extra or [])], variant=variant)


def _control_sets(engine: str | None, workers: int | None) -> list[tuple[str, object]]:
    pairs: list[tuple[str, object]] = []
    if engine is not None:
        pairs.append(("run.engine", engine))
    if workers is not None:
        pairs.append(("run.workers", workers))
    return pairs


def _command() -> str:
    return shlex.join(["fabricsim", *sys.argv[1:]])


def _campaign(
    study: Study,
    *,
    out: Path | None,
    experiments: list[str] | None,
    jobs: int | None,
    workers: int | None,
    resume: bool,
    force: bool,
    limit: int | None,
    quiet: bool,
    checkpoint_every: str | None = None,
    dask: str | None = None,
    memory_bytes: int | None = None,
) -> tuple[Outcome, Results]:
    """Run a study with progress on stderr and orderly Ctrl-C."""
    from fabricsim import _core
    from fabricsim._campaign import Campaign
    from fabricsim._progress import Bars, Lines, Quiet, interruptible
    from fabricsim.results import Results

    try:
        if checkpoint_every is not None:
            _core.checkpoint_interval(checkpoint_every)
    except ValueError as error:
        raise _InputError(f"--checkpoint-every: {error}") from error
    cluster = _cluster(dask, jobs=jobs, checkpoint_every=checkpoint_every) if dask is not None else None
    try:
        try:
            campaign = Campaign.plan(
                study=study, out=out, experiments=experiments, limit=limit, command=_command(), ranks=_ranks, cluster=cluster
            )
        except ValueError as error:
            if isinstance(error, StudyError):
                raise
            raise _InputError(str(error)) from error
        for warning in study.check(experiments=experiments).diagnostics:
            if warning.severity != "error":
                _say(str(warning))
        console = _stderr()
        observer: Quiet = Quiet() if quiet else (Bars(console) if console.is_terminal else Lines(console))
        with interruptible(observer, console, f"finished runs stay in {campaign.folder}"):
            outcome = campaign.execute(
                observer=observer,
                jobs=jobs,
                workers=workers,
                resume=resume,
                force=force,
                checkpoint_every=checkpoint_every,
                memory_bytes=memory_bytes,
            )
    finally:
        if cluster is not None:
            cluster.close()
    return outcome, Results.open(campaign.folder)


def _cluster(address: str, *, jobs: int | None, checkpoint_every: str | None) -> Cluster:
    """Connect to a Dask cluster, refusing what has no meaning there."""
    import logging

    from fabricsim._dask import connect as connect_cluster

    if _ranks is not None:
        raise _InputError("--dask and mpirun: ranks share each run here, a cluster takes whole runs; use one of them")
    if jobs is not None:
        raise _InputError("--jobs has no meaning with --dask: a cluster takes as many runs as its workers have threads")
    if checkpoint_every is not None:
        raise _InputError("--checkpoint-every has no meaning with --dask: workers share no folder for checkpoints")
    # What Dask's loop cannot send to a scheduler that is gone is told in words.
    for name in ("asyncio", "tornado"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return connect_cluster(address)


def _memory(text: str | None) -> int | None:
    """Return the bytes of --memory."""
    if text is None:
        return None
    found = axis_value(text)
    if found is None or found[1] != "B" or found[0] < 1 or not text.strip().endswith("B"):
        raise _InputError(f"--memory {text}: write a size, such as 16GiB")
    return int(found[0])


def _outcome_code(outcome: Outcome) -> int:
    """Say what went wrong in a campaign and return the exit code."""
    for text in outcome.user_errors:
        _say(f"error: {text}")
    for text in outcome.refused:
        _say(f"error: a run cannot go on: {text}")
    for text in outcome.faults:
        _say(f"error: a run gave no result: {text}")
    for text in outcome.failed_checks:
        _say(f"error: a self-check failed, the numbers of this run must not be used: {text}")
    if outcome.faults:
        return OURS
    if outcome.failed_checks:
        return CHECK
    return INPUT if outcome.user_errors or outcome.refused else OK


def _failed_code(results: Results, code: int) -> int:
    return CHECK if code == OK and results.failed else code


@app.command()
def run(
    study: StudyArgument,
    sets: SetOption = None,
    variant: VariantOption = None,
    experiment: ExperimentOption = None,
    out: OutOption = None,
    engine: Annotated[str | None, typer.Option("--engine", help="Engine that executes; it never changes the result.")] = None,
    workers: Annotated[
        int | None,
        typer.Option("--workers", min=1, help="Threads of one run, under mpirun of each rank; they never change the result."),
    ] = None,
    jobs: JobsOption = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Keep the runs that are finished, go on with the others from their checkpoints.")
    ] = False,
    checkpoint_every: Annotated[
        str | None,
        typer.Option(
            "--checkpoint-every",
            metavar="TIME",
            help="Write a checkpoint of every run in progress this often. The unit says whose time: s, min, h are wall time "
            "(10min), ms, us, ns simulated time (1ms). SIGTERM writes one in any case.",
        ),
    ] = None,
    dask: Annotated[
        str | None,
        typer.Option(
            "--dask", metavar="ADDRESS", help="Send the runs to this Dask scheduler, tcp://host:8786 or its scheduler file."
        ),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option("--memory", metavar="SIZE", help="Memory that runs may take together, 16GiB \\[default: what is free]."),
    ] = None,
    force: ForceOption = False,
    limit_runs: Annotated[int | None, typer.Option("--limit-runs", min=1, metavar="N", help="Only the first N runs.")] = None,
    report: Annotated[bool, typer.Option("--report/--no-report", help="Write report.html.")] = True,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Run a study: every point of its sweep, in parallel, into a results directory."""
    if memory is not None and (dask is not None or _ranks is not None):
        raise _InputError("--memory is for runs side by side on this machine: it has no meaning with --dask or mpirun")
    loaded = _load(study, sets, variant, _control_sets(engine, workers))
    outcome, results = _campaign(
        loaded,
        out=out,
        experiments=experiment,
        jobs=jobs,
        workers=workers,
        resume=resume,
        force=force,
        limit=limit_runs,
        quiet=quiet,
        checkpoint_every=checkpoint_every,
        dask=dask,
        memory_bytes=_memory(memory),
    )
    code = _failed_code(results, _outcome_code(outcome))
    if report:
        _draw_effects(results)
    written = results.report() if report and len(results) else None
    if as_json:
        found = results.to_json()
        found["ok"] = code == OK
        found["report"] = str(written) if written else None
        _print(json.dumps(found))
    else:
        from fabricsim._text import runs_text

        runs_text(results)
        if written:
            _print(f"report: {written}")
    raise typer.Exit(code)


def _draw_effects(results: Results) -> None:
    """Draw the effects of a sample for the report, where the results and what is installed allow it."""
    if not results.complete or not (results.manifest["study"].get("sample") or {}).get("keys"):
        return
    from fabricsim._effects import effects as evaluate
    from fabricsim._effects import write

    try:
        write(evaluate(results), results.folder)
    except (ModuleNotFoundError, ValueError) as error:
        _say(f"the report has no effects of the sample: {error}")


@app.command()
def check(
    study: StudyArgument,
    sets: SetOption = None,
    variant: VariantOption = None,
    experiment: ExperimentOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check a study without running it: keys, values, the network, freedom from deadlock."""
    loaded = _load(study, sets, variant)
    found = loaded.check(experiments=experiment)
    if as_json:
        from dataclasses import asdict

        runs = loaded.expand(experiments=experiment).runs if found.ok else ()
        predictions = [{"id": entry.id, "label": entry.label, "seed": entry.seed, **entry.estimate} for entry in runs]
        _print(json.dumps({**asdict(found), "predictions": predictions}))
    else:
        for diagnostic in found.diagnostics:
            _say(str(diagnostic))
        for cycle in found.deadlock:
            _say(f"deadlock: {cycle if isinstance(cycle, str) else json.dumps(cycle)}")
        if found.ok:
            from fabricsim._forecast import Forecast, overview_line

            _print(f"{loaded.file_name}: fine, {found.runs} run{'s' if found.runs != 1 else ''}")
            _print(overview_line(loaded.expand(experiments=experiment).runs, Forecast()))
    raise typer.Exit(OK if found.ok else INPUT)


@app.command()
def expand(
    study: StudyArgument,
    sets: SetOption = None,
    variant: VariantOption = None,
    experiment: ExperimentOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the runs of a study with their size, without running them."""
    plan = _load(study, sets, variant).expand(experiments=experiment)
    if as_json:
        _print(
            json.dumps(
                {
                    "study": {
                        "name": plan.name,
                        "description": plan.description,
                        "claims": plan.claims,
                        "reproduce": plan.reproduce,
                        "sample": plan.sample,
                    },
                    "hash": plan.hash,
                    "runs": [entry.to_dict() for entry in plan.runs],
                }
            )
        )
    else:
        from fabricsim._text import expansion_text

        expansion_text(plan)


@app.command("list")
def list_command(
    kind: Annotated[
        str | None, typer.Argument(metavar="[KIND]", help="topology, routing, router, ..., or studies; all by default.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List what there is: topologies, routings, router models, patterns, presets, studies."""
    from fabricsim._text import registry_text
    from fabricsim.registry import KINDS, list_entries
    from fabricsim.study import packaged_studies

    found: dict[str, list[dict[str, Any]]] = {}
    if kind in (None, "studies", "study"):
        import tomllib

        found["studies"] = []
        for name, path in packaged_studies().items():
            try:
                description = str(tomllib.loads(path.read_text()).get("description", ""))
            except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
                description = f"cannot be read: {error}"
            found["studies"].append({"name": name, "summary": description.strip().split("\n")[0], "file": str(path)})
    if kind is None:
        for name in KINDS:
            try:
                found[name] = list_entries(name)
            except ValueError:
                continue  # a kind that this core does not have yet
    elif kind not in ("studies", "study"):
        try:
            found[kind] = list_entries(kind)
        except ValueError as error:
            raise _InputError(f"{error} (and: studies)") from error
    if as_json:
        _print(json.dumps(found))
    else:
        registry_text(found, details=kind is not None)


@app.command()
def show(
    study: Annotated[str, typer.Argument(metavar="STUDY|PRESET", help="A study file, a packaged study, or a topology preset.")],
    sets: SetOption = None,
    variant: VariantOption = None,
    run_id: Annotated[
        str | None, typer.Option("--run", metavar="ID", help="Which run of the study \\[default: the first].")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Draw the network into this .svg, .png or .pdf file.")
    ] = None,
    shares: Annotated[
        bool, typer.Option("--partition", help="Also show which worker gets which routers; a drawing is coloured by worker.")
    ] = False,
    workers: Annotated[
        int | None,
        typer.Option("--workers", min=1, max=64, help="Workers of --partition \\[default: those of the study, else the cores]."),
    ] = None,
    jobs: Annotated[bool, typer.Option("--placement", help="Also show how many nodes each job has in each group.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show a network: its metrics, who gets which router, where jobs are, and a drawing with --out."""
    from fabricsim.registry import describe, partition
    from fabricsim.study import Study, find_study

    pairs = _parse_sets(sets)
    try:
        find_study(study)
        loaded = _load(study, sets, variant)
    except FileNotFoundError:
        if Path(study).suffix == ".toml" or "/" in study:
            raise
        loaded = Study({"name": study, "topology": {"preset": study}}, sets=dict(pairs), variant=variant)
    plan = loaded.expand()
    chosen = [entry for entry in plan.runs if entry.id.startswith(run_id or "")]
    if not chosen:
        raise _InputError(f"no run {run_id} in {study}; `fabricsim expand {study}` lists them")
    network = describe(chosen[0].canonical)
    if shares or workers is not None:
        count = workers or json.loads(chosen[0].canonical)["control"].get("workers") or max(2, available_cores())
        network["partition"] = partition(chosen[0].canonical, count)
    if out is not None:
        from fabricsim.plots import network as draw
        from fabricsim.plots import save

        if "routers" not in network:
            raise _InputError(f"{network.get('name', study)} has too many routers to draw (the limit is 5,000)")
        try:
            save(draw(network), out)
        except ValueError as error:
            raise _InputError(str(error)) from error
    if as_json:
        _print(json.dumps(network))
    else:
        from fabricsim._text import network_text, partition_text, placement_text

        network_text(network, others=len(plan.runs) - 1)
        if jobs:
            placement_text(network["jobs"])
        if "partition" in network:
            partition_text(network["partition"])
        if out is not None:
            _print(f"drawn into {out}")


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
    names: Annotated[bool, typer.Option("--list", help="List the engines instead.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Route a fabric and tell what its forwarding tables are worth, without a simulation."""
    from fabricsim._routes import route_engines
    from fabricsim._routes import routes as find_routes
    from fabricsim._text import routes_text

    if names:
        found_engines = route_engines()
        if as_json:
            _print(json.dumps(found_engines))
        else:
            for entry in found_engines:
                _print(f"{entry['name']:8} {entry['line']}")
        return
    if fabric is None:
        raise _InputError("name a study, a file of ibnetdiscover or a topology preset (--list shows the engines)")
    if levels is not None and tables is None:
        raise _InputError("--levels are service levels for --tables: give both")
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
    written = found.write(out) if out is not None else []
    if as_json:
        _print(json.dumps({**found.to_json(), "files": [str(name) for name in written]}))
    else:
        routes_text(found)
        for name in written:
            _print(f"{'report' if name.name == 'report.html' else 'written'}: {name}")


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A results directory.")],
    figures: Annotated[bool, typer.Option("--figures/--no-figures", help="Also write PNG and SVG figures for papers.")] = True,
) -> None:
    """Write the interactive report and the figures of a results directory anew."""
    from fabricsim._campaign import assemble
    from fabricsim.reproduce import judge_results, write_figures
    from fabricsim.results import Results

    if not (folder / "manifest.json").is_file():
        raise ResultsError(f"{folder} is not a results directory: it has no manifest.json")
    assemble(folder)
    results = Results.open(folder)
    if not len(results):
        raise ResultsError(f"{folder} has no finished run yet; `fabricsim run --resume` goes on with it")
    judge_results(results)
    drawn = write_figures(results) if figures else []
    if figures:
        _draw_effects(results)
    _print(f"report: {results.report()}")
    for path in drawn:
        _print(f"figure: {path}")


@app.command()
def reproduce(
    name: Annotated[str, typer.Argument(metavar="NAME|list", help="A published study, or `list`.")],
    variant: VariantOption = None,
    out: OutOption = None,
    jobs: JobsOption = None,
    force: ForceOption = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Run again what is finished already.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Run a published study and compare what the paper says with what comes out here."""
    if name == "list":
        list_command(kind="studies", as_json=as_json)
        return
    from fabricsim._text import claims_text, runs_text
    from fabricsim.reproduce import check_claims, judge_results, write_figures

    loaded = _load(name, None, variant)
    plan = loaded.expand()
    check_claims(plan)
    outcome, results = _campaign(
        loaded, out=out, experiments=None, jobs=jobs, workers=None, resume=not fresh, force=force, limit=None, quiet=quiet
    )
    code = _failed_code(results, _outcome_code(outcome))
    verdicts = judge_results(results) if code == OK else []
    figures = write_figures(results) if code == OK else []
    written = results.report()
    if as_json:
        _print(
            json.dumps(
                {
                    **results.to_json(),
                    "ok": code == OK,
                    "claims": [verdict.to_dict() for verdict in verdicts],
                    "report": str(written),
                    "figures": [str(path) for path in figures],
                }
            )
        )
    else:
        if outcome.reused and not outcome.executed:
            _say(f"all {outcome.reused} runs were finished already in {results.folder} (--fresh runs them again)")
        if not verdicts:
            runs_text(results)
        claims_text(verdicts)
        _print(f"report: {written}")
        if figures:
            _print(f"figures: {results.folder / 'figures'} ({len(figures)} files)")
    raise typer.Exit(code)


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
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Run the jobs of a study together and each of them alone in the same place: what sharing the network costs."""
    from fabricsim._capacity import capacity as evaluate
    from fabricsim._capacity import capacity_study, write

    loaded = _load(study, sets, variant)
    try:
        campaign = capacity_study(loaded, pairs=pairs)
    except StudyError:
        raise
    except ValueError as error:
        raise _InputError(str(error)) from error
    outcome, results = _campaign(
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
    code = _failed_code(results, _outcome_code(outcome))
    if code != OK:
        raise typer.Exit(code)
    points = evaluate(results)
    written = write(points, results.folder)
    if as_json:
        from dataclasses import asdict

        found = [
            {**asdict(point), "interference": [[*two, slowdown] for two, slowdown in point.interference.items()]}
            for point in points
        ]
        _print(json.dumps({"points": found, "files": [str(path) for path in written]}))
    else:
        from fabricsim._text import capacity_text

        capacity_text(points)
        for path in written:
            _print(f"written: {path}")


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
    fresh: Annotated[bool, typer.Option("--fresh", help="Run again what is finished already.")] = False,
    force: ForceOption = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Find where the next doubling of a key, such as the bandwidth, pays less than a given gain, with few runs."""
    from fabricsim._knee import knee as find
    from fabricsim._knee import write

    loaded = _load(study, sets, variant)

    def runner(study: Study, folder: Path, experiments: Sequence[str] | None) -> Results:
        outcome, results = _campaign(
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
        code = _outcome_code(outcome)
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
        _say(f"error: {error}")
        raise typer.Exit(CHECK) from error
    except ValueError as error:
        raise _InputError(str(error)) from error
    written = write(found, folder)
    if as_json:
        _print(json.dumps({"knees": [entry.to_json() for entry in found], "files": [str(path) for path in written]}))
    else:
        from fabricsim._text import knee_text

        knee_text(found)
        for path in written:
            _print(f"written: {path}")


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
    from fabricsim.results import Results

    results = Results.open(folder)
    try:
        found = evaluate(results, of=of)
    except ModuleNotFoundError as error:
        raise _InputError(f"{error.name} is not installed: pip install 'fabricsim[effects]'") from error
    except ValueError as error:
        raise _InputError(str(error)) from error
    written = write(found, folder)
    results.report()
    if as_json:
        _print(json.dumps({"effects": [entry.to_json() for entry in found], "files": [str(path) for path in written]}))
    else:
        from fabricsim._text import effects_text

        effects_text(found)
        for path in written:
            _print(f"written: {path}")


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
    from fabricsim.results import Results

    results = Results.open(folder)
    try:
        found = evaluate(results, minimise=minimise or [], maximise=maximise or [])
    except ValueError as error:
        raise _InputError(str(error)) from error
    written = write(found, folder)
    results.report()
    if as_json:
        _print(json.dumps({**found.to_json(), "files": [str(path) for path in written]}))
    else:
        from fabricsim._text import pareto_text

        pareto_text(found)
        for path in written:
            _print(f"written: {path}")


@app.command()
def bench(
    case: Annotated[list[str] | None, typer.Option("--case", metavar="NAME", help="Only this case; may be repeated.")] = None,
    repeat: Annotated[int, typer.Option("--repeat", min=1, max=100, help="Runs per case; the fastest counts.")] = 1,
    options: Annotated[str, typer.Option("--options", help="JSON object that the case understands.")] = "{}",
    as_json: JsonOption = False,
) -> None:
    """Measure the speed of the engine on fixed cases, beside measured figures of other simulators."""
    from fabricsim._text import bench_text
    from fabricsim.benchmark import run_case
    from fabricsim.registry import bench_cases

    try:
        if not isinstance(json.loads(options), dict):
            raise _InputError("--options: write a JSON object")
    except json.JSONDecodeError as error:
        raise _InputError(f"--options: not JSON: {error}") from error
    known = [entry["name"] for entry in bench_cases()]
    unknown = [name for name in case or [] if name not in known]
    if unknown:
        raise _InputError(f"no case {', '.join(unknown)}; there are: {', '.join(known)}")
    found = []
    for name in case or known:
        if not as_json:
            _say(f"{name} ...")
        found.append(run_case(name, options, repeat=repeat))
    if as_json:
        from fabricsim._host import host_facts

        _print(json.dumps({"version": __version__, "host": host_facts(), "cases": found}))
    else:
        bench_text(found)


@app.command()
def rerun(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A results directory.")],
    run_id: Annotated[list[str] | None, typer.Option("--run", metavar="ID", help="Only this run; may be repeated.")] = None,
    jobs: JobsOption = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Run finished runs again from their specification and tell whether the same bytes come out."""
    from fabricsim.rerun import rerun_results
    from fabricsim.results import Results

    results = Results.open(folder)
    if not len(results):
        raise ResultsError(f"{folder} has no finished run")
    try:
        records = [results.record(name) for name in run_id] if run_id else list(results.records)
    except KeyError as error:
        raise _InputError(str(error.args[0])) from error
    console = _stderr()
    comparisons = rerun_results(records, jobs=jobs, console=None if quiet else console)
    same = all(entry["same"] for entry in comparisons)
    if as_json:
        _print(json.dumps({"same": same, "version": __version__, "was": results.manifest["version"], "runs": comparisons}))
    else:
        for entry in comparisons:
            verdict = "same digest" if entry["same"] else f"DIFFERS: {entry['why']}"
            _print(f"{entry['id']}  {entry['label']}: {verdict}")
        if not same and results.manifest["version"] != __version__:
            _say(f"the results are of fabricsim {results.manifest['version']}, this is {__version__}")
    raise typer.Exit(OK if same else CHECK)


@app.command()
def new(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="The study file to write.")] = Path("study.toml"),
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
) -> None:
    """Write a commented study to start from."""
    from fabricsim._files import atomic_write
    from fabricsim._starter import starter_study

    if path.exists() and not force:
        raise _InputError(f"{path} exists; choose another name, or --force")
    if not path.parent.is_dir():
        raise _InputError(f"there is no folder {path.parent}")
    atomic_write(path, starter_study(path.stem))
    _print(f"{path} written; next: fabricsim check {shlex.quote(str(path))}, then fabricsim run {shlex.quote(str(path))}")


@app.command("schema")
def schema_command() -> None:
    """Print the JSON schema of study files, for editors."""
    from fabricsim.registry import schema as read_schema

    _print(json.dumps(read_schema(), indent=1))


def _version(wanted: bool) -> None:
    if wanted:
        _print(f"fabricsim {__version__}")
        raise typer.Exit


@app.callback(help="How long will this work take on that network, why, and what would change it?")
def _main(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False,
) -> None:
    """Answer for the options that come before a command."""


def _fail(code: int, message: str, diagnostics: list[dict[str, Any]] | None = None) -> int:
    """Report an error: rendered on stderr, and as the one JSON object on stdout where --json asks for it."""
    _say(message)
    if "--json" in sys.argv[1:]:
        kind = {INPUT: "input", CHECK: "self-check", OURS: "internal", INTERRUPTED: "interrupted"}[code]
        _print(json.dumps({"ok": False, "error": kind, "message": message, "diagnostics": diagnostics or [], "runs": []}))
    return code


def _again() -> str:
    """Return the command that goes on with an interrupted one; some keep what is finished without being told."""
    keeps = "--resume" in sys.argv or sys.argv[1:2] in (["reproduce"], ["knee"])
    return _command() if keeps else f"{_command()} --resume"


def _dispatch() -> int:
    """Run the command line and return the exit code; user input never gives a traceback."""
    try:
        code = app(standalone_mode=False)
        return code if isinstance(code, int) else OK
    except typer.Exit as stop:
        return stop.exit_code
    except _USAGE_ERROR as error:
        error.show(sys.stderr)
        return INPUT
    except StudyError as error:
        from dataclasses import asdict

        found = diagnostics_of(error)
        return _fail(INPUT, "\n".join(str(item) for item in found), [asdict(item) for item in found])
    except (CampaignInterrupted, typer.Abort, KeyboardInterrupt) as error:
        again = _again()
        kept = f"{error}\ngo on with: {again}" if isinstance(error, CampaignInterrupted) and str(error) else ""
        return _fail(INTERRUPTED, f"interrupted; {kept}" if kept else "interrupted")
    except (_InputError, ResultsError, ClaimError, ClusterError, FileNotFoundError, IsADirectoryError) as error:
        return _fail(INPUT, f"error: {error}")
    except DiskError as error:
        again = _again()
        return _fail(OURS, f"error: {error.strerror or error}\nwhen there is room again, go on with: {again}")
    except PermissionError as error:
        return _fail(INPUT, f"error: {error}")
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return OK


def main() -> NoReturn:
    """Entry point of the `fabricsim` command, on every rank where a launcher has started several."""
    global _ranks
    try:
        _ranks = connect()
    except RuntimeError as error:
        raise SystemExit(_fail(INPUT, str(error))) from None
    if _ranks is not None and _ranks.rank > 0:
        serve(_ranks)
        raise SystemExit(OK)
    try:
        code = _dispatch()
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        code = OK
    except Exception:
        traceback.print_exc()
        code = _fail(OURS, "this is a fault of fabricsim, not of your study; please report it with the text above")
        if _ranks is not None:
            _ranks.abort()
    if _ranks is not None:
        _ranks.tell(None)
    raise SystemExit(code)
