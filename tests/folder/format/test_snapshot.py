"""What a snapshot of a commit knows of all its segments, and which of its documents new ones repeat."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from esr.folder.format.segment import COLUMNS
from esr.folder.format.snapshot import Snapshot, find_known_content, summarize_periods
from esr.folder.index import EmbeddedIndex
from esr.text.document import Located
from tests.support.folder_index import document, load


@contextmanager
def snapshot_of(folder: Path, documents: Sequence[Located], analyzer: str = "plain") -> Iterator[Snapshot]:
    load(folder, documents, analyzer=analyzer)
    yield EmbeddedIndex(str(folder)).cache.snapshot


def test_all_columns_of_a_snapshot_are_there_after_its_files_are_gone(tmp_path: Path) -> None:
    with snapshot_of(tmp_path / "index", [document("a", "storm")]) as snapshot:
        shutil.rmtree(tmp_path / "index")
        (segment,) = snapshot.segments
        assert all(segment.column(name) is not None for name in COLUMNS)


def test_the_statistics_of_a_language_are_those_of_its_documents(tmp_path: Path) -> None:
    documents = [
        document("a", "Storm over the hills.", "It rained.", language="en"),
        document("b", "Sturm.", language="de"),
    ]
    with snapshot_of(tmp_path / "index", documents, "by-language") as snapshot:
        german = snapshot.statistics.collection_in("de")
        assert (german.documents, german.sentences) == (1, 1)


def test_an_index_that_is_not_divided_has_no_periods(tmp_path: Path) -> None:
    with snapshot_of(tmp_path / "index", [document("a", "storm", date="2017-03-01")]) as snapshot:
        assert summarize_periods(snapshot) == []


def test_content_is_known_under_another_id_whatever_stands_beside_it(tmp_path: Path) -> None:
    told, short = ["storm over the river", "flood", "a bridge fell"], ["rain", "it stopped at noon"]
    old = [document("x", "one two three"), document("told", *told), document("y", *["wind"] * 4)]
    new = [document("short", *short), document("again", *told), document("other", *told[:2], "a dam fell")]
    with snapshot_of(tmp_path / "old", old) as before, snapshot_of(tmp_path / "new", new) as after:
        assert find_known_content(after.segments, before.segments) == {"again": "told"}
