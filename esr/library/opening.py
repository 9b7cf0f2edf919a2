"""The functions of the Python API: they open or create indexes, also for programs that use asyncio."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial, wraps
from os import fspath
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, Unpack

from esr.errors import IndexClosed, UsageError
from esr.index.factory import Where
from esr.library.checks import check_options, checked
from esr.library.options import LoadOptions, LoginOptions
from esr.library.public_index import Index, load_index, read_login
from esr.query import ParsedQuery, parse
from esr.stdlib import import_lazily

if TYPE_CHECKING:
    import asyncio

    from esr.library import loading
else:
    asyncio = import_lazily("asyncio")
    loading = import_lazily("esr.library.loading")


def open(where: Where, **login: Unpack[LoginOptions]) -> Index:
    """Open an index: a folder, or `http(s)://host:port/alias` of Elasticsearch.

    Raises UsageError, IndexMissing, IndexUnusable or EngineUnreachable.
    """
    check_options(login, LoginOptions)
    return Index(where, read_login(login))


def open_async(where: Where, **login: Unpack[LoginOptions]) -> AsyncIndex:
    """Return an index for programs that use asyncio, with the arguments of `open`.

    `async with` or `await` opens it, and raises the errors of `open`.
    """
    return AsyncIndex(partial(open, where, **login))


def create(where: Where, rows: Iterable[object], **options: Unpack[LoadOptions]) -> Index:
    """Make an index of rows, and open it. All rows are loaded, or none after an error.

    A row is a mapping, or an object with fields (a dataclass, a named tuple, a struct of msgspec, a model of
    pydantic, an `esr` document); `rows` is an iterable of them, such as a list or a generator, or a table of
    pandas, polars or pyarrow. A row has `text`, or `sentences`; `id`, `title`, `date`, `source`, `url`,
    `language`, `authors`, `section` and `keywords` are optional, and other keys are kept as metadata. Known
    other names, such as `body` for the text, are understood; `index.report.notes` says which were. `options`
    are those of `LoadOptions`.

    Raises UsageError if there is an index already (see `if_exists`), and InputError with the number of a row
    that is wrong.
    """
    return load_index(where, rows, options)


@checked
def load(where: Where, *paths: Where, **options: Unpack[LoadOptions]) -> Index:
    """Make an index of files, folders and archives, in any format that `esr load` reads, and open it.

    `options` are those of `LoadOptions`. Raises UsageError if there is an index already (see `if_exists`),
    and InputError with the place of what is wrong.
    """
    return load_index(where, loading.Files(fspath(path) for path in paths), options)


def parse_query(text: str) -> ParsedQuery:
    """Parse the words, phrases and fields of a query in the query language."""
    if not isinstance(text, str):
        raise UsageError(f"a query is a text, not {text!r}")
    return parse(text)


# An index whose methods are awaited: each call runs in a thread


Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

THREADS = 8
"""The default number of concurrent calls; others wait."""


def _awaited(
    method: Callable[Concatenate[Index, Arguments], Result],
) -> Callable[[object], Callable[Concatenate[AsyncIndex, Arguments], Coroutine[Any, Any, Result]]]:
    """Replace a function by a method of `AsyncIndex` that calls this method of `Index` in a thread.

    As a decorator, since only what a decorator returns has a type that all checkers of types infer alike.
    """

    @wraps(method)
    async def call(self: AsyncIndex, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        return await self.run(partial(method, self.index), *args, **kwargs)

    call.__doc__ = f"`Index.{method.__name__}`."
    return lambda _: call


class AsyncIndex:
    """An `Index` whose methods are awaited. Made by `esr.open_async`, and opened by `async with` or `await`.

    Each method does the same as that of `Index`, in one of the index's threads. `Hits` are those of `Index`:
    call their methods that read from the index, such as `facets`, by `await index.run(hits.facets, ...)`.
    """

    def __init__(self, open: Callable[[], Index], threads: int = THREADS) -> None:
        self._open = open
        self._pool = ThreadPoolExecutor(threads, "esr")
        self._index: Index | None = None
        self._is_closed = False

    @property
    def index(self) -> Index:
        """The index itself. Raises RuntimeError before it is opened."""
        if self._index is None:
            raise RuntimeError("the index is not open: use it in `async with`, or await it")
        return self._index

    def __repr__(self) -> str:
        return f"<AsyncIndex {self._index.where}>" if self._index else "<AsyncIndex, not open>"

    async def run(
        self, function: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Result:
        """Call a function in one of the index's threads, with the context variables of the caller."""
        if self._index is not None and self._is_closed:
            raise IndexClosed(self._index.where)
        call = partial(copy_context().run, partial(function, *args, **kwargs))
        return await asyncio.get_running_loop().run_in_executor(self._pool, call)

    @_awaited(Index.search)
    def search(self) -> None: ...

    @_awaited(Index.newest)
    def newest(self) -> None: ...

    @_awaited(Index.novel)
    def novel(self) -> None: ...

    @_awaited(Index.similar)
    def similar(self) -> None: ...

    @_awaited(Index.batch)
    def batch(self) -> None: ...

    @_awaited(Index.timeline)
    def timeline(self) -> None: ...

    @_awaited(Index.concordance)
    def concordance(self) -> None: ...

    @_awaited(Index.collocations)
    def collocations(self) -> None: ...

    @_awaited(Index.contrast)
    def contrast(self) -> None: ...

    @_awaited(Index.frequencies)
    def frequencies(self) -> None: ...

    @_awaited(Index.keyness)
    def keyness(self) -> None: ...

    @_awaited(Index.quotes)
    def quotes(self) -> None: ...

    @_awaited(Index.check)
    def check(self) -> None: ...

    @_awaited(Index.check_draft)
    def check_draft(self) -> None: ...

    @_awaited(Index.evidence)
    def evidence(self) -> None: ...

    @_awaited(Index.reuse)
    def reuse(self) -> None: ...

    @_awaited(Index.name)
    def name(self) -> None: ...

    @_awaited(Index.statements)
    def statements(self) -> None: ...

    @_awaited(Index.names)
    def names(self) -> None: ...

    @_awaited(Index.network)
    def network(self) -> None: ...

    @_awaited(Index.document)
    def document(self) -> None: ...

    @_awaited(Index.collection)
    def collection(self) -> None: ...

    @_awaited(Index.stats)
    def stats(self) -> None: ...

    @_awaited(Index.append)
    def append(self) -> None: ...

    @_awaited(Index.remove)
    def remove(self) -> None: ...

    @_awaited(Index.rollback)
    def rollback(self) -> None: ...

    async def close(self) -> None:
        """Close the index after all running calls. Later calls raise IndexClosed."""
        self._is_closed = True
        await asyncio.to_thread(self._pool.shutdown)
        if self._index is not None:
            await asyncio.to_thread(self._index.close)

    async def __aenter__(self) -> AsyncIndex:
        if self._index is None:
            self._index = await self.run(self._open)
        return self

    def __await__(self) -> Any:
        return self.__aenter__().__await__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
