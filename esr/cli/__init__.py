"""The command line: thin shells over the library."""

from esr.cli.main import main

__all__ = ["main"]
