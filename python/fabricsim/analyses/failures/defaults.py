"""What failures are tried unless one says otherwise."""

__all__ = ["DRAWS", "MOST_ALL", "SAMPLE"]

#: So many candidates are all tried one by one; of more a sample of so many.
MOST_ALL, SAMPLE = 32, 24
#: Draws of every number of failures.
DRAWS = 8
