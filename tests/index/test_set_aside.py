"""Documents that an index cannot take are set aside with the reason, and the others loaded."""

from __future__ import annotations

from pathlib import Path

import pytest

from esr.errors import EsrError, InputError
from esr.folder.write import segment_writer
from esr.text.document import Document, Sentence
from tests.support.elasticsearch import document, fresh, load
from tests.support.index_contents import documents, index_contents

NEWS = [document(f"n{n}", f"Flood number {n}.", "A river.") for n in range(20)]
DUPLICATE = document("n3", "Another text.")
CONFLICTING = Document("taken", (Sentence("mine", "A storm."), Sentence("n5.s1", "A storm.")))


def test_documents_with_duplicate_ids_are_set_aside(
    anywhere: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segment_writer, "FULL_TERMS", 30)
    aside: list[tuple[str, str]] = []
    free = Document("free", (Sentence("mine", "A storm."),))  # ids of documents set aside remain free
    report = load(
        anywhere,
        [*NEWS, DUPLICATE, CONFLICTING, free],
        set_aside=lambda document, reason: aside.append((document.id, reason)),
    )
    assert (report.documents, report.sentences, report.set_aside) == (21, 41, 2)
    assert [id for id, _ in aside] == ["n3", "taken"]
    assert "is duplicated" in aside[0][1] and "test:22: sentence id 'n5.s1' is already used" in aside[1][1]
    assert documents(anywhere) == [*NEWS, free]


def test_a_document_that_elasticsearch_rejects_in_part_is_set_aside_whole(elasticsearch_url: str) -> None:
    bad = Document("bad", (Sentence("bad.s0", "A flood."), Sentence("bad.s1", "A flood.", {"a..b": 1.0})))
    aside: list[str] = []
    with fresh(elasticsearch_url) as where, fresh(elasticsearch_url) as other:
        report = load(where, [*NEWS, bad], set_aside=lambda document, reason: aside.append(reason))
        assert (report.documents, report.sentences, report.set_aside) == (20, 40, 1)
        assert len(aside) == 1 and aside[0].startswith("Elasticsearch rejected bad.s1: ")
        load(other, NEWS)
        assert index_contents(where, priors=False) == index_contents(other, priors=False)


def test_without_a_place_to_set_documents_aside_nothing_is_loaded(anywhere: str) -> None:
    load(anywhere, NEWS)
    with pytest.raises(InputError, match="is duplicated"):
        load(anywhere, [*NEWS, DUPLICATE], if_exists="replace")
    assert documents(anywhere) == NEWS


def test_a_load_of_rejected_documents_only_replaces_nothing(elasticsearch_url: str) -> None:
    bad = Document("bad", (Sentence("bad.s0", "A flood.", {"a..b": 1.0}),))
    with fresh(elasticsearch_url) as where:
        load(where, NEWS)
        with pytest.raises(EsrError, match="nothing was switched"):
            load(where, [bad], if_exists="replace", set_aside=lambda document, reason: None)
        assert documents(where) == NEWS


def test_an_append_sets_aside_a_document_with_the_id_of_a_sentence_of_the_index(anywhere: str) -> None:
    new, aside = document("new", "A storm."), list[str]()
    load(anywhere, NEWS)
    with pytest.raises(InputError, match=r"^test:2: sentence id 'n5.s1' is already used"):
        load(anywhere, [new, CONFLICTING], if_exists="append")
    assert documents(anywhere) == NEWS

    def set_aside(document: Document, reason: str) -> None:
        aside.append(reason.partition(": give")[0])

    with pytest.raises(EsrError, match="every document was set aside"):
        load(anywhere, [CONFLICTING], if_exists="append", set_aside=set_aside)
    given = [NEWS[0], CONFLICTING, new]
    report = load(anywhere, given, if_exists="append", set_aside=set_aside)
    assert (report.documents, report.unchanged, report.set_aside) == (2, 1, 1)
    assert aside == [f"test:{n}: sentence id 'n5.s1' is already used" for n in (1, 2)]
    assert documents(anywhere) == [*NEWS, new]
