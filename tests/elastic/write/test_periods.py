"""Indices divided by period: names, deliveries that touch few periods, rollbacks, and killed loads."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from esr.elastic import meta
from esr.elastic.location import (
    belongs_to,
    generation_name,
    index_of_period,
    new_sentences_index,
    period_of_index,
    undivided_index,
)
from esr.errors import UsageError
from esr.index.factory import open_delivery, open_generations, open_migration
from esr.index.filters import Filters
from esr.index.questions import HasCopies, Summary
from esr.index.runs.reuse_run import run_reuse
from esr.index.writer import LoadOptions
from esr.ranking.searcher import open_searcher
from esr.text.validate import to_json_line
from tests.support.elasticsearch import all_indices, document, http, load, located
from tests.support.fake_enricher import FakeEnricher
from tests.support.index_contents import enrich
from tests.support.processes import ForkedProcess, run_esr

OLD = [
    document("a", "A flood in the old town.", "Relief came.", date="2023-04-01"),
    document("b", "Another flood, another river.", date="2024-02-29"),
    document("c", "The river rose.", date="2024-12-31T23:59:59Z"),
    document("d", "No day is known of this flood."),
]


@pytest.mark.parametrize(
    "by, period, day",
    [
        ("year", "2017", "2017.01.01"),
        ("quarter", "2017-Q2", "2017.04.01"),
        ("month", "2017-03", "2017.03.01"),
        ("week", "2020-W01", "2019.12.30"),
        ("year", "0999", "0999.01.01"),
        ("month", "undated", "undated"),
    ],
)
def test_the_name_of_an_index_has_the_first_day_of_its_period(by: str, period: str, day: str) -> None:
    undivided = new_sentences_index("news-2024.01.01", "")
    index = index_of_period(undivided, period)
    assert f"-{day}-esr-sentences" in index
    assert period_of_index(index, by) == period
    assert undivided_index(index) == undivided
    assert generation_name(index) == generation_name(undivided)
    assert belongs_to(index, "news-2024.01.01") and not belongs_to(index, "news")
    assert index_of_period(undivided, period, 2) < index


def days_of(where: str) -> list[str]:
    """The days in the names of the served indices of sentences."""
    return sorted(name.removesuffix("-esr-sentences").rpartition("-")[2] for name in served(where))


def served(where: str) -> list[str]:
    return sorted(http("GET", f"{where}/_alias"))


def texts(where: str) -> dict[str, float]:
    """The scores of all sentences with a word of the query, by id."""
    with open_searcher(where) as searcher:
        return {hit.sentence_id: hit.score for hit in searcher.search("flood river relief", 100).hits}


@pytest.mark.elasticsearch
@pytest.mark.slow
def test_a_delivery_writes_only_the_periods_of_its_documents(where: str, elasticsearch_url: str) -> None:
    load(where, OLD, by="year")
    before, first = texts(where), served(where)
    assert days_of(where) == ["2023.01.01", "2024.01.01", "undated"]
    moved = document("a", "A flood in the old town.", "Relief came.", date="2025-01-01")
    report = open_delivery(where, LoadOptions(keep=2)).append(located([moved, OLD[1]]))
    assert (report.changed, report.unchanged) == (1, 1)
    assert days_of(where) == ["2024.01.01", "2025.01.01", "undated"], "a period without documents is left out"
    assert set(first) & set(served(where)) == {name for name in first if "2023" not in name}
    assert texts(where) == pytest.approx(before, rel=1e-6), "the same texts have the same scores"

    open_delivery(where, LoadOptions(keep=2)).remove(["d"])
    assert days_of(where) == ["2024.01.01", "2025.01.01"]
    with closing(open_generations(where)) as generations:
        assert [g.documents for g in generations.all()] == [3, 4, 4]
        generations.rollback()
        generations.rollback()
        assert served(where) == first and texts(where) == before
        generations.delete([g.name for g in generations.all() if g.state == "kept"])
        assert {name for name in all_indices(where) if name.endswith("sentences")} == set(first)
        generations.delete_all()
    assert all_indices(where) == []


@pytest.mark.elasticsearch
@pytest.mark.slow
def test_a_whole_index_of_one_period_can_be_emptied(where: str) -> None:
    load(where, OLD, by="quarter")
    open_delivery(where, LoadOptions()).remove([each.id for each in OLD])
    assert texts(where) == {} and len(served(where)) == 1
    open_delivery(where, LoadOptions()).append(located(OLD))
    assert days_of(where) == ["2023.04.01", "2024.01.01", "2024.10.01", "undated"]
    assert len(texts(where)) == 5


@pytest.mark.elasticsearch
@pytest.mark.slow
def test_an_appending_load_divides_as_the_index_does(where: str) -> None:
    load(where, OLD[:2], by="year")
    with pytest.raises(UsageError, match="loaded with --by year"):
        load(where, OLD[2:], by="month", if_exists="append")
    load(where, OLD[2:], if_exists="append")
    assert days_of(where) == ["2023.01.01", "2024.01.01", "2024.01.01", "undated"]
    open_delivery(where, LoadOptions()).append(
        located([document("b", "A flood.", date="2024-01-01"), document("c", "A river.", date="2024-01-01")])
    )
    assert days_of(where) == ["2023.01.01", "2024.01.01", "undated"]
    assert set(texts(where)) == {"a.s0", "a.s1", "b.s0", "c.s0", "d.s0"}


@pytest.mark.elasticsearch
@pytest.mark.slow
def test_slices_of_a_divided_load_fill_the_same_indices(where: str) -> None:
    load(where, OLD, by="year", slice=(1, 2))
    report = load(where, OLD, by="year", slice=(2, 2))
    assert "all slices are loaded: they are served now" in report.notes
    assert days_of(where) == ["2023.01.01", "2024.01.01", "undated"]
    assert len(texts(where)) == 5
    again = load(where, OLD, by="year", slice=(2, 2), if_exists="replace")
    assert any("served already" in note for note in again.notes)


@pytest.mark.elasticsearch
@pytest.mark.slow
def test_enrichment_and_a_migration_keep_the_division(where: str) -> None:
    load(where, OLD, by="year")
    with open_searcher(where) as searcher:
        assert enrich(searcher.index, FakeEnricher()).documents == len(OLD)
    new = document("e", "A new flood.", date="2025-06-01")
    open_delivery(where, LoadOptions()).append(located([new]))
    with open_searcher(where) as searcher:
        assert enrich(searcher.index, FakeEnricher()).documents == 1, "the others have what they had"
    before, days = texts(where), days_of(where)
    assert days == ["2023.01.01", "2024.01.01", "2025.01.01", "undated"]
    with patch.object(meta, "FORMAT", meta.FORMAT + 1):
        report = open_migration(where, LoadOptions()).run()
        assert report.documents == len(OLD) + 1
        assert days_of(where) == days and texts(where) == pytest.approx(before, rel=1e-6)
        with open_searcher(where) as searcher:
            status = searcher.index.status(Summary())
    assert {part["documents"] for part in status["enrichment"]} == {len(OLD) + 1}
    contents = [(each["period"], each["documents"], each["sentences"]) for each in status["periods"]]
    assert contents == [("2023", 1, 2), ("2024", 2, 2), ("2025", 1, 1), ("undated", 1, 1)]
    dates = [(each["first"], each["last"]) for each in status["periods"]]
    assert dates[1] == ("2024-02-29", "2024-12-31T23:59:59Z") and dates[-1] == (None, None)
    assert all(each["size_bytes"] > 0 for each in status["periods"])


# Killed loads and deliveries


def die_in(path: str, name: str, call: int) -> None:
    """Kill this process when this module calls the function of this name for the time `call`, from 1."""
    module = import_module(path)
    real, calls = getattr(module, name), 0

    def called(*arguments: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == call:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*arguments, **options)

    setattr(module, name, called)


def load_until(path: str, name: str, call: int, command: Sequence[object]) -> None:
    die_in(path, name, call)
    run_esr(command)


@pytest.fixture
def source(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "news.jsonl"
    documents = [document(f"n{n}", f"A new flood {n}.", date=f"{2023 + n}-05-05") for n in range(3)]
    path.write_text("".join(f"{to_json_line(each)}\n" for each in documents))
    yield path


LOADS, DELIVERIES = "esr.elastic.write.writer", "esr.elastic.write.delivery"
LOAD_STEPS = [("create_pair", 2), ("send_documents", 1), ("verify", 1), ("serve", 1)]
DELIVERY_STEPS = [("make_part", 2), ("send_documents", 1), ("verify", 2), ("serve", 1)]


@pytest.mark.elasticsearch
@pytest.mark.slow
def test_an_index_of_more_periods_than_a_request_can_name_is_delivered_to_and_enriched(where: str) -> None:
    long = f"{where}-{'x' * (149 - len(where.rpartition('/')[2]))}"  # so that 21 names are too long
    text = "The council met in the old hall on Monday to vote on the budget for the new bridge."
    load(long, [document(str(year), text, date=str(year)) for year in range(2000, 2021)], by="year")
    open_delivery(long, LoadOptions()).append(located([document("new", text, date="2022")]))
    with open_searcher(long) as searcher:
        run_reuse(searcher.index)
        index = searcher.snapshot().index
        assert index.count([None], Filters()) == [22]
        assert index.status(HasCopies())


@pytest.mark.elasticsearch
@pytest.mark.endurance
@pytest.mark.parametrize("step, call", LOAD_STEPS, ids=[step for step, _ in LOAD_STEPS])
@pytest.mark.parametrize("resume", [False, True], ids=["anew", "resumed"])
def test_a_killed_load_of_periods_leaves_the_old_generation(
    where: str, source: Path, step: str, call: int, resume: bool
) -> None:
    load(where, OLD, by="year")
    before = served(where)
    command = ["load", source, "--index", where, "--by", "year", "--if-exists", "replace"]
    assert ForkedProcess(load_until, LOADS, step, call, command).wait() == -signal.SIGKILL
    assert served(where) == before
    with closing(open_generations(where)) as generations:
        assert [g.state for g in generations.all()] == ["broken", "serving"]
    left = set(all_indices(where))
    ForkedProcess(run_esr, [*command, *(["--resume"] if resume else [])]).finish(timeout=600)
    assert set(texts(where)) == {"n0.s0", "n1.s0", "n2.s0"}
    assert len(all_indices(where)) == 12, "the killed load was resumed or deleted, the old one is kept"
    resumed = resume and step != "create_pair"
    assert len(left & set(all_indices(where))) == (12 if resumed else 6)


@pytest.mark.elasticsearch
@pytest.mark.endurance
@pytest.mark.parametrize("step, call", DELIVERY_STEPS, ids=[step for step, _ in DELIVERY_STEPS])
def test_a_killed_delivery_of_periods_leaves_the_old_generation(
    where: str, source: Path, step: str, call: int
) -> None:
    load(where, OLD, by="year")
    before, scores = served(where), texts(where)
    command = ["append", source, "--index", where]
    assert ForkedProcess(load_until, DELIVERIES, step, call, command).wait() == -signal.SIGKILL
    assert served(where) == before and texts(where) == scores
    with closing(open_generations(where)) as generations:
        broken = [g.name for g in generations.all() if g.state == "broken"]
        assert len(broken) == 1
        generations.delete(broken)
    assert served(where) == before and texts(where) == scores, "shared indices stay"
    assert len(all_indices(where)) == 6
    ForkedProcess(run_esr, command).finish(timeout=600)
    assert {"n0.s0", "n1.s0", "n2.s0", "a.s0", "d.s0"} < set(texts(where))
    shared = set(before) & set(served(where))
    assert shared == {name for name in before if "undated" in name}
