"""Claims: what a paper says, what comes out here, and whether the two agree.

A study's ``[[claim]]`` has `id`, `paper` (the sentence or figure), `measure` (see `fabricsim.measures`), `expect`,
`tolerance` and `because` (why we may differ). `expect` is a truth, a number, a comparison (``">= 1.2"``) or a range
(``"1.5 .. 2.5"``); `tolerance` is ``"10 %"`` of the expected number, or a number in its unit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from fabricsim.errors import ClaimError, DamagedError
from fabricsim.measures import MeasureError, evaluate, parse

if TYPE_CHECKING:
    from fabricsim._recorded import Recorded

__all__ = ["ClaimError", "ClaimVerdict", "judge", "validate_claim", "validate_claims"]

_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_COMPARISON = re.compile(rf"^(<=|>=|<|>|==)\s*({_NUMBER})$")
_RANGE = re.compile(rf"^({_NUMBER})\s*\.\.\s*({_NUMBER})$")
_PERCENT = re.compile(rf"^({_NUMBER})\s*%$")
_KEYS = frozenset({"id", "paper", "text", "measure", "expect", "tolerance", "because", "unit", "figure", "experiment"})


@dataclass(frozen=True, slots=True)
class ClaimVerdict:
    """A judged claim.

    Attributes
    ----------
    id, paper : str
        As in the study.
    ours : str
        What was measured here, for people.
    value : float, bool, str or None
        The same as a value.
    expect : str
        What was expected.
    verdict : str
        ``agrees``, ``differs`` or ``not measured``.
    because : str
        Why we may differ, or why it could not be measured.
    measure : str
        The expression.
    perturbed : str
        What the perturbed runs say, in words, where there are any: a claim that turns in some of them is not to be trusted.
    """

    id: str
    paper: str
    ours: str
    value: Any
    expect: str
    verdict: str
    because: str
    measure: str
    perturbed: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return asdict(self)


def validate_claim(claim: Mapping[str, Any]) -> None:
    """Refuse a claim that cannot be judged, before anything is run.

    Raises
    ------
    ClaimError
        Says which claim, which key and why.

    Examples
    --------
    >>> validate_claim({"id": "a", "paper": "it grows", "measure": "value('hops.mean')", "expect": ">= 2"})
    >>> validate_claim({"id": "a", "paper": "it grows", "measure": "value('hops.mean')", "expect": "big"})
    Traceback (most recent call last):
    ...
    fabricsim.errors.ClaimError: claim a: expect = 'big': write true, a number, ">= 1.2" or "1.5 .. 2.5"
    """
    name = str(claim.get("id") or "(without id)")
    for key in ("id", "paper", "measure", "expect"):
        if key not in claim:
            raise ClaimError(f"claim {name}: `{key}` is missing")
    unknown = sorted(set(claim) - _KEYS)
    if unknown:
        raise ClaimError(f"claim {name}: unknown key `{unknown[0]}`; there are: {', '.join(sorted(_KEYS))}")
    if not isinstance(claim["measure"], str):
        raise ClaimError(f"claim {name}: measure: write an expression as a text")
    try:
        parse(claim["measure"])
    except MeasureError as error:
        raise ClaimError(f"claim {name}: measure: {error}") from error
    _holds(claim, 1.0)


def validate_claims(claims: Iterable[Mapping[str, Any]]) -> None:
    """Refuse claims of which one cannot be judged, or two have the same id.

    Raises
    ------
    ClaimError
        Says which claim and why.
    """
    names: set[str] = set()
    for claim in claims:
        validate_claim(claim)
        if claim["id"] in names:
            raise ClaimError(f"claim {claim['id']}: there are two of this id")
        names.add(claim["id"])


def _tolerance(claim: Mapping[str, Any], expected: float) -> float:
    given = claim.get("tolerance", 0)
    if isinstance(given, int | float) and not isinstance(given, bool) and given >= 0:
        return float(given)
    match = _PERCENT.match(str(given).strip())
    if match is None or float(match.group(1)) < 0:
        raise ClaimError(f'claim {claim.get("id")}: tolerance = {given!r}: write "10 %" or a number in the unit of the measure')
    return abs(expected) * float(match.group(1)) / 100


def _holds(claim: Mapping[str, Any], found: Any) -> bool:
    expect = claim["expect"]
    if isinstance(expect, bool):
        return bool(found) is expect
    number = float(found) if isinstance(found, int | float) else float("nan")
    if isinstance(expect, int | float):
        return abs(number - expect) <= _tolerance(claim, float(expect))
    text = str(expect).strip()
    if match := _COMPARISON.match(text):
        sign, limit = match.group(1), float(match.group(2))
        slack = _tolerance(claim, limit)
        if sign == "==":
            return abs(number - limit) <= slack
        return (
            number <= limit + slack
            if sign == "<="
            else number >= limit - slack
            if sign == ">="
            else number < limit + slack
            if sign == "<"
            else number > limit - slack
        )
    if match := _RANGE.match(text):
        low, high = float(match.group(1)), float(match.group(2))
        return low - _tolerance(claim, low) <= number <= high + _tolerance(claim, high)
    raise ClaimError(f'claim {claim.get("id")}: expect = {expect!r}: write true, a number, ">= 1.2" or "1.5 .. 2.5"')


def _words(found: Any) -> str:
    if isinstance(found, bool):
        return "yes" if found else "no"
    return f"{found:.4g}" if isinstance(found, int | float) else str(found)


def _not_judged(claim: Mapping[str, Any], error: Exception) -> ClaimVerdict:
    said = {key: str(claim.get(key, "")) for key in ("id", "paper", "expect", "measure")}
    return ClaimVerdict(**said, ours="-", value=None, verdict="not measured", because=str(error))


def _perturbed(claim: Mapping[str, Any], results: Recorded, *, holds: bool) -> str:
    """Say in how many of the perturbed runs a claim turns, and between what its measure lies there."""
    found, turned = [], 0
    for number in range(1, results.perturbations + 1):
        try:
            value = evaluate(str(claim["measure"]), results.perturbation(number))
        except MeasureError:
            continue
        found.append(value)
        turned += _holds(claim, value) != holds
    if not found:
        return ""
    numbers = [value for value in found if isinstance(value, int | float) and not isinstance(value, bool)]
    between = f" ({_words(min(numbers))} to {_words(max(numbers))})" if len(numbers) == len(found) else ""
    runs = f"{len(found)} perturbed run{'s' if len(found) > 1 else ''}"
    return (
        f"turns in {turned} of {runs}{between}"
        if turned
        else f"holds in {runs}{between}"
        if holds
        else f"fails in {runs}{between}"
    )


def judge(claims: list[dict[str, Any]] | tuple[dict[str, Any], ...], results: Recorded) -> list[ClaimVerdict]:
    """Measure every claim on the results, in the order of the study.

    Parameters
    ----------
    claims : sequence of dict
        The study's ``[[claim]]`` tables.
    results : Results
        What to measure on; runs and figures that are missing make claims "not measured", and so does a claim that is not well
        formed: never an error.
    """
    verdicts = []
    for claim in claims:
        try:
            validate_claim(claim)
        except ClaimError as error:
            # Others and the report do not suffer from it.
            verdicts.append(_not_judged(claim, error))
            continue
        expect = claim["expect"]
        unit = f" {claim['unit']}" if claim.get("unit") else ""
        wanted = (_words(expect) if isinstance(expect, bool) else str(expect)) + (
            f" within {claim['tolerance']}" if claim.get("tolerance") else ""
        )
        try:
            found = evaluate(str(claim["measure"]), results)
            if found is None:
                raise MeasureError("these runs cannot give it")
            holds = _holds(claim, found)
            ours, verdict, because = _words(found) + unit, "agrees" if holds else "differs", str(claim.get("because") or "")
        except (MeasureError, DamagedError) as error:
            found, ours, verdict, because = None, "-", "not measured", str(error)
        verdicts.append(
            ClaimVerdict(
                id=str(claim["id"]),
                paper=str(claim["paper"]),
                ours=ours,
                value=found,
                expect=wanted,
                verdict=verdict,
                because=because,
                measure=str(claim["measure"]),
                perturbed="" if verdict == "not measured" else _perturbed(claim, results, holds=verdict == "agrees"),
            )
        )
    return verdicts
