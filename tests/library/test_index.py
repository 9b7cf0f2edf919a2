"""The Python API on both engines: make an index, search it, ask more of its hits, change it."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

import esr
from esr.elastic.login import Login
from esr.index.login_variables import use_login
from esr.library.public_index import read_login
from esr.ranking.searcher import open_searcher
from tests.support.elasticsearch import fresh
from tests.support.index_contents import ENGINES
from tests.support.runs import need

pytestmark = pytest.mark.slow

ROWS: list[dict[str, Any]] = [
    {
        "id": "a1",
        "title": "Floods in the north",
        "date": "2024-03-05",
        "source": "Northern Wire",
        "url": "https://northern.example/a1",
        "text": "Rivers rose on Monday. Two towns were cut off. The flood fell on Friday.",
        "desk": "Berlin",
    },
    {
        "id": "a2",
        "title": "After the flood",
        "date": "2024-05-01",
        "source": "Harbour Courier",
        "text": "The flood cost millions. Rivers are calm again.",
    },
    {"id": "a3", "text": "A storm came. The flood of complaints rose."},
]


@pytest.fixture(scope="module", params=ENGINES)
def index(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[esr.Index]:
    """An index of ROWS, which no test changes."""
    with place(request, tmp_path_factory.mktemp("library")) as where, esr.create(where, ROWS) as created:
        yield created


@pytest.fixture(params=ENGINES)
def where(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A location without an index."""
    with place(request, tmp_path) as where:
        yield where


class _Folder(NamedTuple):
    path: str

    def __enter__(self) -> str:
        return self.path

    def __exit__(self, *_: object) -> None: ...


def place(request: pytest.FixtureRequest, folder: Path) -> Any:
    """A location on the engine of the fixture's parameter, in a context that removes what is there."""
    if request.param == "embedded":
        return _Folder(str(folder / "news"))
    return fresh(request.getfixturevalue("elasticsearch_url"))


def test_hits_have_what_the_documents_say(index: esr.Index) -> None:
    hit = index.search("flood fell", k=1)[0]
    assert (hit.id, hit.document_id, hit.position, hit.rank) == ("a1.s2", "a1", 2, 1)
    assert hit.text == "The flood fell on Friday." and hit.previous == "Two towns were cut off."
    assert (hit.title, hit.date, hit.source) == ("Floods in the north", "2024-03-05", "Northern Wire")
    assert hit.url == "https://northern.example/a1" and hit.next is None
    assert hit.document().metadata == {"desk": "Berlin"}
    assert [hit.text[start:end] for start, end in hit.marks] == ["flood", "fell"]
    assert hit.as_dict()["sentence_id"] == "a1.s2"


def test_the_hits_are_those_of_the_searcher(index: esr.Index) -> None:
    answer = index.searcher.search("flood rivers", 5, model="2si", params={"mu": 50})
    hits = index.search("flood rivers", k=5, model="2si", mu=50)
    assert [(hit.id, hit.score) for hit in hits] == [(hit.sentence_id, hit.score) for hit in answer.hits]
    assert hits.total == answer.total > len(hits[:2]) == 2


@pytest.mark.parametrize(
    ("options", "documents"),
    [
        ({"source": "northern wire"}, {"a1"}),
        ({"source": ["Northern Wire", "Harbour Courier"]}, {"a1", "a2"}),
        ({"after": "2024-04"}, {"a2"}),
        ({"after": date(2024, 3, 5), "before": "2024-05-01"}, {"a1"}),
        ({"before": "2024-06"}, {"a1", "a2"}),
        ({"meta": {"desk": "berlin"}}, {"a1"}),
        ({"meta": "desk=Berlin"}, {"a1"}),
        ({"document": "a3", "source": None}, {"a3"}),
    ],
)
def test_filters_are_keywords(index: esr.Index, options: dict[str, Any], documents: set[str]) -> None:
    assert {hit.document_id for hit in index.search("flood", 20, **options)} == documents


def test_a_window_has_the_sentences_around_a_hit(index: esr.Index) -> None:
    hit = index.search("towns", k=1)[0]
    assert hit.text == "Two towns were cut off."
    assert hit.window(0) == [hit.text]
    assert hit.window() == ["Rivers rose on Monday.", hit.text, "The flood fell on Friday."] == hit.window(9)


def test_facets_count_all_sentences_and_leave_out_the_filter_of_their_field(index: esr.Index) -> None:
    hits = index.search("flood", k=1, source="Northern Wire")
    assert hits.facets("source") == {"source": {"Harbour Courier": 1, "Northern Wire": 1}}
    assert hits.facets("month", "meta.desk") == {"month": {"2024-03": 1}, "meta.desk": {"Berlin": 1}}


