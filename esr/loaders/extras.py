"""Libraries that only some formats need: imported when such a format is read."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module

from esr.errors import UsageError


def require(what: str, modules: Iterable[str]) -> None:
    """Raises UsageError with the line that installs what is missing."""
    for module in modules:
        try:
            import_module(module)
        except ImportError as error:
            # trafilatura fails on a part of lxml that is a package of its own since lxml 5.2
            raise UsageError(
                f"{what} needs {error.name or module}, which is not installed: pip install 'esr[formats]'"
            ) from None
