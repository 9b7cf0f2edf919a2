"""The analyzer that a load chooses for documents in several languages."""

from __future__ import annotations

import pytest

from esr.library.loading import SampledDocuments
from tests.support.folder_index import document


@pytest.mark.parametrize(
    ("languages", "can_be_by_language", "analyzer"),
    [
        (["de", "fr"], True, "by-language"),
        (["de", "fr"], False, "multilingual"),  # on a server that has no terms by language
        (["de", "fr", None], True, "multilingual"),  # detection is not asked for
        (["de"] * 9 + ["fr"], True, "german"),
    ],
)
def test_several_languages_have_an_analyzer_each_where_documents_and_engine_allow(
    languages: list[str | None], can_be_by_language: bool, analyzer: str
) -> None:
    documents = [document(str(n), "Der Hund bellt.", language=code) for n, code in enumerate(languages)]
    sampled = SampledDocuments(iter(documents))
    assert sampled.choose_analyzer(can_be_by_language) == analyzer
    assert len(list(sampled)) == len(documents)
