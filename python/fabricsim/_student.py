"""Quantiles of Student's t, in the closed form for whole degrees of freedom (Abramowitz and Stegun 1964, 26.7.3 and 26.7.4)."""

from __future__ import annotations

import math

__all__ = ["t_quantile"]


def _within(t: float, degrees: int) -> float:
    """Return the probability that Student's t lies between -t and t."""
    angle = math.atan(t / math.sqrt(degrees))
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = degrees % 2
    term, total = (cosine, 0.0) if odd else (1.0, 0.0)
    for k in range(degrees // 2):
        total += term
        term *= cosine**2 * (2 * k + 2) / (2 * k + 3) if odd else cosine**2 * (2 * k + 1) / (2 * k + 2)
    return 2 / math.pi * (angle + sine * total) if odd else sine * total


def t_quantile(level: float, degrees: int) -> float:
    """Return t such that Student's t lies between -t and t with probability `level`.

    Examples
    --------
    >>> round(t_quantile(0.95, 4), 3)
    2.776
    """
    low, high = 0.0, 1.0
    while _within(high, degrees) < level:
        low, high = high, 2 * high
    for _ in range(200):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if _within(middle, degrees) < level else (low, middle)
    return high
