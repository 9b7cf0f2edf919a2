from __future__ import annotations

import pytest

from esr.index.hits import Hit, SentenceRecord
from esr.ranking.answers import answer_dict, best_of_documents, require_record
from esr.ranking.prepared_query import Answer

STORM = SentenceRecord(
    "a.s1", "a", 1, "Rain fell.", "Clouds came.", None, "Storm", "2017-03-01", "Wire", "https://x.org/1", "en"
)


def test_an_answer_has_the_documented_keys() -> None:
    shape = answer_dict(Answer([Hit("a.s1", -1.5, STORM)], 9, 1.23456, ("xyz",), "1 of 3 shards failed"))
    assert shape.pop("hits") == [
        {
            "sentence_id": "a.s1",
            "document_id": "a",
            "position": 1,
            "score": -1.5,
            "text": "Rain fell.",
            "previous": "Clouds came.",
            "next": None,
            "title": "Storm",
            "source": "Wire",
            "date": "2017-03-01",
            "url": "https://x.org/1",
            "language": "en",
            "direction": "ltr",
            "features": {},
            "entities": None,
            "paragraph": None,
            "authors": [],
            "section": None,
            "keywords": [],
        }
    ]
    assert shape == {
        "total": 9,
        "took_ms": 1.235,
        "unseen": ["xyz"],
        "incomplete": "1 of 3 shards failed",
        "scored": None,
        "exhaustive": None,
        "unknown_filters": [],
        "without_vector": None,
        "without_parse": None,
    }


def test_a_hit_without_its_sentence_is_a_fault_of_the_program() -> None:
    with pytest.raises(TypeError, match=r"a\.s1"):
        require_record(Hit("a.s1", 0.0, None))


@pytest.mark.parametrize("k", [1, 2, 3, 9])
def test_the_best_documents_are_found_however_many_sentences_of_one_come_first(k: int) -> None:
    ranked = [*(f"a.{n}" for n in range(50)), *(f"b.{n}" for n in range(50)), "a.50", "c.0"]
    found = best_of_documents(lambda n: ranked[:n], k, lambda sentence: sentence[0])
    assert found == ["a.0", "b.0", "c.0"][:k]
