"""Which documents a query removes."""

from __future__ import annotations

from pathlib import Path

import pytest

from esr.folder.index import EmbeddedIndex
from esr.index.filters import NO_FILTERS
from esr.index.questions import ByDocument
from esr.library.removal import Selection, select_documents
from esr.plans.plan import HasTerm
from tests.support.folder_index import document, load


@pytest.fixture(params=[None, "year"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> EmbeddedIndex:
    """Documents of three years with more and more sentences, of which half have a flood."""
    documents = [
        document(
            f"d{n}", *(f"{word} {n}" for _ in range(n) for word in ("flood", "storm")), date=f"{2014 + n % 3}"
        )
        for n in range(9)
    ]
    load(tmp_path / "index", documents, by=request.param)
    return EmbeddedIndex(str(tmp_path / "index"))


def test_documents_to_remove_are_found_without_reading_sentences(
    index: EmbeddedIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("sentences are read")

    monkeypatch.setattr(EmbeddedIndex, "read", refuse)
    monkeypatch.setattr(EmbeddedIndex, "select", refuse)
    selection = select_documents(index, "flood after:2015 before:2016", None)
    assert ({*selection.ids}, selection.sentences, selection.before) == ({"d1", "d4", "d7"}, 12, None)
    assert {*select_documents(index, "flood", "2015").ids} == {"d3", "d6"}
    assert select_documents(index, "flood -storm2 hurricane", None) == Selection([], 0, None)


def test_all_documents_are_counted_as_those_with_given_ids(index: EmbeddedIndex) -> None:
    ids = [f"d{n}" for n in range(9)]
    (listed,) = index.count([HasTerm("flood")], NO_FILTERS, ByDocument(ids))
    (counted,) = index.count([HasTerm("flood")], NO_FILTERS, ByDocument(None))
    assert counted == listed and counted.documents == 8 and counted.sentences["d8"] == 8