def test_an_explanation_adds_up_to_the_score(index: esr.Index) -> None:
    hits = index.search("flood rivers", k=2, prior="length:0.5")
    for explanation in (hits.explain(0), hits.explain(hits[0]), hits.explain(hits[0].id), hits[0].explain()):
        assert explanation.score == pytest.approx(hits[0].score, rel=1e-6)


def test_a_batch_is_as_single_searches_and_reads_texts_when_they_are_asked_for(index: esr.Index) -> None:
    alone = [index.search(query, 2) for query in ("flood", "storm")]
    together = index.batch(["flood", "storm", "!"], 2)
    assert [[(hit.id, hit.score, hit.text) for hit in hits] for hits in together] == [
        *([(hit.id, hit.score, hit.text) for hit in hits] for hits in alone),
        [],
    ]
    assert together[2].incomplete == "the query has no words: give at least one word to search for"


def test_newest_novel_and_similar_are_those_of_the_command_line(index: esr.Index) -> None:
    assert [hit.id for hit in index.newest("flood")] == ["a2.s0", "a1.s2", "a3.s1"]
    assert [hit.id for hit in index.novel("flood")] == ["a1.s2", "a2.s0", "a3.s1"]
    first = index.search("rivers rose", k=1)[0]
    assert [hit.document_id for hit in index.similar(first, 2)] == ["a2", "a3"]
    assert index.similar(first.id, 2)[0] == index.similar(first, 2)[0]


def test_a_timeline_counts_the_sentences_of_each_period(index: esr.Index) -> None:
    timeline = index.timeline("flood", "rivers", interval="month")
    assert timeline.periods == ["2024-03", "2024-04", "2024-05"]
    assert [series.counts for series in timeline.series] == [[1, 0, 1], [1, 0, 1]]


def test_documents_change_in_steps_that_can_be_taken_back(where: str) -> None:
    with esr.create(where, ROWS) as index:
        report = index.append([{"id": "a4", "text": "A fourth flood."}, ROWS[0]])
        assert (report.added, report.unchanged) == (1, 1)
        assert index.search("fourth")[0].document_id == "a4"
        assert index.remove(["a4", "a9"]).missing == ["a9"]
        assert index.stats()["documents"] == 3 == len(list(index.documents()))
        index.rollback()
        assert index.document("a4").sentences[0].text == "A fourth flood."
        assert [generation.state for generation in index.generations()] == ["kept", "serving"]


@pytest.mark.parametrize("by", [None, "year"])
def test_documents_are_removed_by_a_query_or_their_age(where: str, by: str | None) -> None:
    rows = [
        {"id": f"y{year}", "date": f"{year}-03-04", "text": "A flood. It rose."}
        for year in (2014, 2016, 2018)
    ]
    rows += [
        {"id": "undated", "text": "A flood."},
        {"id": "empty", "date": "2016", "sentences": []},
        {"id": "first", "date": "2017", "text": "A flood."},
        {"id": "last", "date": "2016-12-31T23:59:59.999Z", "text": "A flood."},
    ]
    with esr.create(where, rows, by=by) as index:
        assert index.remove(query="flood", before="2015").removed == 1
        assert index.remove(before="2017").removed == 3
        assert {document.id for document in index.documents()} == {"y2018", "undated", "first"}
        with pytest.raises(esr.UsageError, match="by ids, or by query and before"):
            index.remove(["y2018"], query="flood")
        assert index.remove([]).removed == 0
        with pytest.raises(esr.UsageError, match="nothing says which documents to remove"):
            index.remove()


def test_an_append_in_another_language_is_noted(where: str) -> None:
    with esr.create(where, ROWS, analyzer="english-stem") as index:
        report = index.append([{"id": "d1", "language": "de", "text": "Ein Sturm zog auf."}])
        expected = "1 document is in a language that the analyzer english-stem is not made for: de 1"
        assert any(note.startswith(expected) for note in report.notes)
        changed = index.append([{"id": "d1", "language": "de", "text": "Ein Sturm zieht auf."}])
        assert (changed.changed, changed.notes[1:]) == (1, []), "it was told of when it was added"


def test_an_index_is_not_replaced_unless_that_is_asked_for(where: str) -> None:
    esr.create(where, ROWS).close()
    with pytest.raises(esr.UsageError, match="use if_exists replace or if_exists append"):
        esr.create(where, ROWS)
    with esr.create(where, ROWS[:1], if_exists="replace") as index:
        assert index.stats()["documents"] == 1


