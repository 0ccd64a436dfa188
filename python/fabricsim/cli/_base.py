"""What the commands share: the application, common options, reading a study, running a campaign, exit codes."""

from __future__ import annotations

import json
import shlex
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from fabricsim._units import axis_value
from fabricsim.errors import StudyError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fabricsim._campaign import Campaign, Outcome
    from fabricsim._dask import Cluster
    from fabricsim._mpi import Ranks
    from fabricsim.results import Results
    from fabricsim.study import Study

OK, OURS, INPUT, CHECK, INTERRUPTED, TERMINATED = 0, 1, 2, 3, 130, 143

app = typer.Typer(
    name="fabricsim",
    help="How long will this work take on that network, why, and what would change it?",
    no_args_is_help=True,
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
DaskOption = Annotated[
    str | None,
    typer.Option(
        "--dask", metavar="ADDRESS", help="Send the runs to this Dask scheduler, tcp://host:8786 or its scheduler file."
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print exactly one JSON object on stdout.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]
#: Help of options that name a metric.
METRIC_HELP = "A number of a run \\[default: time of the first job, else mean latency]."
FreshOption = Annotated[bool, typer.Option("--fresh", help="Run again what is finished already.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace what another study left in the results directory.")]


def example(words: str) -> str:
    """Return the line below the help of a command that shows it at work."""
    return f"Example: fabricsim {words}".replace("[", "\\[")


class Process:
    """What this process is."""

    #: The other processes, where a launcher such as mpirun has started several.
    ranks: Ranks | None = None


process = Process()


class InputError(Exception):
    """Something the user can mend; the message says what."""


def stderr() -> Console:
    return Console(stderr=True)


def say(text: str) -> None:
    stderr().print(text, markup=False, highlight=False, soft_wrap=True)


def put(text: str) -> None:
    sys.stdout.write(text + "\n")


def answer(found: dict[str, Any], show: Callable[[], None], written: Sequence[Path], *, as_json: bool) -> None:
    """Print what was found and the files it was written to: one JSON object, or text by `show`."""
    if as_json:
        put(json.dumps({**found, "files": [str(path) for path in written]}))
        return
    show()
    for path in written:
        put(f"written: {path}")


def parse_sets(sets: list[str] | None, *, option: str = "--set") -> list[tuple[str, object]]:
    pairs: list[tuple[str, object]] = []
    for text in sets or []:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise InputError(f"{option} {text}: write KEY=VALUE, for example {option} link.bandwidth='50 GB/s'")
        pairs.append((key.strip(), value.strip()))
    return pairs


def load_study(study: str, sets: list[str] | None, variant: str | None, extra: list[tuple[str, object]] | None = None) -> Study:
    from fabricsim.study import load

    return load(study, sets=[*parse_sets(sets), *(extra or [])], variant=variant)


def control_sets(engine: str | None, workers: int | None) -> list[tuple[str, object]]:
    pairs: list[tuple[str, object]] = []
    if engine is not None:
        pairs.append(("run.engine", engine))
    if workers is not None:
        pairs.append(("run.workers", workers))
    return pairs


def command_line() -> str:
    return shlex.join(["fabricsim", *sys.argv[1:]])


def run_campaign(
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
    from fabricsim._campaign import Campaign, check_interval

    if checkpoint_every is not None:
        try:
            check_interval(checkpoint_every, ())
        except ValueError as error:
            raise InputError(f"--checkpoint-every: {error}") from error
    cluster = open_cluster(dask, jobs=jobs, checkpoint_every=checkpoint_every) if dask is not None else None
    try:
        try:
            campaign = Campaign.plan(
                study=study,
                out=out,
                experiments=experiments,
                limit=limit,
                command=command_line(),
                ranks=process.ranks,
                cluster=cluster,
            )
        except ValueError as error:
            if isinstance(error, StudyError):
                raise
            raise InputError(str(error)) from error
        if checkpoint_every is not None:
            try:
                check_interval(checkpoint_every, campaign.selected)
            except ValueError as error:
                raise InputError(f"--checkpoint-every: {error}") from error
        for warning in study.check(experiments=experiments).diagnostics:
            if warning.severity != "error":
                say(str(warning))
        outcome = execute_campaign(
            campaign,
            jobs=jobs,
            workers=workers,
            resume=resume,
            force=force,
            quiet=quiet,
            checkpoint_every=checkpoint_every,
            memory_bytes=memory_bytes,
        )
    finally:
        if cluster is not None:
            cluster.close()
    from fabricsim.results import Results

    return outcome, Results.open(campaign.folder)


def _load_libraries() -> None:
    """Load what results are assembled and told with, which takes as long as a small run, while the first run goes on."""
    import_module("pyarrow.parquet")
    import_module("fabricsim.report")


def execute_campaign(
    campaign: Campaign,
    *,
    jobs: int | None,
    workers: int | None,
    resume: bool,
    force: bool,
    quiet: bool,
    checkpoint_every: str | None = None,
    memory_bytes: int | None = None,
) -> Outcome:
    """Execute a campaign with progress on stderr and orderly Ctrl-C."""
    from fabricsim._progress import Bars, Lines, Quiet, interruptible

    console = stderr()
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
            meanwhile=_load_libraries,
        )
    if quiet:
        for text in outcome.mended:
            say(f"warning: {text}")
    return outcome


def open_cluster(address: str, *, jobs: int | None, checkpoint_every: str | None = None) -> Cluster:
    """Connect to a Dask cluster, refusing what has no meaning there."""
    import logging

    from fabricsim._dask import connect as connect_cluster

    if process.ranks is not None:
        raise InputError("--dask and mpirun: ranks share each run here, a cluster takes whole runs; use one of them")
    if jobs is not None:
        raise InputError("--jobs has no meaning with --dask: a cluster takes as many runs as its workers have threads")
    if checkpoint_every is not None:
        raise InputError("--checkpoint-every has no meaning with --dask: workers share no folder for checkpoints")
    # What Dask's loop cannot send to a scheduler that is gone is told in words.
    for name in ("asyncio", "tornado"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return connect_cluster(address)


def memory_size(text: str | None) -> int | None:
    """Return the bytes of --memory."""
    if text is None:
        return None
    found = axis_value(text)
    if found is None or found[1] != "B" or found[0] < 1 or not text.strip().endswith("B"):
        raise InputError(f"--memory {text}: write a size, such as 16GiB")
    return int(found[0])


def outcome_code(outcome: Outcome) -> int:
    """Say what went wrong in a campaign and return the exit code."""
    for text in outcome.user_errors:
        say(f"error: {text}")
    for text in outcome.refused:
        say(f"error: a run cannot go on: {text}")
    for text in outcome.faults:
        say(f"error: a run gave no result: {text}")
    for text in outcome.failed_checks:
        say(f"error: a self-check failed, the numbers of this run must not be used: {text}")
    if outcome.faults:
        return OURS
    if outcome.failed_checks:
        return CHECK
    return INPUT if outcome.user_errors or outcome.refused else OK


def failed_code(results: Results, code: int) -> int:
    return CHECK if code == OK and results.failed else code
