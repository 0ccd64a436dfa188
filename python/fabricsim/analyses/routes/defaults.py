"""What routing a fabric takes unless one says otherwise."""

__all__ = ["LANES", "SAMPLES", "TORUS"]

#: Random matchings of the bisection bandwidth, and virtual lanes.
SAMPLES, LANES = 1000, 8
#: The engine that is told of a torus.
TORUS = "torus-2qos"
