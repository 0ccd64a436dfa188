"""What fabricsim knows of an analysis without loading it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["Analysis"]


@dataclass(frozen=True, slots=True)
class Analysis:
    """An analysis: a question to a study or to results, in a folder of its own.

    Attributes
    ----------
    name : str
        Of its folder below ``fabricsim/analyses``, and of its command.
    guide : str
        The page that says how it is used.
    command : bool
        Whether ``command.py`` registers a command.
    keeps : bool
        Whether the command, given again, goes on with what is finished without being told.
    files : str
        Names that it gives at the top of a results directory, as a regular expression.
    figures : str
        Names that it gives in ``figures/``, without their endings, as a regular expression.
    pictures : mapping of str to str
        Of its figures those that the report shows, by the beginning of their names, with their titles.
    product : str
        Of its files the one that its section is drawn from: what is in it is ``data.products.NAME``.
    section : bool
        Whether ``section.js`` draws a section of the report: it exports ``NAMESection``.
    """

    name: str
    guide: str
    command: bool = True
    keeps: bool = False
    files: str = ""
    figures: str = ""
    pictures: Mapping[str, str] = field(default_factory=dict)
    product: str = ""
    section: bool = False
