"""`python -m fabricsim` is the `fabricsim` command."""

from fabricsim.cli import main

if __name__ == "__main__":
    main()
