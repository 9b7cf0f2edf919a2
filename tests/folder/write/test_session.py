"""Duplicate ids, wherever they can occur."""

from __future__ import annotations

from pathlib import Path

import pytest

from esr.errors import InputError
from esr.folder.write import segment_writer
from esr.text.document import Located, Sentence
from tests.support.folder_index import append, document, indexed_ids, load


def with_id(id: str) -> Sentence:
    return Sentence(id, "text")


DUPLICATE: dict[str, tuple[Located, Located, str]] = {
    "a document id": (document("A", "x"), document("A", "y"), "document id 'A' is duplicated"),
    "a document id without sentences": (document("A"), document("A"), "document id 'A' is duplicated"),
    "an explicit id of another document": (
        document("A", with_id("same")),
        document("B", with_id("same")),
        "sentence id 'same' is already used",
    ),
    "an explicit id that is an earlier default id": (
        document("A", "x", "y"),
        document("B", with_id("A.s1")),
        "sentence id 'A.s1' is already used",
    ),
    "a default id that is an earlier explicit id": (
        document("B", with_id("A.s1")),
        document("A", "x", "y"),
        "sentence id 'A.s1' is already used",
    ),
}


@pytest.mark.parametrize("full", [4_000_000, 0], ids=["in one segment", "across segments"])
@pytest.mark.parametrize("name", DUPLICATE)
def test_a_duplicate_id_stops_the_load(
    where: Path, monkeypatch: pytest.MonkeyPatch, name: str, full: int
) -> None:
    monkeypatch.setattr(segment_writer, "FULL_TERMS", full)
    first, second, message = DUPLICATE[name]
    with pytest.raises(InputError, match=f"^{second.where}: {message}"):
        load(where, [first, document("between", "z"), second])
    assert indexed_ids(where) == []


@pytest.mark.parametrize("name", [name for name in DUPLICATE if "document id" not in name])
def test_a_sentence_id_that_the_index_has_stops_an_append(where: Path, name: str) -> None:
    first, second, message = DUPLICATE[name]
    load(where, [first])
    before = indexed_ids(where)
    with pytest.raises(InputError, match=f"^{second.where}: {message}"):
        append(where, document("between", "z"), second)
    assert indexed_ids(where) == before


@pytest.mark.parametrize("id", ["A.s0", "A.s7"])
def test_an_id_in_the_form_of_a_default_one_that_the_index_has_stops_an_append(where: Path, id: str) -> None:
    load(where, [document("first", with_id(id))])
    before = indexed_ids(where)
    with pytest.raises(InputError, match=f"sentence id '{id}' is already used"):
        append(where, document("A", with_id("other"), "y"), document("second", with_id(id)))
    assert indexed_ids(where) == before


@pytest.mark.parametrize("pair", [("same", "same"), ("A.s1", None), (None, "A.s0")])
def test_a_duplicate_sentence_id_within_a_document_stops_the_load(
    where: Path, pair: tuple[str | None, str | None]
) -> None:
    sentences = [with_id(id) if id else "text" for id in pair]
    with pytest.raises(InputError, match=r"^news\.jsonl:A: sentence id '.*' (is already used|is duplicated)"):
        load(where, [document("A", *sentences)])


FREE: dict[str, tuple[Located, Located]] = {
    "a number with a leading zero": (document("A", "x", "y"), document("B", with_id("A.s01"))),
    "a number in other digits": (document("A", "x", "y"), document("B", with_id("A.s١"))),
    "a number after the last": (document("A", "x", "y"), document("B", with_id("A.s2"))),
    "a default id whose sentence has another": (
        document("A", with_id("other")),
        document("B", with_id("A.s0")),
    ),
    "a document's id": (document("A", "x"), document("B", with_id("A"))),
    "a document id like a sentence id": (document("A", "x"), document("A.s0", "y")),
}


@pytest.mark.parametrize("full", [4_000_000, 0], ids=["in one segment", "across segments"])
@pytest.mark.parametrize("name", FREE)
def test_an_id_that_only_looks_used_is_accepted(
    where: Path, monkeypatch: pytest.MonkeyPatch, name: str, full: int
) -> None:
    monkeypatch.setattr(segment_writer, "FULL_TERMS", full)
    load(where, FREE[name])
    ids = [s.id for located in FREE[name] for s in located.document.sentences]
    assert indexed_ids(where) == ids
