"""Search for sentences of news, embedded or in Elasticsearch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from esr.errors import (
        EngineUnreachable,
        EsrError,
        IndexClosed,
        IndexMissing,
        IndexUnusable,
        InputError,
        UsageError,
    )
    from esr.library.hits import Hit, Hits
    from esr.library.index import Index
    from esr.library.opening import create, load, open, parse_query

__version__ = "0.1.0"
__all__ = [
    "EngineUnreachable",
    "EsrError",
    "Hit",
    "Hits",
    "Index",
    "IndexClosed",
    "IndexMissing",
    "IndexUnusable",
    "InputError",
    "UsageError",
    "__version__",
    "create",
    "load",
    "open",
    "parse_query",
]
_MODULES = {
    "esr.errors": "EngineUnreachable EsrError IndexClosed IndexMissing IndexUnusable InputError UsageError",
    "esr.library.hits": "Hit Hits",
    "esr.library.index": "Index",
    "esr.library.opening": "create load open parse_query",
}
"""The public names, by the module that has them. A module is imported when one of its names is used."""


def __getattr__(name: str) -> Any:
    from importlib import import_module

    for module, names in _MODULES.items():
        if name in names.split():
            value = globals()[name] = getattr(import_module(module), name)
            return value
    raise AttributeError(f"module 'esr' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
