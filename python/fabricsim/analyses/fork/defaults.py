"""What forks are called."""

__all__ = ["FOLDER", "KEY"]

#: Where forks go, below the folder of the run.
FOLDER = "forks"
#: The key that forks are told apart by, behind those that their study sweeps.
KEY = "fork"
