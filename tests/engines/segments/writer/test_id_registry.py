"""Ids that are used twice, in every place where that can be."""

from __future__ import annotations

from pathlib import Path

import pytest

from esr.documents import Located, Sentence
from esr.engines.segments.writer import segment_builder as build
from esr.errors import InputError
from tests.support.folder_index import append, document, indexed, load


def given(id: str) -> Sentence:
    return Sentence(id, "text")


TWICE: dict[str, tuple[Located, Located, str]] = {
    "a document id": (document("A", "x"), document("A", "y"), "document id 'A' stands twice"),
    "a document id without sentences": (document("A"), document("A"), "document id 'A' stands twice"),
    "a given id of another document": (
        document("A", given("same")),
        document("B", given("same")),
        "sentence id 'same' is taken",
    ),
    "a given id that is a default id before it": (
        document("A", "x", "y"),
        document("B", given("A.s1")),
        "sentence id 'A.s1' is taken",
    ),
    "a default id that was given before it": (
        document("B", given("A.s1")),
        document("A", "x", "y"),
        "sentence id 'A.s1' is taken",
    ),
}


@pytest.mark.parametrize("full", [4_000_000, 0], ids=["in one segment", "across segments"])
@pytest.mark.parametrize("name", TWICE)
def test_a_repeated_id_stops_the_load(
    where: Path, monkeypatch: pytest.MonkeyPatch, name: str, full: int
) -> None:
    monkeypatch.setattr(build, "FULL_TERMS", full)
    first, second, message = TWICE[name]
    with pytest.raises(InputError, match=f"^{second.where}: {message}"):
        load(where, [first, document("between", "z"), second])
    assert indexed(where) == []


@pytest.mark.parametrize("name", [name for name in TWICE if "document id" not in name])
def test_a_sentence_id_that_the_index_has_stops_an_append(where: Path, name: str) -> None:
    first, second, message = TWICE[name]
    load(where, [first])
    before = indexed(where)
    with pytest.raises(InputError, match=f"^{second.where}: {message}"):
        append(where, document("between", "z"), second)
    assert indexed(where) == before


@pytest.mark.parametrize("pair", [("same", "same"), ("A.s1", None), (None, "A.s0")])
def test_a_sentence_id_twice_in_one_document_stops_the_load(
    where: Path, pair: tuple[str | None, str | None]
) -> None:
    sentences = [given(id) if id else "text" for id in pair]
    with pytest.raises(InputError, match=r"^news\.jsonl:A: sentence id '.*' (is taken|stands twice)"):
        load(where, [document("A", *sentences)])


FREE: dict[str, tuple[Located, Located]] = {
    "a number written otherwise": (document("A", "x", "y"), document("B", given("A.s01"))),
    "a number in other digits": (document("A", "x", "y"), document("B", given("A.s١"))),
    "a number behind the last": (document("A", "x", "y"), document("B", given("A.s2"))),
    "a default id that its sentence gave up": (
        document("A", given("other")),
        document("B", given("A.s0")),
    ),
    "a document's id": (document("A", "x"), document("B", given("A"))),
    "a document named like a sentence": (document("A", "x"), document("A.s0", "y")),
}


@pytest.mark.parametrize("full", [4_000_000, 0], ids=["in one segment", "across segments"])
@pytest.mark.parametrize("name", FREE)
def test_an_id_that_only_looks_taken_is_free(
    where: Path, monkeypatch: pytest.MonkeyPatch, name: str, full: int
) -> None:
    monkeypatch.setattr(build, "FULL_TERMS", full)
    load(where, FREE[name])
    found = [s.id for located in FREE[name] for s in located.document.sentences]
    assert indexed(where) == found
