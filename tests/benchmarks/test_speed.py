"""The benchmark of speed: its figures, goals, collections, queries and timing."""

from __future__ import annotations

import gzip
from collections import Counter
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest

from benchmarks.speed import corpus, figures, queries, report, timing
from benchmarks.speed.figures import Figures
from benchmarks.speed.goals import GOALS
from benchmarks.speed.timing import p50, p95, time_interleaved, warm_up
from benchmarks.speed.workspace import Setup
from tests.support import samples as toy

pytestmark = pytest.mark.slow


def figures_of(part: str, **figure: Any) -> Figures:
    return Figures([{"part": part, "commit": "c", **figure}])


def row(figures: Figures, name: str) -> tuple[str, ...]:
    (goal,) = (goal for goal in GOALS if goal.name == name)
    return goal.row(figures)[2:]


def test_a_goal_without_figures_is_not_measured() -> None:
    assert {goal.row(Figures([]))[2:] for goal in GOALS} == {("not measured", "")}


@pytest.mark.parametrize(("ms", "expected"), [(1.0, ("0.5 ×", "**no**")), (0.8, ("0.4 ×", "yes"))])
def test_a_ratio_is_compared_with_its_maximum(ms: float, expected: tuple[str, str]) -> None:
    times = {"esr": [ms] * 3, "bm25s": [2.0] * 3, "tantivy": [9.0] * 3}
    figures = figures_of("latency", key=100, times=times)
    assert row(figures, "embedded, top 100, p50, over bm25s") == expected


@pytest.mark.parametrize(("answered", "expected"), [(158, ("0.79 ×", "**no**")), (160, ("0.8 ×", "yes"))])
def test_a_rate_is_compared_with_its_minimum(answered: int, expected: tuple[str, str]) -> None:
    runs = {
        "esr": [{"answered": answered, "seconds": 2.0}],
        "elasticsearch": [{"answered": 100, "seconds": 1.0}],
    }
    figures = figures_of("throughput", runs=runs)
    assert row(figures, "queries a second, 16 clients, over plain Elasticsearch BM25") == expected


def test_without_elasticsearch_there_is_no_ratio_to_it() -> None:
    figures = figures_of("throughput", runs={"esr": [{"answered": 1, "seconds": 1.0}]})
    assert row(figures, "queries a second, 16 clients, over plain Elasticsearch BM25")[0] == "not measured"


def test_growth_needs_a_figure_with_both_sizes() -> None:
    name = "growth: 10 times the sentences, top 10, p50"
    small = figures_of("growth", key="10 1x 3x", k=10, sizes=[1, 3], times={"esr 1": [1.0], "esr 3": [2.0]})
    assert row(small, name)[0] == "not measured"
    large = figures_of(
        "growth", key="10 1x 10x", k=10, sizes=[1, 10], times={"esr 1": [1.0], "esr 10": [3.0]}
    )
    assert row(large, name) == ("3 ×", "yes")


def test_the_time_of_reranking_is_added_to_a_first_stage_of_the_same_depth() -> None:
    figures = figures_of("rerank", times={"all signals": [25.0], "first stage": [16.0], "top 10": [1.0]})
    assert row(figures, "reranking 1,000 candidates by all signals, added, p50") == ("9 ms", "yes")


def test_loads_and_sizes_are_compared_with_those_of_tantivy() -> None:
    loads = {"esr": [{"seconds": 4.0, "bytes": 30}], "tantivy": [{"seconds": 3.0, "bytes": 10}]}
    figures = figures_of("loading", loads=loads)
    assert row(figures, "lexical load, embedded, over tantivy's rate") == ("0.75 ×", "yes")
    assert row(figures, "index size, embedded, over tantivy's") == ("3 ×", "**no**")


def test_both_indexes_of_elasticsearch_count() -> None:
    figures = figures_of("elasticsearch", bytes={"sentences": 15, "documents": 4, "plain": 10}, times={})
    assert row(figures, "Elasticsearch, index over a plain text mapping") == ("1.9 ×", "yes")


