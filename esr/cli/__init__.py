"""The command line: thin shells over the library."""

from esr.cli.main import main, run

__all__ = ["main", "run"]
