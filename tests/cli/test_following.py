"""`esr timeline` as text, JSON and CSV, and `esr watch`.

A watch reports each sentence once, on both engines, even if a run is killed at any step.
"""

from __future__ import annotations

import csv
import io
import json
import random
import sqlite3
import time
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import feedparser
import pytest

from esr.cli.following import NOTHING_NEW
from esr.following.alerts import saved_searches
from esr.following.alerts import watch as watching
from tests.cli.conftest import Esr
from tests.support.elasticsearch import document, load
from tests.support.processes import ForkedProcess, run_esr
from tests.support.runs import rounds


@pytest.fixture
def news(esr: Esr, tmp_path: Path) -> Path:
    lines = [
        {"id": "a", "date": "2017-01-05", "text": "A storm came. It rained."},
        {"id": "b", "date": "2017-01-07T20:00:00Z", "text": "The storm went on. The storm was loud."},
        {"id": "c", "text": "A storm once."},
    ]
    source = tmp_path / "news.jsonl"
    source.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert esr("load", source, "--index", tmp_path / "news").exit_code == 0
    return tmp_path / "news"


def test_text_has_a_bar_for_each_period_and_the_central_sentence_of_a_peak(esr: Esr, news: Path) -> None:
    lines = esr("timeline", "storm", "--index", news, "--peaks", 1).stdout.splitlines()
    assert lines[0] == "storm"
    assert [line.split(maxsplit=1)[:2] for line in lines[1:4]] == [
        ["2017-01-05", f"1  {'█' * 20}"],
        ["2017-01-06", "no articles"],
        ["2017-01-07", f"2  {'█' * 40}"],
    ]
    assert [line.count("█") for line in lines[1:4]] == [20, 0, 40]
    assert lines[4] == "3 sentences with all words, 1 without a date"
    assert lines[6].startswith("2017-01-07  2: The storm w") and "(b.s" in lines[6]


def test_a_run_of_empty_periods_is_one_line(esr: Esr, tmp_path: Path) -> None:
    source = tmp_path / "news.jsonl"
    dates = ["2017-01-01", "2017-01-03", "2017-02-01"]
    lines = (json.dumps({"id": date, "date": date, "text": "A storm."}) for date in dates)
    source.write_text("\n".join(lines))
    esr("load", source, "--index", tmp_path / "index")
    shown = esr("timeline", "storm", "--interval", "day", "--index", tmp_path / "index").stdout.splitlines()
    assert [line.partition("  ")[0] for line in shown[1:6]] == [
        "2017-01-01",
        "2017-01-02",
        "2017-01-03",
        "2017-01-04 to 2017-01-31: no articles",
        "2017-02-01",
    ]


def test_json_and_csv_have_the_same_counts(esr: Esr, news: Path) -> None:
    options = ["storm", "rain", "--index", news, "--interval", "day"]
    data = json.loads(esr("timeline", *options, "--format", "json").stdout)
    rows = list(csv.DictReader(io.StringIO(esr("timeline", *options, "--format", "csv").stdout)))
    assert [series["query"] for series in data["series"]] == ["storm", "rain"]
    assert data["series"][1]["counts"] == [1, 0, 0]
    assert data["series"][1]["rates"] == [500_000.0, None, 0.0]
    assert [row["per_million"] for row in rows[3:]] == ["500000.000", "", "0.000"]
    for series in data["series"]:
        of_query = [row for row in rows if row["query"] == series["query"]]
        assert [row["period"] for row in of_query] == data["periods"]
        assert [int(row["count"]) for row in of_query] == series["counts"]
        assert [int(row["sentences"]) for row in of_query] == data["sentences"]


def test_rates_are_shown_in_text_and_charts_alone(esr: Esr, esr_error: Esr, news: Path) -> None:
    lines = esr("timeline", "rain", "--index", news, "--rate").stdout.splitlines()
    assert lines[1].split()[:2] == ["2017-01-05", "500000.0"]
    line = esr_error("timeline", "rain", "--index", news, "--rate", "--format", "csv")
    assert line == "--rate is for text and svg: --format csv has rates and counts"
    svg = ElementTree.fromstring(esr("timeline", "rain", "--index", news, "--rate", "--format", "svg").stdout)
    texts = [element.text for element in svg.iter() if element.tag.endswith("text")]
    assert {"rain", "500,000", "5 Jan 2017"} <= {*texts}


SEARCHES = """
[storms]
query = "storm -calm"

[x-org]
query = "flood OR storm"
source = "x.org"
from = 2017-01-01
ranking = {model = "bm25"}
"""


