"""The survey of terms finds what no analyzer should make."""

from __future__ import annotations

from pathlib import Path

import pytest

from esr.analysis.survey import TermCounter, TermSurvey
from esr.documents import Located
from esr.engines.factory import LoadOptions, open_writer
from tests.support.elasticsearch import document

TEXTS = ["storm the coast", "the storm", "…", "the flood " + "word " * 100, "the end", "end"]


def counted() -> TermSurvey:
    counter = TermCounter()
    for text in TEXTS:
        counter.add(text.replace("…", "").split())
    return counter.survey()


def test_long_sentences_empty_ones_and_frequent_terms_are_counted() -> None:
    assert counted() == TermSurvey(6, 1, 1, ["the"])
    assert TermCounter().survey() == TermSurvey(0, 0, 0, [])


def test_each_finding_is_a_line() -> None:
    assert TermSurvey(3, 0, 0, []).notes() == []
    lines = counted().notes()
    assert lines[0] == "1 sentences have no term: no search finds them"
    assert lines[1].startswith("1 sentences have more than 100 terms")
    assert lines[2].startswith("terms in more than a third of all sentences: the:")


@pytest.mark.parametrize("append", [False, True])
def test_a_load_surveys_what_it_loaded(tmp_path: Path, append: bool) -> None:
    where = str(tmp_path / "index")
    old, new = Located("a", document("old", "the", "the")), Located("b", document("new", *TEXTS))
    if append:
        open_writer(where, LoadOptions(analyzer="plain", title=False)).load([old])
    report = open_writer(where, LoadOptions("append", "plain", False)).load([new])
    assert report.terms == counted()