def test_the_goals_at_scale_are_of_ten_times_the_documents() -> None:
    ms = {name: {"p50": p50, "p95": 9.0} for name, p50 in (("esr, top 10", 6.0), ("match, top 100", 2.0))}
    name = "Elasticsearch, 5 million sentences, top 10, p50, over native BM25 top 100"
    of_scale = {"part": "scale, Elasticsearch", "commit": "c", "exhaustive": 0}
    ten = {**of_scale, "key": "10x, 1 node, 1 shard", "ms": {**ms, "esr, top 100": ms["esr, top 10"]}}
    assert row(Figures([ten]), name) == ("3 ×", "**no**")
    assert row(Figures([{**ten, "key": "20x, 1 node, 1 shard"}]), name)[0] == "not measured"


def test_headlines_as_they_come_have_goals_of_their_own() -> None:
    times = {"esr, top 10": [3.0], "esr, top 100": [9.0], "match, top 100": [2.0]}
    stored = {"sentences": 3, "documents": 1, "plain": 1}
    figures = figures_of("elasticsearch", key="headlines", times=times, bytes=stored)
    asked = "top 10, p50, over native BM25 top 100"
    assert row(figures, f"Elasticsearch, headlines as they come, {asked}") == ("1.5 ×", "yes")
    assert row(figures, f"Elasticsearch, 2 to 6 terms, {asked}")[0] == "not measured"


ENVIRONMENT = {"commit": "abc", "at": "2026-01-02", "cores": 2, "processor": "P", "load": 0.1}
PAGE = f"Before.\n\n{report.BEGIN}\n{report.END}\n\nAfter.\n"
NAMES = ("esr", "esr, exhaustive", "esr, with texts", "bm25s", "tantivy", "tantivy, with texts")


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "page.md"
    path.write_text(PAGE, "utf-8")
    return path


def growth(k: int, sizes: tuple[int, ...]) -> dict[str, Any]:
    answers = {str(size): {"sentences": 1000 * size, "matches": [size, 2 * size]} for size in sizes}
    times = {f"{name} {size}": [1.0 * size, 3.0 * size] for name in NAMES for size in sizes}
    key = f"{k} {sizes}"
    return {
        "part": "growth",
        "key": key,
        "k": k,
        "sizes": sizes,
        "answers": answers,
        "times": times,
        **ENVIRONMENT,
    }


def test_without_figures_the_page_has_only_the_goals(page: Path) -> None:
    report.write(Figures([]), page)
    lines = page.read_text("utf-8").splitlines()
    assert sum("not measured" in line for line in lines) == len(GOALS)
    assert not any(line.startswith("#") for line in lines)


def test_the_text_around_the_figures_is_unchanged(page: Path) -> None:
    report.write(Figures([growth(10, (1, 3))]), page)
    text = page.read_text("utf-8")
    report.write(Figures([growth(10, (1, 3))]), page)
    assert page.read_text("utf-8") == text
    assert text.startswith("Before.\n") and text.endswith("After.\n")


def test_growth_is_relative_to_the_smallest_size_and_names_the_commit(page: Path) -> None:
    report.write(Figures([growth(10, (1, 3))]), page)
    text = page.read_text("utf-8")
    assert "| esr, top 10 | 3,000 | 4 | 6 | 8.7 | 3.00 |" in text
    assert "Commit abc, 2026-01-02, 2 × P, load 0.1 before." in text


def test_the_picture_shows_the_figure_with_the_most_sizes(page: Path) -> None:
    report.write(Figures([growth(10, (1, 3, 10)), growth(10, (1, 3))]), page)
    picture = (page.parent / "pictures" / "latency-size.svg").read_text("utf-8")
    ElementTree.fromstring(picture)
    assert "10,000" in picture and "esr, exhaustive, top 10" in picture