@pytest.fixture
def searches(tmp_path: Path) -> Path:
    path = tmp_path / "searches.toml"
    path.write_text(SEARCHES)
    return path


def add(where: str, *names: str, text: str = "A storm.") -> None:
    documents = [document(name, text, source="x.org", date="2017-03-05") for name in names]
    load(where, documents, if_exists="append")


def tell(esr: Esr, searches: Path, where: str, *options: object) -> list[tuple[str, str]]:
    """What a run tells: names of searches and ids of sentences."""
    result = esr("watch", searches, "--index", where, *options)
    assert result.exit_code == (0 if result.stdout else NOTHING_NEW), result.output
    return [(line["search"], line["sentence_id"]) for line in map(json.loads, result.stdout.splitlines())]


@pytest.mark.slow
def test_each_run_tells_what_came_since_the_last(esr: Esr, anywhere: str, searches: Path) -> None:
    load(anywhere, [document("old", "A storm.", source="x.org", date="2017-01-01")])
    assert tell(esr, searches, anywhere) == []
    assert tell(esr, searches, anywhere) == []
    add(anywhere, "a", "b")
    add(anywhere, "c", text="A flood.")
    told = tell(esr, searches, anywhere)
    assert sorted(told) == sorted(
        [("storms", "a.s0"), ("storms", "b.s0"), *(("x-org", f"{name}.s0") for name in "abc")]
    )
    assert tell(esr, searches, anywhere) == []
    load(anywhere, [document("a", "A storm."), document("d", "The storm.")], if_exists="replace")
    assert tell(esr, searches, anywhere) == [("storms", "d.s0")]


ALONE: dict[str, Any] = {"folded": [], "passage": [], "more": 0, "reason": None}
"""What a hit of a list has further, if it stands alone."""


@pytest.mark.slow
def test_a_line_has_the_sentence_and_its_score(esr: Esr, tmp_path: Path, searches: Path) -> None:
    where = str(tmp_path / "index")
    load(where, [document("a", "Storm.", "storm storm", "wind", source="x.org", date="2017-03-05")])
    lines = esr("watch", searches, "--index", where, "--from-start").stdout.splitlines()
    hits = [hit for hit in map(json.loads, lines) if hit["search"] == "x-org"]
    options = ["--index", where, "--model", "bm25", "--no-fold", "--no-passages", "--json"]
    ranked = json.loads(esr("search", "storm", *options).stdout)["hits"]
    scores = {hit["sentence_id"]: hit for hit in ranked}
    assert len(hits) == 2
    for hit in hits:
        assert hit.pop("search") and {**hit, **ALONE} == scores[hit["sentence_id"]]


@pytest.mark.slow
def test_a_changed_query_is_a_new_search(esr: Esr, tmp_path: Path, searches: Path) -> None:
    where = str(tmp_path / "index")
    load(where, [document("a", "A storm."), document("b", "A flood.")])
    assert tell(esr, searches, where, "--from-start") == [("storms", "a.s0")]
    searches.write_text('[storms]\nquery = "flood"\n')
    first = esr("watch", searches, "--index", where)
    assert not first.stdout and first.stderr.startswith("new: storms; later runs report what comes after")
    assert not esr("watch", searches, "--index", where).stderr
    add(where, "c", text="A flood.")
    assert tell(esr, searches, where) == [("storms", "c.s0")]


OLD_FILTERS = {
    "of this search": "Filters(date_from=1483228800000, date_to=None, sources=('x.org',), documents=(), "
    "entities=(), attributes=(HasAttribute(names=('author',), values=('Ann',)),))",
    "without fields that came later": "Filters(date_from=1483228800000, sources=('x.org',), "
    "attributes=(HasAttribute(names=('author',), values=('Ann',)),))",
    "that nobody can read": "Filters(date_from=1483228800000, sources=('x.org',), nosuch=<object at 0x1>)",
}
FILTERED = '[storms]\nquery = "storm"\nfrom = "2017"\nsource = "x.org"\nauthor = "Ann"\n'


def store_definition(state: Path, search: str, definition: object) -> None:
    with sqlite3.connect(state) as db:
        changed = db.execute(
            "UPDATE search SET definition = ? WHERE name = ?", (json.dumps(definition), search)
        )
        assert changed.rowcount == 1
    db.close()


