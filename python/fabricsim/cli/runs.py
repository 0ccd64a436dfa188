"""Commands that run studies or read what was run: run, report, reproduce, export, verify, rerun."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fabricsim import __version__
from fabricsim.analyses.perturb.options import PerturbOption, SpreadOption, perturb_sets
from fabricsim.cli._base import (
    CHECK,
    INPUT,
    OK,
    DaskOption,
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
    control_sets,
    example,
    failed_code,
    load_study,
    memory_size,
    outcome_code,
    process,
    put,
    run_campaign,
    say,
    stderr,
)
from fabricsim.cli.studies import list_command
from fabricsim.errors import ClaimError, ResultsError

if TYPE_CHECKING:
    from fabricsim.results import Results


@app.command(epilog=example("run my.toml --set routing.kind=ugal --out results/ugal"))
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
    perturb: PerturbOption = None,
    perturb_spread: SpreadOption = None,
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
    dask: DaskOption = None,
    memory: Annotated[
        str | None,
        typer.Option("--memory", metavar="SIZE", help="Memory that runs may take together, 16GiB \\[default: what is free]."),
    ] = None,
    force: ForceOption = False,
    limit_runs: Annotated[int | None, typer.Option("--limit-runs", min=1, metavar="N", help="Only the first N runs.")] = None,
    report: Annotated[bool, typer.Option("--report/--no-report", help="Write report.html.")] = True,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Run a study: every point of its sweep, in parallel, into a results directory."""
    if memory is not None and (dask is not None or process.ranks is not None):
        raise InputError("--memory is for runs side by side on this machine: it has no meaning with --dask or mpirun")
    loaded = load_study(study, sets, variant, [*control_sets(engine, workers), *perturb_sets(perturb, perturb_spread)])
    claims = loaded.claims()
    if claims:
        from fabricsim.claims import validate_claims

        try:
            validate_claims(claims)
        except ClaimError as error:
            say(f"warning: {error}; it is not judged")
    outcome, results = run_campaign(
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
        memory_bytes=memory_size(memory),
    )
    code = failed_code(results, outcome_code(outcome))
    verdicts = []
    if claims and code == OK:
        from fabricsim.reproduce import judge_results

        # Of a part of a study the claims about that part.
        verdicts = [verdict for verdict in judge_results(results) if verdict.verdict != "not measured"]
    if report:
        _draw_effects(results)
    written = results.report() if report and len(results) else None
    if as_json:
        found = results.to_json()
        found["ok"] = code == OK
        found["report"] = str(written) if written else None
        found["claims"] = [verdict.to_dict() for verdict in verdicts]
        put(json.dumps(found))
    else:
        from fabricsim._text import claims_text, runs_text
        from fabricsim.report.answers import answers

        for answer in answers(results):
            put(answer.sentence)
        runs_text(results)
        claims_text(verdicts)
        if written:
            put(f"report: {written}")
    raise typer.Exit(code)


def _draw_effects(results: Results) -> None:
    """Draw the effects of a sample for the report, where the results and what is installed allow it."""
    if not results.complete or not (results.manifest["study"].get("sample") or {}).get("keys"):
        return
    from fabricsim.analyses.effects.files import write
    from fabricsim.analyses.effects.shares import effects as evaluate

    try:
        write(evaluate(results), results.folder)
    except (ModuleNotFoundError, ValueError) as error:
        say(f"the report has no effects of the sample: {error}")


@app.command(epilog=example("report results/ugal"))
def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A results directory.")],
    figures: Annotated[bool, typer.Option("--figures/--no-figures", help="Also write PNG and SVG figures for papers.")] = True,
) -> None:
    """Write the interactive report and the figures of a results directory anew."""
    from fabricsim._folder import assemble
    from fabricsim.reproduce import judge_results, undrawn_figures, write_figures
    from fabricsim.results import Results

    assemble(folder)
    results = Results.open(folder, tables=True)
    if not len(results):
        raise ResultsError(f"{folder} has no finished run yet; `fabricsim run --resume` goes on with it")
    judge_results(results)
    drawn = write_figures(results) if figures else []
    if figures:
        _draw_effects(results)
    put(f"report: {results.report()}")
    for path in drawn:
        put(f"figure: {path}")
    for key, why in undrawn_figures(results).items():
        say(f"figure {key} is not drawn: {why}")
    if results.damaged:
        say(f"{len(results.damaged)} damaged files were left out (fabricsim verify names them, --resume runs their runs again)")
        raise typer.Exit(CHECK)


