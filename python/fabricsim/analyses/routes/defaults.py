"""What routing a fabric takes unless one says otherwise."""

__all__ = ["LANES", "SAMPLES"]

#: Random matchings of the bisection bandwidth, and virtual lanes.
SAMPLES, LANES = 1000, 8
