"""Studies: what to simulate, from a TOML file, a text or a dictionary, and running it. The core validates; nothing here decides."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabricsim._runs import CheckReport, Expansion, Run, short_key
from fabricsim._specification import Specification, find_study, override_pairs, packaged_studies
from fabricsim.errors import DamagedWarning

if TYPE_CHECKING:
    from fabricsim.results import Results

__all__ = ["CheckReport", "Expansion", "Run", "Study", "find_study", "load", "packaged_studies", "short_key"]


class Study(Specification):
    """A study: a network, work on it, and what to sweep.

    Parameters
    ----------
    content : mapping
        The study as nested dictionaries, with the keys of a study file. Work may be an `Ops`, or a frame of operations.
    base_dir : path, optional
        Where relative paths in the study start; the working directory by default.
    sets : mapping, optional
        Overrides by dotted key, as ``--set`` on the command line.
    variant : str, optional
        Name of a ``[variant.NAME]`` of the study, such as ``"quick"``.

    Examples
    --------
    >>> study = Study({"name": "two", "topology": {"kind": "torus", "shape": [4, 4]},
    ...                "sweep": {"run.seed": [1, 2]}})
    >>> study.name
    'two'
    """

    __slots__ = ()

    def run(
        self,
        *,
        out: str | Path | None = None,
        jobs: int | None = None,
        experiments: Sequence[str] | None = None,
        resume: bool = True,
        force: bool = False,
        checkpoint_every: str | None = None,
        dask: str | None = None,
        progress: bool | Callable[[dict[str, Any]], bool | None] = True,
    ) -> Results:
        """Run the study and return its results.

        Parameters
        ----------
        out : path, optional
            Results directory; ``results/<name>-<hash8>`` by default.
        jobs : int, optional
            Parallel processes; the number of cores by default, fewer where memory is short.
        experiments : sequence of str, optional
            Only these experiments.
        resume : bool, optional
            Keep runs that `out` already has and go on from checkpoints (the default); False runs all of them again.
        force : bool, optional
            Replace the results of another study in `out`.
        checkpoint_every : str, optional
            Write a checkpoint of every run in progress this often: ``"10 min"``, ``"2 h"``, ``"30 s"`` are wall time,
            ``"1 ms"``, ``"50 us"``, ``"200 ns"`` simulated time.
        dask : str, optional
            Send the runs to this Dask scheduler (``"tcp://host:8786"`` or its scheduler file) instead of local processes.
        progress : bool or callable, optional
            True shows bars; a callable receives a dict about five times a second (``run``, ``fraction``,
            ``campaign_fraction``, ``events_per_s``, ...) and stops the campaign by returning False.

        Returns
        -------
        Results
            Of the whole campaign; runs with a failed self-check are in ``.failed`` and raise nothing here.

        Raises
        ------
        StudyError, ResultsError, ClusterError, DiskError, RunFailed, CampaignInterrupted
            See each; finished runs are always kept.
        """
        from fabricsim._campaign import Campaign
        from fabricsim._progress import make_observer
        from fabricsim.results import Results

        cluster = None
        if dask is not None:
            from fabricsim._dask import connect

            if jobs is not None or checkpoint_every is not None:
                raise ValueError("jobs and checkpoint_every have no meaning on a Dask cluster")
            cluster = connect(dask)
        try:
            campaign = Campaign.plan(study=self, out=out, experiments=experiments, command="python: Study.run", cluster=cluster)
            outcome = campaign.execute(
                jobs=jobs, resume=resume, force=force, checkpoint_every=checkpoint_every, observer=make_observer(progress)
            )
        finally:
            if cluster is not None:
                cluster.close()
        if progress is not True and outcome.mended:
            # With bars or lines it has been said.
            warnings.warn(f"{campaign.folder}: {'; '.join(outcome.mended[:3])}; run again", DamagedWarning, stacklevel=2)
        outcome.raise_for_faults()
        return Results.open(campaign.folder)


def load(
    path: str | Path,
    *,
    sets: Mapping[str, object] | Iterable[tuple[str, object]] | None = None,
    variant: str | None = None,
) -> Study:
    """Read a study from a file, or a packaged study by name.

    Parameters
    ----------
    path : path or str
        A TOML file, or a name such as ``"torus-ross-codes"``.
    sets : mapping, optional
        Overrides by dotted key.
    variant : str, optional
        Name of a variant of the study.

    Raises
    ------
    FileNotFoundError
        There is no such study.
    """
    found = find_study(path)
    return Study._make(found.read_bytes(), str(found), found.resolve().parent, override_pairs(sets), variant)
