"""Results of a campaign: what it has recorded, with its figures and its report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fabricsim._recorded import Recorded, RunRecord

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Results", "RunRecord"]


class Results(Recorded):
    """The results of a campaign.

    Obtained from `Study.run` or `Results.open`. Reading is lazy: opening reads the manifest and the summaries, tables
    are mapped into memory when they are asked for.

    Parameters
    ----------
    folder : Path
        The results directory.
    manifest : dict
        Its manifest.
    records : list of RunRecord
        The finished runs in the order of the study, without perturbed ones.
    damaged : list of Finding, optional
        Files of runs that were left out, since they are not what was written.
    perturbed : list of RunRecord, optional
        The finished perturbed runs (``run.perturb``); what they say of the others stands in those' summaries, as ``perturbed``.
    """

    def plot_cdf(self, *, runs: list[str | int] | None = None) -> Figure:
        """Draw the latency distributions; see `fabricsim.plots.cdf`."""
        from fabricsim import plots

        return plots.cdf(self, runs=runs)

    def plot_sweep(self, *, x: str | None = None, y: str = "latency_ns.mean", experiment: str | None = None) -> Figure:
        """Draw a number against a swept key; see `fabricsim.plots.sweep`."""
        from fabricsim import plots

        return plots.sweep(self, x=x, y=y, experiment=experiment)

    def plot_links(self, run: str | int = 0) -> Figure:
        """Draw the links' load on the network; see `fabricsim.plots.links`."""
        from fabricsim import plots

        return plots.links(self, run=run)

    def plot_hops(self, run: str | int = 0) -> Figure:
        """Draw the hop histogram; see `fabricsim.plots.hops`."""
        from fabricsim import plots

        return plots.hops(self, run=run)

    def report(self, path: str | Path | None = None) -> Path:
        """Write the interactive report and return its path (`report.html` in the directory by default)."""
        from fabricsim.report import write_report

        return write_report(self, path)
