"""The `tumble` command as `python -m tumble`."""

from .training.cli import main

if __name__ == "__main__":
    main()
