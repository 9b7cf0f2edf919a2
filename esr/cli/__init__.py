"""The command line: thin wrappers around the library."""

from esr.cli.main import main, run

__all__ = ["main", "run"]
