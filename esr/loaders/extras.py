"""Optional libraries of single formats, imported only when such a format is read."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module

from esr.errors import UsageError


def require(dependent: str, modules: Iterable[str]) -> None:
    """Raise UsageError, with the command that installs the library, if one of the modules is missing."""
    for module in modules:
        try:
            import_module(module)
        except ImportError as error:
            # trafilatura fails on a part of lxml that is a separate package since lxml 5.2.
            missing = error.name or module
            raise UsageError(
                f"{dependent} needs {missing}, which is not installed: pip install 'esr[formats]'"
            ) from None