def test_a_closed_index_says_so_and_its_answers_stay(index: esr.Index) -> None:
    with esr.open(index.where) as other:
        hits = other.search("flood")
    with pytest.raises(esr.IndexClosed):
        other.search("flood")
    assert hits[0].text


# Rows


@dataclass
class Article:
    id: str
    text: str
    date: date


class Named(NamedTuple):
    id: str
    text: str


class Struct(msgspec.Struct):
    id: str
    text: str


@pytest.mark.parametrize(
    "row",
    [
        {"id": "r", "text": "A row."},
        {"_id": "r", "body": "A row."},
        Article("r", "A row.", date(2024, 3, 5)),
        Named("r", "A row."),
        Struct("r", "A row."),
    ],
    ids=lambda row: type(row).__name__,
)
def test_rows_are_mappings_or_objects_with_fields(tmp_path: Path, row: object) -> None:
    with esr.create(tmp_path / "news", (each for each in [row])) as index:
        assert index.document("r").sentences[0].text == "A row."
        assert index.search("row")[0].date == ("2024-03-05" if isinstance(row, Article) else None)


def test_documents_of_an_index_are_rows_of_another(tmp_path: Path) -> None:
    with (
        esr.create(tmp_path / "news", ROWS) as index,
        esr.create(tmp_path / "copy", index.documents()) as copy,
    ):
        assert list(copy.documents()) == list(index.documents())


@pytest.mark.parametrize(
    ("rows", "error"),
    [
        ([{"id": "x", "text": "A."}, {"id": "y", "text": 7}], "rows:2: document 'y': text must be a string"),
        (
            [{"id": "x", "text": "A."}, 7],
            "rows:2: not a row: a row is a mapping or an object",
        ),
        ([{"id": 10**5000, "text": "A."}], "rows:1: a number has too many digits"),
        ([{"id": "x", "text": "A.", "counts": [10**5000]}], "rows:1: a number has too many digits"),
        ({"id": "x"}, "or a generator of rows, not dict"),
        (7, "not int; files are read by esr.load"),
    ],
)
def test_bad_rows_are_named_and_nothing_is_left(tmp_path: Path, rows: Any, error: str) -> None:
    with pytest.raises(esr.EsrError, match=error):
        esr.create(tmp_path / "news", rows)
    with pytest.raises(esr.IndexMissing):
        esr.open(tmp_path / "news")


def test_errors_and_notes_name_keywords_and_not_options_of_the_command_line(tmp_path: Path) -> None:
    twice = [{"id": "x", "text": "A storm."}, {"id": "x", "text": "A flood."}]
    with pytest.raises(esr.InputError, match=r"\(same_id last loads the last one"):
        esr.create(tmp_path / "news", twice)
    with esr.create(tmp_path / "news", [{"id": "x", "headline": "Storm", "text": "A storm."}]) as index:
        assert index.report is not None
        assert any("(mapping chooses others)" in note for note in index.report.notes)
        assert not any("--" in note for note in index.report.notes)


def test_options_for_reading_are_those_of_the_command_line(tmp_path: Path) -> None:
    rows = [{"key": "x", "copy": "A first. Text.", "written": "05/03/2024"}, {"copy": "Two."}]
    bad = tmp_path / "bad.jsonl"
    options: Any = {"mapping": {"id": "key", "text": "copy", "date": "written"}, "day_first": True}
    with esr.create(
        tmp_path / "news", rows, **options, set={"source": "Wire", "meta.desk": "Berlin"}, bad_documents=bad
    ) as index:
        document = index.document("x")
        assert (document.date, document.source, document.metadata["desk"]) == ("2024-03-05", "Wire", "Berlin")
        assert index.report is not None and index.report.documents == 1
        assert any("malformed" in note for note in index.report.notes)
    assert "rows:2" in bad.read_text()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda index: index.search("flood", sorce="x"), "unknown option 'sorce': did you mean 'source'"),
        (lambda index: index.search("flood", model="2sj"), "unknown model '2sj': did you mean '2s'"),
        (lambda index: index.search("flood", k1=1.0), "unknown parameter of 2si 'k1'"),
        (lambda index: index.search("flood", require="any"), "require is 'all' or None, not 'any'"),
        (lambda index: index.search("flood", after="soon"), "filter 'after' is a date such as"),
        (lambda index: index.search("flood", prior=7), "prior is a text such as NAME:WEIGHT"),
        (lambda index: index.append([], if_exists="fail"), "unknown option 'if_exists'"),
        (lambda index: index.remove("a1"), "ids are several"),
        (lambda index: index.search("flood", feature="len"), "^feature must be NAME:FORM"),
        (lambda index: index.batch("flood"), "queries are several texts"),
        (lambda index: index.batch({"1": "flood"}), "queries are several texts"),
        (lambda index: index.similar(None), "a sentence is a hit or the id of a sentence, not None"),
        (lambda index: index.timeline(), "a timeline needs a query"),
        (lambda index: index.timeline("flood", interval="hour"), "unknown interval 'hour'"),
        (lambda index: index.search("flood").facets(), "name the fields to count"),
        (lambda index: index.search("flood").facets("sauce"), "unknown"),
    ],
)
def test_a_wrong_call_is_told_what_is_wrong(tmp_path: Path, call: Any, message: str) -> None:
    with esr.create(tmp_path / "news", ROWS) as index, pytest.raises(esr.UsageError, match=message):
        call(index)


