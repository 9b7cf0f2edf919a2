"""A data set of ir_datasets in place of files: its documents, queries and judgements."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import esr
from esr.errors import InputError, UsageError
from esr.lab.judgements import read_qrels
from esr.topics.topic import Topic
from esr.topics.topic_files import read_topics
from tests.cli.conftest import call
from tests.support.runs import need

pytestmark = pytest.mark.slow

NAME = "ir_datasets:esr-test"

LINES = (Path(__file__).parents[2] / "examples" / "articles.jsonl").read_text("utf-8").splitlines()
ARTICLES = [article for article in map(json.loads, LINES) if "text" in article]
QUERIES = {"1": "earthquake relief", "2": "harbour strike", "3": "the"}
GRADES = {"1": {ARTICLES[0]["id"]: 2, ARTICLES[1]["id"]: 0}, "2": {ARTICLES[2]["id"]: 1}}


class Article(NamedTuple):
    doc_id: str
    title: str
    body: str
    published: str
    source: str

    def default_text(self) -> str:
        return self.body


@pytest.fixture(autouse=True)
def registered() -> None:
    """Two data sets, of which one ends after a document."""
    ir_datasets, formats = need("ir_datasets"), need("ir_datasets.formats")

    class Docs(formats.BaseDocs):  # type: ignore[name-defined,misc]
        def docs_iter(self) -> Iterator[Article]:
            for a in ARTICLES:
                yield Article(a["id"], a["title"], a["text"], a["date"], a["source"])

    class Queries(formats.BaseQueries):  # type: ignore[name-defined,misc]
        def queries_iter(self) -> Iterator[Any]:
            for id, text in QUERIES.items():
                yield formats.TrecQuery(id, text, f"What of {text}?", "All of it.")

    class Qrels(formats.BaseQrels):  # type: ignore[name-defined,misc]
        def qrels_iter(self) -> Iterator[Any]:
            for topic, grades in GRADES.items():
                for document, grade in grades.items():
                    yield formats.TrecQrel(topic, document, grade, "0")

    class Broken(formats.BaseDocs):  # type: ignore[name-defined,misc]
        def docs_iter(self) -> Iterator[Article]:
            yield next(Docs().docs_iter())
            raise OSError("the server\ndid not answer")

    sets = {
        "esr-test": ir_datasets.Dataset(Docs(), Queries(), Qrels()),
        "esr-test/broken": ir_datasets.Dataset(Broken()),
    }
    for name, dataset in sets.items():
        if name not in ir_datasets.registry:
            ir_datasets.registry.register(name, dataset)


def test_the_documents_of_a_data_set_are_those_of_the_same_file(tmp_path: Path) -> None:
    names = ("id", "title", "text", "date", "source")
    lines = [json.dumps({name: article[name] for name in names}) + "\n" for article in ARTICLES]
    (tmp_path / "articles.jsonl").write_text("".join(lines))
    for source, index in ((NAME, "a"), (tmp_path / "articles.jsonl", "b")):
        result = call("load", source, "--index", tmp_path / index)
        assert result.exit_code == 0, result.output
    with esr.open(tmp_path / "a") as loaded, esr.open(tmp_path / "b") as expected:
        assert [*loaded.documents()] == [*expected.documents()]


def test_the_queries_of_a_data_set_are_topics() -> None:
    assert read_topics(NAME) == [
        Topic(id, {"title": text, "desc": f"What of {text}?", "narr": "All of it."})
        for id, text in QUERIES.items()
    ]


def test_the_judgements_of_a_data_set_are_read() -> None:
    assert read_qrels(NAME) == GRADES


def test_documents_are_ranked_and_evaluated_by_their_best_sentences(tmp_path: Path) -> None:
    index, run = tmp_path / "index", tmp_path / "out.run"
    assert call("load", NAME, "--index", index).exit_code == 0
    result = call("run", NAME, "--index", index, "--unit", "document", "-k", 3, "-o", run)
    assert result.exit_code == 0, result.output
    assert "skipped: topic 3: the query has only stop words" in result.stderr
    lines = [line.split() for line in run.read_text().splitlines()]
    with esr.open(index) as opened:
        for id in ("1", "2"):
            best: dict[str, float] = {}
            for hit in opened.search(QUERIES[id], 10_000):
                best.setdefault(hit.document_id, hit.score)
            assert [(d, float(score)) for q, _, d, _, score, _ in lines if q == id] == [*best.items()][:3]
    printed = call("evaluate", NAME, run, "-m", "RR", "--json")
    assert printed.exit_code == 0, printed.output
    assert '"RR"' in printed.stdout


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("esr-tset", "qrels", "ir_datasets has no data set 'esr-tset': did you mean ir_datasets:esr-test?"),
        ("esr-test/broken", "qrels", "ir_datasets:esr-test/broken has no qrels: it has docs"),
    ],
)
def test_a_data_set_that_is_not_there_is_named(name: str, kind: str, message: str) -> None:
    with pytest.raises(UsageError) as error:
        read_qrels(f"ir_datasets:{name}")
    assert str(error.value) == message


def test_a_download_that_fails_is_one_line_and_leaves_no_index(tmp_path: Path) -> None:
    result = call("load", "ir_datasets:esr-test/broken", "--index", tmp_path / "index")
    assert result.exit_code == 1
    line = "ir_datasets:esr-test/broken:2: cannot be read: the server did not answer"
    assert line in result.stderr
    assert "Traceback" not in result.output
    with pytest.raises(InputError):
        [*esr.loaders.read_documents(["ir_datasets:esr-test/broken"])]
    assert not (tmp_path / "index").exists()