@pytest.mark.slow
@pytest.mark.parametrize("filters", OLD_FILTERS.values(), ids=OLD_FILTERS)
def test_a_state_of_an_older_version_swallows_no_news(
    esr: Esr, tmp_path: Path, searches: Path, filters: str
) -> None:
    where = str(tmp_path / "index")
    searches.write_text(FILTERED)
    stormy = {"source": "x.org", "date": "2017-03-05", "authors": ("Ann",)}
    load(where, [document("old", "A storm.", **stormy)])
    assert tell(esr, searches, where) == []
    store_definition(searches.with_name(f"{searches.name}.state"), "storms", ["storm", "storm", filters])
    load(where, [document("new", "A storm.", **stormy)], if_exists="append")
    assert tell(esr, searches, where) == [("storms", "new.s0")]
    assert tell(esr, searches, where) == []


@pytest.mark.slow
def test_a_state_of_an_older_version_knows_a_changed_search(esr: Esr, tmp_path: Path, searches: Path) -> None:
    where = str(tmp_path / "index")
    searches.write_text('[storms]\nquery = "storm"\nsource = "y.org"\n')
    load(where, [document("a", "A storm.", source="x.org"), document("b", "A storm.", source="y.org")])
    esr("watch", searches, "--index", where)
    store_definition(
        searches.with_name(f"{searches.name}.state"),
        "storms",
        ["storm", "storm", "Filters(sources=('x.org',))"],
    )
    assert "new: storms" in esr("watch", searches, "--index", where).stderr


def test_the_order_of_values_and_the_spelling_of_dates_are_no_new_search(tmp_path: Path) -> None:
    path = tmp_path / "searches.toml"
    path.write_text(
        '[a]\nquery = "storm"\nsource = ["x", "y"]\nfrom = "2017-01"\nmeta = ["desk=B", "desk=A"]\n'
        '[b]\nquery = "storm"\nsource = ["y", "x", "y"]\nfrom = 2017-01-01\nmeta = ["desk=A", "desk=B"]\n'
        '[c]\nquery = "storm"\nsource = "y"\nfrom = 2017-01-01\n[d]\nquery = "storm"\nliteral = true\n'
        '[e]\nquery = "storm"\n'
    )
    a, b, c, d, e = saved_searches.read_searches(path)
    assert a.definition() == b.definition() and b.has_definition(a.definition())
    assert not c.has_definition(a.definition()) and not e.has_definition(d.definition())
    assert json.loads(a.definition())["version"] == 1
    newer = json.dumps({"version": 2, "query": "storm", "anything": "else"})
    assert e.has_definition(newer) and not e.has_definition(newer.replace("storm", "flood"))


@pytest.mark.slow
def test_a_file_and_feeds_have_each_sentence_once(esr: Esr, tmp_path: Path, searches: Path) -> None:
    where, out, feeds = str(tmp_path / "index"), tmp_path / "news.jsonl", tmp_path / "feeds"
    load(where, [document("old", "A storm.")])
    options = [searches, "--index", where, "--output", out, "--feeds", feeds]
    assert esr("watch", *options).exit_code == NOTHING_NEW
    add(where, "a")
    assert esr("watch", *options).exit_code == 0
    add(where, "b")
    assert esr("watch", *options).exit_code == 0
    assert esr("watch", *options).exit_code == NOTHING_NEW
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert Counter(line["sentence_id"] for line in lines) == {"a.s0": 2, "b.s0": 2}
    for name in ("storms", "x-org"):
        feed = feedparser.parse((feeds / f"{name}.atom").read_bytes())
        assert not feed.bozo and [entry.title for entry in feed.entries] == ["b", "a"]
    out.unlink()  # as log rotation does
    add(where, "c")
    assert esr("watch", *options).exit_code == 0
    assert {json.loads(line)["sentence_id"] for line in out.read_text().splitlines()} == {"c.s0"}


