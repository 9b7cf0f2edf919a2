"""What enrichment stores with a sentence is the same in another process."""

from __future__ import annotations

import pickle

import pytest

from esr.text.document import ParseWord, Quote
from esr.text.sentence_enrichment import Entity, QuantizedVector, SentenceEnrichment

FULL = SentenceEnrichment(
    {"subj": 0.5},
    (Entity("person", "Ann Lee"),),
    (ParseWord("It", 1), ParseWord("rains", -1)),
    QuantizedVector(b"\x01\x02", 0.5),
    (Quote(0, 2, "Ann Lee", "ann lee"),),
)


@pytest.mark.parametrize(
    "stored", [FULL, SentenceEnrichment({}, None, None), SentenceEnrichment({}, (), ())], ids=str
)
def test_it_is_the_same_in_another_process(stored: SentenceEnrichment) -> None:
    assert pickle.loads(pickle.dumps(stored)) == stored
