from statistics import mean

import pytest

from esr.analysis import get
from esr.evaluation.reproduce import shares
from tests.evaluation.reproduce import miniature


def terms(text):
    return len(get("english").terms(text))


@pytest.mark.parametrize("year", ["2002", "2003", "2004"])
def test_shares_and_lengths_are_those_of_the_generator(years, year):
    shape = shares.measure(years[year])
    topics = miniature.topics(year)
    pooled = [s for t in topics for s in t.sentences]
    once = {(s.document, s.number): terms(s.text) for s in pooled}
    assert (shape.topics, shape.documents, shape.sentences) == (4, 20, 240)
    assert shape.ranked == len(pooled) == 252
    assert shape.relevant == sum(len(t.relevant) for t in topics)
    assert shape.relevant_micro == shape.relevant / 252
    assert shape.relevant_macro == pytest.approx(mean(len(t.relevant) / len(t.sentences) for t in topics))
    assert shape.relevant_macro != shape.relevant_micro
    assert shape.sentence_length == pytest.approx(mean(once.values()))
    relevant = [
        terms(s.text) for t in topics for s in t.sentences if f"{s.document}:{s.number}" in t.relevant
    ]
    assert shape.relevant_length == pytest.approx(mean(relevant))