@pytest.mark.slow
@pytest.mark.parametrize("step", ["_read_hits", "_note", "write_feeds"])
def test_a_run_that_dies_at_any_step_is_made_good(
    esr: Esr, tmp_path: Path, searches: Path, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    where, out = str(tmp_path / "index"), tmp_path / "news.jsonl"
    load(where, [document("old", "A storm.")])
    options = [searches, "--index", where, "--output", out, "--feeds", tmp_path / "feeds"]
    esr("watch", *options)
    add(where, "a")
    for failing in range(3):
        calls = iter([None] * failing)
        real = getattr(watching, step)

        def die(*args: Any, calls: Any = calls, real: Any = real) -> Any:
            next(calls)  # StopIteration once there are no more
            return real(*args)

        with monkeypatch.context() as patch, pytest.raises(StopIteration):
            patch.setattr(watching, step, die)
            patch.setattr(
                "esr.cli.following.write_feeds", die if step == "write_feeds" else watching.write_feeds
            )
            esr("watch", *options)
            raise StopIteration  # the run had fewer steps than that
    esr("watch", *options)
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert Counter(line["sentence_id"] for line in lines) == {"a.s0": 2}
    assert len(feedparser.parse((tmp_path / "feeds" / "storms.atom").read_bytes()).entries) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no search"),
        ("[a", "not TOML"),
        ("a = 1", "[a]: a search is a table"),
        ("['a/b']\nquery='x'", "[a/b]: a name has letters"),
        ("[a]\nquary='x'", "[a]: unknown key 'quary': did you mean 'query'?"),
        ("[a]\nliteral=true", "[a]: the query is missing"),
        ("[a]\nquery='x'\nfrom='soon'", "[a]: from is a date"),
        ("[a]\nquery='x'\nsource=3", "[a]: source must be a text or a list"),
        ("[a]\nquery='x'\nranking={model='nope'}", "[a]: unknown model 'nope'"),
        ("[a]\nquery='the'", "[a]: the query has only stop words"),
    ],
)
def test_what_is_wrong_with_the_file_is_said(
    esr_error: Esr, esr: Esr, tmp_path: Path, text: str, message: str
) -> None:
    where = str(tmp_path / "index")
    load(where, [document("a", "A storm.")])
    path = tmp_path / "searches.toml"
    path.write_text(text)
    assert message in esr_error("watch", path, "--index", where)


@pytest.mark.slow
@pytest.mark.parametrize("bad", ["query='the'", "query='storm'\nranking={rerank=[{signal='meaning'}]}"])
def test_a_search_that_fails_does_not_keep_the_others_from_telling(
    esr: Esr, tmp_path: Path, bad: str
) -> None:
    where, path = str(tmp_path / "index"), tmp_path / "searches.toml"
    load(where, [document("a", "A storm.")])
    path.write_text(f"[bad]\n{bad}\n[good]\nquery='storm'\n")
    result = esr("watch", path, "--index", where, "--from-start")
    assert result.exit_code == 1 and json.loads(result.stdout)["search"] == "good"


@pytest.mark.slow
def test_the_lines_are_never_written_into_the_searches(
    esr_error: Esr, tmp_path: Path, searches: Path
) -> None:
    line = esr_error("watch", searches, "--index", tmp_path / "index", "--output", searches)
    assert f"{searches} is an input of this command" in str(line)
    assert searches.read_text() == SEARCHES


@pytest.mark.slow
def test_two_runs_at_once_are_refused(esr: Esr, tmp_path: Path, searches: Path) -> None:
    from esr.following.alerts.watch_state import WatchState

    where = str(tmp_path / "index")
    load(where, [document("a", "A storm.")])
    with WatchState(tmp_path / "searches.toml.state"):
        result = esr("watch", searches, "--index", where)
    assert result.exit_code == 75 and "another esr watch" in result.stderr


@pytest.mark.slow
@pytest.mark.endurance
def test_killed_at_random_again_and_again_each_sentence_is_told_once(
    anywhere: str, tmp_path: Path, searches: Path
) -> None:
    rng, out, feeds = random.Random(20), tmp_path / "news.jsonl", tmp_path / "feeds"
    load(anywhere, [document("old", "A storm.", source="x.org", date="2017-01-01")])
    command = ["watch", searches, "--index", anywhere, "--output", out, "--feeds", feeds]
    started = time.monotonic()
    assert ForkedProcess(run_esr, command).wait() == NOTHING_NEW
    seconds = time.monotonic() - started
    killed, n = 0, 0
    while killed < rounds(20):
        add(anywhere, *(f"n{n + i}" for i in range(50)))
        n += 50
        process = ForkedProcess(run_esr, command)
        time.sleep(rng.uniform(0, 1.05) * seconds)
        killed += process.is_running
        process.kill()
    assert ForkedProcess(run_esr, command).wait() in (0, NOTHING_NEW)
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert Counter((line["search"], line["sentence_id"]) for line in lines) == {
        (search, f"n{i}.s0"): 1 for search in ("storms", "x-org") for i in range(n)
    }
    assert len(feedparser.parse((feeds / "storms.atom").read_bytes()).entries) == min(n, 1000)
