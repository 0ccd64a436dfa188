"""What a search for saturation takes unless one says otherwise."""

__all__ = ["LONGEST", "MOST_RUNS", "WITHIN"]

#: How close loads are bracketed, how many runs of a point that takes at most, and how many times as long as the study's they may be.
WITHIN, MOST_RUNS, LONGEST = 0.005, 9, 8.0
