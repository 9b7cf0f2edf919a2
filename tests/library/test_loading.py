"""The analyzer that a load chooses for documents in several languages."""

from __future__ import annotations

from pathlib import Path

import pytest

import esr
from esr.library.loading import SampledDocuments
from tests.support.folder_index import document


@pytest.mark.parametrize(
    ("languages", "analyzer"),
    [
        (["de", "fr"], "by-language"),
        (["de", "fr", None], "multilingual"),  # detection is not asked for
        (["de"] * 9 + ["fr"], "german"),
    ],
)
def test_several_languages_have_an_analyzer_each_if_the_documents_declare_them(
    languages: list[str | None], analyzer: str
) -> None:
    documents = [document(str(n), "Der Hund bellt.", language=code) for n, code in enumerate(languages)]
    sampled = SampledDocuments(iter(documents))
    assert sampled.choose_analyzer() == analyzer
    assert len(list(sampled)) == len(documents)


def test_the_codes_and_the_name_of_a_language_are_that_language(tmp_path: Path) -> None:
    rows = [{"id": tag, "text": "The president spoke.", "language": tag} for tag in ("en", "eng", "English")]
    with esr.create(tmp_path / "index", rows) as index:
        for query in ("presidents", "president language:en", "president language:eng"):
            assert {hit.document_id for hit in index.search(query)} == {"en", "eng", "English"}, query


def test_bytes_of_rows_that_are_no_text_are_left_out(tmp_path: Path) -> None:
    rows = [
        {
            "id": "a",
            "text": b"A ferry sails.",
            "sha1": b"\xff\x00",
            "photo": b"\x89PNG\xff",
            "desk": b"Berlin",
        }
    ]
    with esr.create(tmp_path / "index", rows) as index:
        assert index.document("a").metadata == {"desk": "Berlin"}
