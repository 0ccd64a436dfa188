"""What a search for a knee takes unless one says otherwise."""

__all__ = ["GAIN", "LEVEL", "PRECISION"]

#: What pays, how close values are bisected, and the level of intervals.
GAIN, PRECISION, LEVEL = 0.05, 0.1, 0.95