def test_an_index_has_what_the_command_line_loads(tmp_path: Path) -> None:
    with esr.load(tmp_path / "news", Path("examples/articles.jsonl")) as index:
        assert index.report is not None and index.report.documents == 12
        assert "english" in index.report.analyzer
    with open_searcher(tmp_path / "news") as searcher:
        assert searcher.search("earthquake").total


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_data_frames_are_rows_and_hits_are_data_frames(tmp_path: Path, library: str) -> None:
    need(library)
    dates = [datetime(2024, 3, 5, 10), None]
    columns = {"id": ["a", "b"], "text": ["A flood.", "A storm."], "date": dates, "words": [2, None]}
    frames = importlib.import_module(library)
    frame = frames.table(columns) if library == "pyarrow" else frames.DataFrame(columns)
    with esr.create(tmp_path / "news", frame) as index:
        assert index.document("a").date == "2024-03-05T10:00:00" and index.document("b").date is None
        assert float(index.document("a").metadata["words"]) == 2 and not index.document("b").metadata
        hits = index.search("flood storm")
        made = hits.to_polars().to_dicts() if library == "polars" else hits.as_dicts()
        if library == "pandas":
            made = hits.to_pandas().to_dict("records")
        assert [row["text"] for row in made] == [hit.text for hit in hits]
        assert [row["score"] for row in made] == [hit.score for hit in hits]


def test_an_answer_in_a_notebook_is_a_table_with_marks_and_without_markup_of_texts(tmp_path: Path) -> None:
    rows = [{"id": "<b>", "url": "javascript:x", "text": "A <i>flood</i> & more.", "title": "T<script>"}]
    with esr.create(tmp_path / "news", rows) as index:
        shown = index.search("flood")._repr_html_()
    assert "A &lt;i&gt;<mark>flood</mark>&lt;/i&gt; &amp; more." in shown
    assert "T&lt;script&gt;" in shown and "javascript" not in shown


def test_repeats_are_folded_if_that_is_asked_for(tmp_path: Path) -> None:
    text = "The river Example rose by nine metres on Monday and cut off two towns in the north."
    rows = [{"id": f"d{n}", "text": text} for n in range(3)]
    with esr.create(tmp_path / "news", rows) as index:
        assert len(index.search("river")) == 3
        (hit,) = index.search("river", fold=True)
    assert [other.id for other in hit.folded] == ["d1.s0", "d2.s0"] and hit.folded[0].text == text


def test_features_and_names_are_computed_by_enrich(tmp_path: Path) -> None:
    need("spacy")
    with esr.create(tmp_path / "news", ROWS) as index:
        report = index.enrich("features", subjectivity=None)
        assert report.documents == 3 and index.enrich("features").already == 3
        assert index.search("flood", feature="len:log:0.1")[0].features
        with pytest.raises(esr.UsageError, match="unknown part 'names'"):
            index.enrich("names")  # type: ignore[arg-type]


def test_the_login_of_a_call_replaces_that_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ESR_USER", "reader")
    monkeypatch.setenv("ESR_PASSWORD", "secret")
    with use_login(read_login({"api_key": "key", "insecure": True})):
        given = Login.resolve(None)
    assert (given.api_key, given.basic_auth, given.insecure) == ("key", None, True)
    assert Login.resolve(None).basic_auth == ("reader", "secret")
    with pytest.raises(esr.UsageError, match="unknown option 'apikey': did you mean 'api_key'"):
        esr.open("http://localhost:1/news", apikey="key")  # type: ignore[call-arg]