def test_latency_reports_how_many_answers_differ(page: Path) -> None:
    answers = {"matches": [5, 900], "scored": [5, 20], "differ": 1, "exhaustive": 0}
    times = {name: [1.0, 2.0] for name in NAMES}
    figure = {"part": "latency", "key": 100, "times": times, "answers": answers, **ENVIRONMENT}
    report.write(Figures([figure]), page)
    text = page.read_text("utf-8")
    assert "In 1 of 2 queries the pruned answer differs" in text
    assert "| esr | 1.5 | 1.95 | 1.00 | 1.00 |" in text
    assert (page.parent / "pictures" / "latency-matches.svg").exists()


SOME_ENVIRONMENT = {"commit": "c1"}


def test_the_last_measurement_of_a_part_and_key_counts(tmp_path: Path) -> None:
    raw = tmp_path / "raw.jsonl"
    for key, value in ((10, 1), (100, 2), (10, 3)):
        figures.append(raw, "latency", {"key": key, "value": value}, SOME_ENVIRONMENT)
    latest = Figures(figures.read(raw))
    assert [figure["value"] for figure in latest.all_of("latency")] == [3, 2]
    assert latest.get("latency", 10) == {"part": "latency", "commit": "c1", "key": 10, "value": 3}
    assert latest.get("latency", 5) is latest.get("growth") is None


def test_measurements_are_appended_to_the_file(tmp_path: Path) -> None:
    raw = tmp_path / "raw.jsonl"
    for value in range(3):
        figures.append(raw, "cold", {"value": value}, SOME_ENVIRONMENT)
    assert [line["value"] for line in figures.read(raw)] == [0, 1, 2]


def test_a_missing_file_has_no_figures(tmp_path: Path) -> None:
    assert figures.read(tmp_path / "none.jsonl") == []


def test_the_environment_has_commit_time_and_machine() -> None:
    environment = figures.describe_environment()
    assert {"commit", "at", "cores", "processor", "python", "load"} == set(environment)
    assert environment["processor"]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return toy.write_toy_collection(tmp_path)[0]


def texts(document: corpus.Document) -> tuple[str, ...]:
    return tuple(sentence["text"] for sentence in document["sentences"])


def test_a_larger_collection_begins_with_the_source(source: Path, tmp_path: Path) -> None:
    corpus.write(source, tmp_path / "larger.jsonl", 3)
    real, larger = list(corpus.read(source)), list(corpus.read(tmp_path / "larger.jsonl"))
    assert larger[: len(real)] == real
    assert len(larger) == 3 * len(real)


def test_every_part_has_every_sentence_once(source: Path, tmp_path: Path) -> None:
    corpus.write(source, tmp_path / "larger.jsonl", 3)
    real = Counter(text for document in corpus.read(source) for text in texts(document))
    larger = Counter(text for document in corpus.read(tmp_path / "larger.jsonl") for text in texts(document))
    assert larger == Counter({text: 3 * count for text, count in real.items()})


