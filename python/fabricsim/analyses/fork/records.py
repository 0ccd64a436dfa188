"""What became of the forks of a run, in words and numbers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from fabricsim._figures import figure_of
from fabricsim._units import amount, counted

__all__ = ["Fork", "Forks"]


@dataclass(frozen=True, slots=True)
class Fork:
    """A fork of a run.

    Attributes
    ----------
    name : str
        What is other in it.
    run : str
        Its id in the folder of forks; empty where it cannot be run.
    state : str
        ``ok``, ``saturated`` or ``unsettled``; ``refused`` where it cannot be run, ``failed`` where it gave no result to use.
    why : str
        Why there is no ratio.
    value : float or None
        The metric.
    ratio : float or None
        Over that of the run.
    lost : int
        Packets that were lost, each time that one was.
    sent_again : int
        Lost packets that their sources have sent again.
    busiest_link : str
        The link that was busy for the largest part of the time.
    busy : float or None
        That part.
    """

    name: str
    run: str
    state: str
    why: str = ""
    value: float | None = None
    ratio: float | None = None
    lost: int = 0
    sent_again: int = 0
    busiest_link: str = ""
    busy: float | None = None


@dataclass(frozen=True, slots=True)
class Forks:
    """A run and its forks.

    Attributes
    ----------
    name : str
        The run, for people.
    run : str
        Its id.
    metric : str
        The number that is compared.
    value : float or None
        That of the run.
    state, why : str
        Of the run.
    forks : tuple of Fork
        That were asked for, in that order.
    earlier : tuple of Fork
        Other forks of the run that the folder has.
    """

    name: str
    run: str
    metric: str
    value: float | None
    state: str
    why: str
    forks: tuple[Fork, ...]
    earlier: tuple[Fork, ...] = ()

    def sentence_of(self, fork: Fork) -> str:
        """Return what became of a fork in a sentence."""
        if fork.value is None:
            return f"With {fork.name}: {fork.why or 'no ' + self.metric}."
        figure = figure_of(self.metric)
        unit, word = (figure.unit, figure.word) if figure else ("", self.metric)
        said = f"{word} {amount(fork.value, unit)}"
        if fork.ratio is not None and self.value is not None:
            said += f", {fork.ratio:.3f} times the {amount(self.value, unit)} of the run as it is"
        if fork.lost:
            said += f"; {counted(fork.lost, 'packet')} lost"
            said += f", {fork.sent_again:,} of them sent again" if fork.sent_again else ""
        return f"With {fork.name}: {said}."

    @property
    def sentence(self) -> str:
        """The answer: what became of all forks, the dearest first."""
        ranked = sorted((*self.forks, *self.earlier), key=lambda fork: (fork.ratio is not None, -(fork.ratio or 0.0)))
        return " ".join(self.sentence_of(fork) for fork in ranked)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON, with its sentence."""
        told = {
            name: [{**asdict(fork), "sentence": self.sentence_of(fork)} for fork in getattr(self, name)]
            for name in ("forks", "earlier")
        }
        return {"sentence": self.sentence, **asdict(self), **told}
