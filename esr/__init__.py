"""Search for sentences of news, embedded or in Elasticsearch."""

from __future__ import annotations

TYPE_CHECKING = False  # that of `typing`, which would take longer to import than all of this

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
    from esr.library.asynchronous import AsyncIndex
    from esr.library.hits import Hit, Hits
    from esr.library.index import Index
    from esr.library.opening import create, load, open, open_async, parse_query

__version__ = "0.1.0"
__all__ = [
    "AsyncIndex",
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
    "open_async",
    "parse_query",
]
_MODULES = {
    "esr.errors": "EngineUnreachable EsrError IndexClosed IndexMissing IndexUnusable InputError UsageError",
    "esr.library.asynchronous": "AsyncIndex",
    "esr.library.hits": "Hit Hits",
    "esr.library.index": "Index",
    "esr.library.opening": "create load open open_async parse_query",
}
"""The public names, by the module that has them. A module is imported when one of its names is used."""


if not TYPE_CHECKING:

    def __getattr__(name):
        from importlib import import_module

        for module, names in _MODULES.items():
            if name in names.split():
                value = globals()[name] = getattr(import_module(module), name)
                return value
        raise AttributeError(f"module 'esr' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
