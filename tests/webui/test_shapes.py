from __future__ import annotations

import pytest

from esr.engines.index import Hit
from esr.ranking.searcher import Answer
from tests.webui.fake_index import FLOOD, STORM
from webui import shapes


def test_an_answer_has_the_documented_keys() -> None:
    hits = [Hit("a.s1", -1.5, STORM), Hit("b.s0", -2.0, FLOOD)]
    shape = shapes.answer(Answer(hits, 9, 1.23456, ("xyz",), "1 of 3 shards failed"))
    assert shape["hits"][0] == {
        "sentence_id": "a.s1",
        "document_id": "a",
        "score": -1.5,
        "text": STORM.text,
        "previous": STORM.previous,
        "next": STORM.next,
        "title": STORM.title,
        "source": STORM.source,
        "date": STORM.date,
        "url": STORM.url,
    }
    assert shape["hits"][1]["title"] is None
    del shape["hits"]
    assert shape == {"total": 9, "took_ms": 1.235, "unseen": ["xyz"], "incomplete": "1 of 3 shards failed"}


def test_a_hit_without_its_sentence_is_a_fault_of_the_program() -> None:
    with pytest.raises(TypeError, match=r"a\.s1"):
        shapes.record(Hit("a.s1", 0.0, None))
