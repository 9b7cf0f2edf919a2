from statistics import mean

import pytest

from esr.analysis import get
from esr.evaluation.reproduce import year_statistics
from tests.evaluation.reproduce import miniature


def terms(text):
    return len(get("english").terms(text))


@pytest.mark.parametrize("year", ["2002", "2003", "2004"])
def test_shares_and_lengths_agree_with_the_generator(years, year):
    statistics = year_statistics.measure(years[year])
    topics = miniature.topics(year)
    pooled = [s for t in topics for s in t.sentences]
    by_sentence = {(s.document, s.number): terms(s.text) for s in pooled}
    assert (statistics.topics, statistics.documents, statistics.sentences) == (4, 20, 240)
    assert statistics.ranked == len(pooled) == 252
    assert statistics.relevant == sum(len(t.relevant) for t in topics)
    assert statistics.relevant_micro == statistics.relevant / 252
    assert statistics.relevant_macro == pytest.approx(
        mean(len(t.relevant) / len(t.sentences) for t in topics)
    )
    assert statistics.relevant_macro != statistics.relevant_micro
    assert statistics.sentence_length == pytest.approx(mean(by_sentence.values()))
    relevant = [
        terms(s.text) for t in topics for s in t.sentences if f"{s.document}:{s.number}" in t.relevant
    ]
    assert statistics.relevant_length == pytest.approx(mean(relevant))
