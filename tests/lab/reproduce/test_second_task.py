"""The second task: figures by hand, and the whole on the miniature."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from statistics import mean

import pytest

from esr.lab.reproduce.claims import ExperimentResults
from esr.lab.reproduce.data import NAMES, NEW_NAMES, Year, find_raw_files, load
from esr.lab.reproduce.output import as_json, as_markdown
from esr.lab.reproduce.second_task import (
    EVERYTHING,
    NewFigures,
    average,
    judge,
    measure_second_task,
    measure_year,
)
from esr.text.analyzer import get_analyzer
from tests.lab.reproduce import miniature
from tests.lab.reproduce.miniature import new_sentences, write
from tests.lab.reproduce.miniature import topics as miniature_topics
from tests.support.elasticsearch import document


@pytest.mark.slow
def test_precision_recall_and_f_are_those_of_the_track() -> None:
    assert judge({"a", "b", "c", "d"}, frozenset("abx")) == pytest.approx((0.5, 2 / 3, 4 / 7))
    assert judge(set(), frozenset("a")) == judge({"a"}, frozenset()) == NewFigures(0.0, 0.0, 0.0)
    figures = [NewFigures(1.0, 0.5, 0.25), NewFigures(0.0, 0.0, 0.75)]
    assert average(iter(figures)) == NewFigures(0.5, 0.25, 0.5)


@pytest.mark.slow
def test_a_sentence_that_repeats_an_earlier_relevant_one_is_not_new(years: dict[str, Year]) -> None:
    """The first document says it, the second says less and then more, in the order of the topic."""
    documents = [
        document("b", "Fifteen miners died near Bochum on Monday.", "The weather was fine."),
        document("a", "Fifteen miners died near Bochum.", "Experts blame gas, and a lack of maintenance."),
    ]
    relevant = {"a.s0": 1, "a.s1": 1, "b.s0": 1}
    year = replace(
        years["2003"],
        documents=documents,
        allowed={"N1": ("b", "a")},
        qrels={"N1": relevant},
        new={"N1": frozenset({"a.s1", "b.s0", "b.s1"})},
    )
    task = measure_second_task(year)
    assert task is not None
    assert (task.topics, task.judged, task.new, task.not_relevant) == (1, 3, 2, ["N1 b.s1"])
    assert task.figures["0.8"] == NewFigures(1.0, 2 / 3, 0.8)
    assert task.figures[EVERYTHING] == NewFigures(2 / 3, 2 / 3, 2 / 3)
    reversed_order = measure_second_task(replace(year, allowed={"N1": ("a", "b")}))
    assert reversed_order is not None and reversed_order.figures["1"] == task.figures[EVERYTHING]


@pytest.mark.slow
def test_the_tables_have_every_year_with_judgements(results: ExperimentResults) -> None:
    assert list(results.second_task) == ["2002", "2003", "2004"]
    page, data = as_markdown(results, []), as_json(results, [])
    for year, task in results.second_task.items():
        topics = miniature_topics(year)
        assert (task.topics, task.new) == (len(topics), sum(len(new_sentences(t)) for t in topics))
        assert f"### {year}: {task.topics} topics, {task.judged} relevant sentences" in page
        assert data["second_task"][year]["figures"]["0.8"]["f"] == task.figures["0.8"].f
        assert task.figures[EVERYTHING].recall == 1.0


@pytest.mark.slow
def test_a_year_without_judgements_of_what_is_new_has_only_the_first_task(
    tmp_path: Path, years: dict[str, Year], results: ExperimentResults
) -> None:
    write(tmp_path, ("2003",))
    (new,) = tmp_path.rglob(NEW_NAMES["2003"][0])
    assert find_raw_files(tmp_path).years[0].new == new
    new.rename(new.with_name(NEW_NAMES["2003"][1]))
    assert find_raw_files(tmp_path).years[0].new == new.with_name(NEW_NAMES["2003"][1])
    new.with_name(NEW_NAMES["2003"][1]).unlink()
    assert find_raw_files(tmp_path).years[0].new is None
    assert measure_second_task(replace(years["2003"], new=None)) is None
    assert "has no judgements of what is new" in as_markdown(replace(results, second_task={}), [])


@pytest.mark.slow
@pytest.mark.parametrize("year", NAMES)
def test_the_judgements_of_what_is_new_are_read(years: dict[str, Year], year: str) -> None:
    expected = {t.id: frozenset(new_sentences(t)) for t in miniature_topics(year)}
    assert years[year].new == expected


@pytest.mark.slow
def test_sentences_with_grade_0_are_not_new(tmp_path: Path, years: dict[str, Year]) -> None:
    write(tmp_path / "data", ("2003",))
    new = next((tmp_path / "data").rglob(NEW_NAMES["2003"][0]))
    graded = [
        f"{topic.id} 0 {sentence} {int(sentence in new_sentences(topic))}\n"
        for topic in miniature_topics("2003")
        for sentence in topic.relevant
    ]
    new.write_text("".join(graded))
    assert load(find_raw_files(tmp_path / "data").years[0], tmp_path / "work").new == years["2003"].new


def terms(text):
    return len(get_analyzer("english").terms(text))


@pytest.mark.parametrize("year", ["2002", "2003", "2004"])
def test_shares_and_lengths_agree_with_the_generator(years, year):
    statistics = measure_year(years[year])
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