@app.command(epilog=example("reproduce torus-ross-codes --variant quick"))
def reproduce(
    name: Annotated[str, typer.Argument(metavar="NAME|list", help="A published study, or `list`.")],
    sets: SetOption = None,
    variant: VariantOption = None,
    out: OutOption = None,
    jobs: JobsOption = None,
    perturb: PerturbOption = None,
    perturb_spread: SpreadOption = None,
    force: ForceOption = False,
    fresh: FreshOption = False,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Run a published study and compare what the paper says with what comes out here."""
    if name == "list":
        list_command(kind="studies", name=None, as_json=as_json)
        return
    from fabricsim._text import claims_text, runs_text
    from fabricsim.reproduce import check_claims, judge_results, undrawn_figures, write_figures

    loaded = load_study(name, sets, variant, perturb_sets(perturb, perturb_spread))
    plan = loaded.expand()
    check_claims(plan)
    outcome, results = run_campaign(
        loaded, out=out, experiments=None, jobs=jobs, workers=None, resume=not fresh, force=force, limit=None, quiet=quiet
    )
    code = failed_code(results, outcome_code(outcome))
    verdicts = judge_results(results) if code == OK else []
    figures = write_figures(results) if code == OK else []
    written = results.report()
    undrawn = undrawn_figures(results)
    if as_json:
        put(
            json.dumps(
                {
                    **results.to_json(),
                    "ok": code == OK,
                    "claims": [verdict.to_dict() for verdict in verdicts],
                    "report": str(written),
                    "figures": [str(path) for path in figures],
                    "undrawn": undrawn,
                }
            )
        )
    else:
        if outcome.reused and not outcome.executed:
            say(f"all {outcome.reused} runs were finished already in {results.folder} (--fresh runs them again)")
        if not verdicts:
            runs_text(results)
        claims_text(verdicts)
        put(f"report: {written}")
        if figures:
            put(f"figures: {results.folder / 'figures'} ({len(figures)} files)")
        for key, why in undrawn.items():
            say(f"figure {key} is not drawn: {why}")
    raise typer.Exit(code)


@app.command(epilog=example("export results/ugal --pdf --width 85"))
def export(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A results directory.")],
    out: Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Where to \\[default: DIR-export].")] = None,
    csv: Annotated[bool, typer.Option("--csv", help="Tables: runs, jobs, and all that was recorded.")] = False,
    pdf: Annotated[bool, typer.Option("--pdf", help="The study's figures as PDF.")] = False,
    svg: Annotated[bool, typer.Option("--svg", help="The study's figures as SVG.")] = False,
    png: Annotated[bool, typer.Option("--png", help="The study's figures as PNG.")] = False,
    width: Annotated[
        float | None, typer.Option("--width", min=20, max=1000, metavar="MM", help="Width of figures, such as that of a column.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Write results for other programs and for papers: tables as CSV, figures as PDF, SVG or PNG; CSV and PDF unless asked."""
    from fabricsim._export import export as write
    from fabricsim.results import Results

    results = Results.open(folder)
    if not len(results):
        raise ResultsError(f"{folder} has no finished run yet; `fabricsim run --resume` goes on with it")
    kinds = [kind for kind, wanted in (("pdf", pdf), ("svg", svg), ("png", png)) if wanted]
    if not (csv or kinds):
        csv, kinds = True, ["pdf"]
    target = out or folder.resolve().parent / f"{folder.resolve().name}-export"
    written, undrawn = write(results, target, csv=csv, figures=kinds, width_mm=width)
    if as_json:
        put(json.dumps({"files": [str(path) for path in written], "undrawn": undrawn}))
        return
    for path in written:
        put(f"written: {path}")
    for key, why in undrawn.items():
        say(f"figure {key} is not drawn: {why}")


@app.command(epilog=example("verify results/ugal"))
def verify(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A results directory.")],
    as_json: JsonOption = False,
) -> None:
    """Tell whether every file of a results directory is what was written: which are damaged, missing or foreign, and why."""
    from fabricsim._verify import verify as look

    found = look(folder)
    if as_json:
        put(json.dumps(found.to_json()))
    else:
        for finding in found.findings:
            put(str(finding))
        for note in found.notes:
            put(f"note: {note}")
        words = {"damaged": f"damaged: {len(found.findings)} findings", "not sealed": "not sealed: made before results had seals"}
        put(
            f"{folder}: {words.get(found.state, found.state)}; {found.finished} of {found.runs} runs, {found.checked} files compared"
        )
        put(f"made by fabricsim {found.build}")
    raise typer.Exit({"whole": OK, "damaged": CHECK}.get(found.state, INPUT))


@app.command(epilog=example("rerun results/ugal"))
def rerun(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A results directory.")],
    run_id: Annotated[list[str] | None, typer.Option("--run", metavar="ID", help="Only this run; may be repeated.")] = None,
    jobs: JobsOption = None,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Run finished runs again from their specification and tell whether the same bytes come out."""
    from fabricsim.rerun import rerun_results
    from fabricsim.results import Results

    results = Results.open(folder)
    if not len(results):
        raise ResultsError(f"{folder} has no finished run")
    try:
        records = [results.record(name) for name in run_id] if run_id else [*results.records, *results.perturbed]
    except KeyError as error:
        raise InputError(str(error.args[0])) from error
    console = stderr()
    comparisons = rerun_results(records, jobs=jobs, console=None if quiet else console)
    same = all(entry["same"] for entry in comparisons)
    if as_json:
        put(json.dumps({"same": same, "version": __version__, "was": results.manifest["version"], "runs": comparisons}))
    else:
        for entry in comparisons:
            verdict = "same digest" if entry["same"] else f"DIFFERS: {entry['why']}"
            put(f"{entry['id']}  {entry['label']}: {verdict}")
        if not same and results.manifest["version"] != __version__:
            say(f"the results are of fabricsim {results.manifest['version']}, this is {__version__}")
    raise typer.Exit(OK if same else CHECK)
