from __future__ import annotations

from dataclasses import replace

from esr.learning.twins import groups
from tests.learning.making import topics


def test_topics_stay_together_that_are_given_so_or_ask_the_same_or_have_the_same_answer() -> None:
    a, b, c, d, e, f = topics(6)
    b = replace(b, query="Of WORDS 0")  # the words of a
    c = replace(c, grades_of=dict(list(b.grades_of.items())[:2]))  # two of the three sentences of b
    f = replace(f, grades_of={**f.grades_of, next(iter(e.grades_of)): 1})  # one of many of e
    found = groups([a, b, c, d, e, f], {"t3": "x", "t4": "x", "gone": "x"})
    assert found["t0"] == found["t1"] == found["t2"]
    assert found["t3"] == found["t4"]
    assert len(set(found.values())) == 3