def test_parts_keep_lengths_and_have_ids_of_their_own(source: Path, tmp_path: Path) -> None:
    corpus.write(source, tmp_path / "larger.jsonl", 3)
    larger = list(corpus.read(tmp_path / "larger.jsonl"))
    lengths = [len(texts(document)) for document in larger]
    assert lengths == 3 * lengths[: len(lengths) // 3]
    assert len({document["id"] for document in larger}) == len(larger)
    assert {document["source"] for document in larger} == {"toy"}


def test_no_document_with_several_sentences_is_repeated(source: Path, tmp_path: Path) -> None:
    corpus.write(source, tmp_path / "larger.jsonl", 4)
    documents = map(texts, corpus.read(tmp_path / "larger.jsonl"))
    counts = Counter(document for document in documents if len(document) > 2)
    assert max(counts.values()) == 1


def test_neighbours_stay_together(source: Path, tmp_path: Path) -> None:
    """Terms co-occur in documents as in real ones, so a part is not a random set of sentences."""
    corpus.write(source, tmp_path / "larger.jsonl", 2)
    real = {pair for document in corpus.read(source) for pair in pairwise(texts(document))}
    documents = [d for d in corpus.read(tmp_path / "larger.jsonl") if d["id"].startswith("part1")]
    pairs = [pair for document in documents for pair in pairwise(texts(document))]
    assert sum(pair in real for pair in pairs) > len(pairs) / 2


def test_the_same_seed_gives_the_same_collection(source: Path, tmp_path: Path) -> None:
    first, second, other = (tmp_path / name for name in ("first", "second", "other"))
    corpus.write(source, first, 2)
    corpus.write(source, second, 2)
    corpus.write(source, other, 2, seed=2)
    assert first.read_bytes() == second.read_bytes() != other.read_bytes()


def test_a_gzipped_source_is_read(source: Path, tmp_path: Path) -> None:
    gzipped = tmp_path / "documents.jsonl.gz"
    gzipped.write_bytes(gzip.compress(source.read_bytes()))
    assert list(corpus.read(gzipped)) == list(corpus.read(source))


def test_queries_have_two_to_six_terms_and_are_distinct(tmp_path: Path) -> None:
    file = tmp_path / "queries.tsv"
    file.write_text("1\tbako\n2\tbako dako\n3\tbako dako\n4\tthe and of\n5\ta b c d e f g h i j k\n", "utf-8")
    assert queries.all_queries(Setup(tmp_path, file, tmp_path)) == ["bako dako"]


def test_the_sample_is_the_same_every_time(tmp_path: Path) -> None:
    setup = Setup(*toy.write_toy_collection(tmp_path), tmp_path, number=7)
    assert queries.sample(setup) == queries.sample(setup) == queries.all_queries(setup)[:7]
    assert len(queries.all_queries(setup)) == 60


def test_no_two_queries_of_a_group_share_a_term() -> None:
    groups = queries.group_disjoint(["bako dako", "dako fako", "gako kako", "kako bako"])
    assert groups == [["bako dako", "gako kako"], ["dako fako", "kako bako"]]


def test_an_unrelated_query_shares_no_term_with_the_group() -> None:
    assert queries.find_unrelated(["bako dako", "gako"], ["gako memi", "memi"]) == "memi"
    assert queries.find_unrelated(["bako"], ["bako memi"]) is None


class Clock:
    """A clock that only a search moves."""

    now = 0.0

    def pass_by(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(timing, "time", SimpleNamespace(perf_counter=lambda: clock.now))
    return clock


def test_every_peer_answers_a_query_before_the_next_query() -> None:
    searched: list[tuple[str, str]] = []
    searches = {name: lambda query, name=name: searched.append((name, query)) for name in "ab"}
    time_interleaved(searches, ["x", "y"], rounds=2)
    assert [query for _, query in searched] == ["x", "x", "y", "y"] * 3
    assert all({name for name, _ in searched[at : at + 2]} == {"a", "b"} for at in range(0, len(searched), 2))


def test_the_first_round_does_not_count(clock: Clock) -> None:
    seconds = iter([0.1, 0.02])
    times = time_interleaved({"a": lambda query: clock.pass_by(next(seconds))}, ["x"], rounds=1)
    assert times == {"a": [20.0]}


@pytest.mark.parametrize(("seconds", "queries"), [(0.0, "x"), (2.5, "xyx")])
def test_a_warm_up_asks_every_peer_until_its_time_is_over(clock: Clock, seconds: float, queries: str) -> None:
    searched: list[tuple[str, str]] = []

    def search(peer: str, query: str) -> None:
        searched.append((peer, query))
        clock.pass_by(0.5)

    warm_up({peer: partial(search, peer) for peer in "ab"}, ["x", "y"], seconds)
    assert searched == [(peer, query) for query in queries for peer in "ab"]


def test_percentiles_are_computed_over_queries() -> None:
    assert p50([1.0, 2.0, 9.0]) == 2.0
    assert p95(list(range(101))) == 95.0
