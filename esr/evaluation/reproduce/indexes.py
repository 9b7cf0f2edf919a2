"""The index that a year's statistics come from: one for the year, or one for each topic."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import esr
from esr.documents import Document, Located
from esr.engines.factory import LoadOptions, open_writer
from esr.evaluation.reproduce.year import ANALYZER, Year
from esr.evaluation.tuning.figures import Task
from esr.ranking.searcher import Searcher


class Part(NamedTuple):
    """Topics that are answered by one index."""

    searcher: Searcher
    tasks: list[Task]


@contextmanager
def opened(year: Year, work: Path, statistics: str) -> Iterator[list[Part]]:
    """The parts of a year in the order of its topics: one, or with `topic` statistics one a topic."""
    folder = work / year.name
    with ExitStack() as stack:
        if statistics == "year":
            place = _indexed(year.documents, folder / "index")
            yield [Part(stack.enter_context(esr.open(str(place))), list(year.tasks))]
            return
        by_id = {document.id: document for document in year.documents}
        parts = []
        for number, task in enumerate(year.tasks):
            documents = [by_id[id] for id in year.allowed[task.topic]]
            place = _indexed(documents, folder / "topics" / f"{number:03}")
            parts.append(Part(stack.enter_context(esr.open(str(place))), [task]))
        yield parts


def _indexed(documents: Sequence[Document], where: Path) -> Path:
    """The index of these documents, as an earlier call has left it or made now."""
    mark = where.with_name(f"{where.name}.sha256")
    digest = hashlib.sha256(esr.__version__.encode())
    for document in documents:
        digest.update(repr((document.id, [(s.id, s.text) for s in document.sentences])).encode())
    if not mark.exists() or mark.read_text("utf-8") != digest.hexdigest():
        mark.unlink(missing_ok=True)
        # Titles are left out: the papers' documents are their sentences.
        options = LoadOptions(if_exists="replace", analyzer=ANALYZER, title=False)
        open_writer(str(where), options).load(Located(str(where), d) for d in documents)
        mark.write_text(digest.hexdigest(), "utf-8")
    return where
