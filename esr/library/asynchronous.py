"""An index for programs of asyncio: each call runs in a thread, and is awaited."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from types import TracebackType
from typing import Any, ParamSpec, TypeVar, Unpack

from esr.corpus.collocations import COLLOCATIONS, MIN_COUNT, WINDOW, By, Collocations, ContrastedCollocations
from esr.corpus.concordance import LINES, WIDTH, Concordance, Unit
from esr.corpus.frequencies import Frequencies, Grouping
from esr.corpus.keyness import KEY_WORDS, KeyWords
from esr.corpus.names_and_quotes import (
    COMPANIONS,
    NAMES,
    QUOTATIONS,
    SENTENCES,
    ListedName,
    NameNetwork,
    NamePage,
    Quotations,
)
from esr.following.novelty import DEFAULT_THRESHOLD
from esr.following.timeline import PEAKS, Interval, Timeline
from esr.index.factory import Where
from esr.index.generations import Generation
from esr.index.writer import DeliveryReport
from esr.library.hits import Hit, Hits
from esr.library.options import AppendOptions, SearchOptions, WriteOptions
from esr.library.public_index import Index
from esr.text.document import Document

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

THREADS = 8
"""The number of calls that run at once by default; others wait."""


class AsyncIndex:
    """An `Index` whose methods are awaited. Made by `esr.open_async`, and opened by `async with` or `await`.

    Each method does the same as that of `Index`, in one of the index's own threads. `Hits` are the same
    too. Call their methods that read more from the index, such as `facets`, by
    `await index.run(hits.facets, ...)`.
    """

    def __init__(self, open: Callable[[], Index], threads: int = THREADS) -> None:
        self._open = open
        self._pool = ThreadPoolExecutor(threads, "esr")
        self._index: Index | None = None

    @property
    def index(self) -> Index:
        """The index itself. Raises RuntimeError before it is opened."""
        if self._index is None:
            raise RuntimeError("the index is not open: use it in `async with`, or await it")
        return self._index

    async def run(
        self, function: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Result:
        """Call a function in one of the index's threads, with the context variables of the caller."""
        call = partial(copy_context().run, partial(function, *args, **kwargs))
        return await asyncio.get_running_loop().run_in_executor(self._pool, call)

    async def search(
        self,
        query: str,
        k: int = 10,
        *,
        fold: bool = False,
        overlap: float = DEFAULT_THRESHOLD,
        **options: Unpack[SearchOptions],
    ) -> Hits:
        """`Index.search`."""
        return await self.run(self.index.search, query, k, fold=fold, overlap=overlap, **options)

    async def newest(self, query: str, k: int = 10, **options: Unpack[SearchOptions]) -> Hits:
        """`Index.newest`."""
        return await self.run(self.index.newest, query, k, **options)

    async def novel(
        self, query: str, k: int = 10, *, overlap: float = DEFAULT_THRESHOLD, **options: Unpack[SearchOptions]
    ) -> Hits:
        """`Index.novel`."""
        return await self.run(self.index.novel, query, k, overlap=overlap, **options)

    async def similar(
        self, hit: Hit | str, k: int = 10, *, own_document: bool = False, **options: Unpack[SearchOptions]
    ) -> Hits:
        """`Index.similar`."""
        return await self.run(self.index.similar, hit, k, own_document=own_document, **options)

    async def batch(
        self, queries: Iterable[str], k: int = 10, **options: Unpack[SearchOptions]
    ) -> list[Hits]:
        """`Index.batch`."""
        return await self.run(self.index.batch, queries, k, **options)

    async def timeline(
        self,
        *queries: str,
        interval: Interval | None = None,
        peaks: int = PEAKS,
        **options: Unpack[SearchOptions],
    ) -> Timeline:
        """`Index.timeline`."""
        return await self.run(self.index.timeline, *queries, interval=interval, peaks=peaks, **options)

    async def concordance(
        self,
        query: str,
        k: int = LINES,
        *,
        sort: str = "newest",
        width: int = WIDTH,
        unit: Unit = "characters",
        sample: int | None = None,
        seed: int = 0,
        **options: Unpack[SearchOptions],
    ) -> Concordance:
        """`Index.concordance`."""
        return await self.run(
            partial(self.index.concordance, query, k, sort=sort, width=width, unit=unit),
            sample=sample,
            seed=seed,
            **options,
        )

    async def collocations(
        self,
        query: str,
        k: int = COLLOCATIONS,
        *,
        window: int | None = WINDOW,
        by: By = "stems",
        stop_words: bool = False,
        measure: str = "logdice",
        min_count: int = MIN_COUNT,
        **options: Unpack[SearchOptions],
    ) -> Collocations:
        """`Index.collocations`."""
        find = partial(self.index.collocations, query, k, window=window, by=by, stop_words=stop_words)
        return await self.run(find, measure=measure, min_count=min_count, **options)

    async def contrast(
        self,
        query: str,
        part: str,
        k: int = COLLOCATIONS,
        *,
        against: str | None = None,
        window: int | None = WINDOW,
        by: By = "stems",
        stop_words: bool = False,
        min_count: int = MIN_COUNT,
        **options: Unpack[SearchOptions],
    ) -> ContrastedCollocations:
        """`Index.contrast`."""
        find = partial(self.index.contrast, query, part, k, against=against, window=window, by=by)
        return await self.run(find, stop_words=stop_words, min_count=min_count, **options)

    async def frequencies(
        self, *queries: str, by: Grouping = "month", **options: Unpack[SearchOptions]
    ) -> Frequencies:
        """`Index.frequencies`."""
        return await self.run(self.index.frequencies, *queries, by=by, **options)

    async def keyness(
        self,
        part: str,
        k: int = KEY_WORDS,
        *,
        against: str | None = None,
        order: str = "log-likelihood",
        min_count: int = MIN_COUNT,
    ) -> KeyWords:
        """`Index.keyness`."""
        return await self.run(self.index.keyness, part, k, against=against, order=order, min_count=min_count)

    async def quotes(
        self,
        speaker: str | None = None,
        k: int = QUOTATIONS,
        *,
        about: str | None = None,
        **options: Unpack[SearchOptions],
    ) -> Quotations:
        """`Index.quotes`."""
        return await self.run(self.index.quotes, speaker, k, about=about, **options)

    async def name(self, name: str, *, companions: int = COMPANIONS, k: int = SENTENCES) -> NamePage:
        """`Index.name`."""
        return await self.run(self.index.name, name, companions=companions, k=k)

    async def names(
        self,
        query: str = "",
        k: int = NAMES,
        *,
        type: str | None = None,
        prefix: str = "",
        **options: Unpack[SearchOptions],
    ) -> list[ListedName]:
        """`Index.names`."""
        return await self.run(self.index.names, query, k, type=type, prefix=prefix, **options)

    async def network(
        self,
        query: str = "",
        k: int = NAMES,
        *,
        type: str | None = None,
        prefix: str = "",
        least: int = 1,
        **options: Unpack[SearchOptions],
    ) -> NameNetwork:
        """`Index.network`."""
        find = partial(self.index.network, query, k, type=type, prefix=prefix)
        return await self.run(find, least=least, **options)

    async def document(self, id: str) -> Document:
        """`Index.document`."""
        return await self.run(self.index.document, id)

    async def stats(self) -> Mapping[str, Any]:
        """`Index.stats`."""
        return await self.run(self.index.stats)

    async def append(
        self, rows: Iterable[object] | Where, **options: Unpack[AppendOptions]
    ) -> DeliveryReport:
        """`Index.append`."""
        return await self.run(self.index.append, rows, **options)

    async def remove(self, ids: Iterable[str], **options: Unpack[WriteOptions]) -> DeliveryReport:
        """`Index.remove`."""
        return await self.run(self.index.remove, ids, **options)

    async def rollback(self, to: str | None = None) -> Generation:
        """`Index.rollback`."""
        return await self.run(self.index.rollback, to)

    async def close(self) -> None:
        """Close the index, after the calls that are running. Later calls raise IndexClosed."""
        if self._index is not None:
            await self.run(self._index.close)
        self._pool.shutdown(wait=False)

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
