from __future__ import annotations

from dataclasses import replace

from esr.learning.topic_groups import group_topics
from tests.learning.samples import topics


def test_topics_are_grouped_by_file_by_query_and_by_shared_answers() -> None:
    a, b, c, d, e, f = topics(6)
    b = replace(b, query="Of WORDS 0")  # the words of a
    c = replace(c, judgements=dict(list(b.judgements.items())[:2]))  # two of the three sentences of b
    f = replace(f, judgements={**f.judgements, next(iter(e.judgements)): 1})  # one of many of e
    groups = group_topics([a, b, c, d, e, f], {"t3": "x", "t4": "x", "gone": "x"})
    assert groups["t0"] == groups["t1"] == groups["t2"]
    assert groups["t3"] == groups["t4"]
    assert len(set(groups.values())) == 3
