"""An index in eight threads, after a fork, and in a program for the web; what `import esr` costs."""

from __future__ import annotations

import asyncio
import os
import pickle
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import esr
from tests.library.test_index import ROWS, place
from tests.support.index_contents import ENGINES
from tests.support.processes import holds_in_threads, in_thread
from tests.support.runs import unmeasured

QUERIES = ["flood", "rivers rose", "storm OR towns", "millions"]


@pytest.fixture(scope="module", params=ENGINES)
def index(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[esr.Index]:
    with place(request, tmp_path_factory.mktemp("threads")) as where, esr.create(where, ROWS) as created:
        yield created


def answers(index: esr.Index) -> list[list[tuple[str, float]]]:
    return [[(hit.text, hit.score) for hit in index.search(query)] for query in QUERIES]


def test_eight_threads_get_the_answers_of_one(index: esr.Index) -> None:
    expected = dict(zip(QUERIES, answers(index), strict=True))

    def is_same(query: str) -> bool:
        hits = index.search(query)
        return [(hit.text, hit.score) for hit in hits] == expected[query]

    assert holds_in_threads(is_same, QUERIES * 10)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_parent_and_children_go_on_with_an_index_after_a_fork(index: esr.Index) -> None:
    """Threads search meanwhile, so that the fork copies locks that they hold and sockets that they read."""
    expected, found = answers(index), index.search("flood")
    stop = threading.Event()

    def search() -> None:
        while not stop.is_set():
            assert answers(index) == expected

    threads = [threading.Thread(target=search) for _ in range(4)]
    for thread in threads:
        thread.start()
    children = []
    for _ in range(4):
        child = os.fork()
        if not child:
            is_same = False
            try:
                is_same = [answers(index) for _ in range(5)] == [expected] * 5
                is_same &= found.facets("source")["source"] == {"Harbour Courier": 1, "Northern Wire": 1}
            finally:
                os._exit(not is_same)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 4
    stop.set()
    for thread in threads:
        thread.join()
    assert answers(index) == expected


def test_a_program_of_asyncio_awaits_the_same_answers(index: esr.Index) -> None:
    async def search() -> tuple[list[list[tuple[str, float]]], object]:
        async with esr.open_async(index.where) as opened:
            found = await asyncio.gather(*map(opened.search, QUERIES))
            counted = await opened.run(found[0].facets, "source", size=1)
            return [[(hit.text, hit.score) for hit in hits] for hits in found], counted

    found, counted = in_thread(asyncio.run, search())
    assert found == answers(index)
    assert counted == index.search(QUERIES[0]).facets("source", size=1)


@pytest.mark.parametrize(
    ("make", "instead"),
    [
        (lambda index: index, "index.where"),
        (lambda index: index.search("flood"), "hits.as_dicts()"),
        (lambda index: index.search("flood")[0], "hit.as_dict()"),
    ],
)
def test_what_cannot_be_pickled_says_what_to_send_instead(
    index: esr.Index, make: Callable[[esr.Index], object], instead: str
) -> None:
    with pytest.raises(TypeError, match=f"cannot be pickled.*{re.escape(instead)}"):
        pickle.dumps(make(index))


def test_an_index_that_is_not_open_yet_says_so_and_one_that_is_missing(tmp_path: Path) -> None:
    async def search(index: esr.AsyncIndex) -> None:
        with pytest.raises(RuntimeError, match="the index is not open"):
            await index.search("flood")
        with pytest.raises(esr.IndexMissing):
            await index

    in_thread(asyncio.run, search(esr.open_async(tmp_path / "nothing")))


def test_closing_waits_for_the_calls_that_run_and_later_calls_say_that_the_index_is_closed(
    index: esr.Index,
) -> None:
    begun, proceed = threading.Event(), threading.Event()

    def search_late(opened: esr.AsyncIndex) -> int:
        begun.set()
        assert proceed.wait(60)
        return len(opened.index.search("flood"))

    async def close() -> int:
        opened = await esr.open_async(index.where)
        running: asyncio.Task[int] = asyncio.create_task(opened.run(search_late, opened))
        await asyncio.to_thread(begun.wait, 60)
        closing = asyncio.create_task(opened.close())
        await asyncio.wait([closing], timeout=0.2)
        with pytest.raises(esr.IndexClosed):
            await opened.search("flood")
        proceed.set()
        await closing
        await opened.close()
        with pytest.raises(esr.IndexClosed):
            await opened.search("flood")
        return await running

    assert in_thread(asyncio.run, close()) == len(index.search("flood"))


def test_importing_esr_imports_nothing_else() -> None:
    program = "import sys; before = set(sys.modules); import esr; print(*set(sys.modules) - before)"
    command = [sys.executable, "-c", program]
    run = subprocess.run(command, capture_output=True, text=True, check=True, env=unmeasured())
    assert {*run.stdout.split()} == {"esr", "__future__"}


def test_a_search_imports_neither_loaders_nor_the_command_line(tmp_path: Path) -> None:
    esr.create(tmp_path / "news", ROWS).close()
    program = (
        f"import sys, esr; esr.open({str(tmp_path / 'news')!r}).search('flood')[0].text; print(*sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    unneeded = (
        "asyncio click elasticsearch esr.cli esr.enrichment esr.loaders flask numba pandas polars webui"
    )
    assert not {*unneeded.split()} & {*run.stdout.split()}
