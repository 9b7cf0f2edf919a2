"""The indexes that a year's statistics come from: one for the year, or one per topic."""

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
from esr.evaluation.tuning.tuner import Task
from esr.ranking.searcher import Searcher


class TopicIndex(NamedTuple):
    """An index, and the tasks that are searched for in it."""

    searcher: Searcher
    tasks: list[Task]


@contextmanager
def open_indexes(year: Year, work: Path, statistics: str) -> Iterator[list[TopicIndex]]:
    """One index for the year, or with `topic` statistics one per topic, in the order of topics."""
    folder = work / year.name
    with ExitStack() as stack:
        if statistics == "year":
            place = _build_index(year.documents, folder / "index")
            yield [TopicIndex(stack.enter_context(esr.open(str(place))), list(year.tasks))]
            return
        by_id = {document.id: document for document in year.documents}
        indexes = []
        for number, task in enumerate(year.tasks):
            documents = [by_id[id] for id in year.allowed[task.topic]]
            place = _build_index(documents, folder / "topics" / f"{number:03}")
            indexes.append(TopicIndex(stack.enter_context(esr.open(str(place))), [task]))
        yield indexes


def _build_index(documents: Sequence[Document], where: Path) -> Path:
    """The index of these documents, built now unless an earlier call has built it."""
    digest_file = where.with_name(f"{where.name}.sha256")
    digest = hashlib.sha256(esr.__version__.encode())
    for document in documents:
        digest.update(repr((document.id, [(s.id, s.text) for s in document.sentences])).encode())
    if not digest_file.exists() or digest_file.read_text("utf-8") != digest.hexdigest():
        digest_file.unlink(missing_ok=True)
        # Titles are left out, because the papers' documents consist of their sentences.
        options = LoadOptions(if_exists="replace", analyzer=ANALYZER, title=False)
        open_writer(str(where), options).load(Located(str(where), d) for d in documents)
        digest_file.write_text(digest.hexdigest(), "utf-8")
    return where
