"""What `esr query` prints is enough: sent by plain HTTP, without esr, it gives the same answer."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from esr import loaders, models, resources
from esr.cli import main
from esr.ranking.searcher import open_searcher
from esr.text.document import Document, Sentence
from tests.support.elasticsearch import counts_occurrences, document, fresh, http, load

ARTICLES = Path(__file__).resolve().parents[2] / "examples" / "articles.jsonl"
SPLITS = [
    (m.name, c) for m in models.MODELS.values() if m.second_stage is None for c in (m.contexts or (None,))
]
MIXTURES = [(m, c) for m, c in SPLITS if m in ("jm", "dir", "3mm", "2s", "2si")]
QUERIES = ["earthquake relief county", "flood flood bank", "Titleword bank"]


@pytest.fixture(scope="module", params=[1, 3], ids=["1 shard", "3 shards"])
def where(request: pytest.FixtureRequest, elasticsearch_url: str) -> Iterator[str]:
    rng = random.Random(5)
    articles = [located.document for located in loaders.read_documents([str(ARTICLES)], "auto")]
    generated = [
        document(
            f"r{n}", *(" ".join(rng.choices(["flood", "bank", "river", "stone"], k=6)) for _ in range(4))
        )
        for n in range(30)
    ]
    with fresh(elasticsearch_url) as location:
        featured = Document("f", (Sentence("f.s0", "Six earthquakes.", {"numbers": 1.0, "pers": 0.0}),))
        titled = document("t", "Bank.", title="Titleword")
        load(location, [*articles, *generated, titled, featured], shards=request.param)
        yield location


def print_query(where: str, query: str, *options: str, model: str = "2si", context: str | None = None) -> Any:
    """The body that `esr query` prints."""
    ranking = ["--model", model, *(["--context", context] if context else [])]
    result = CliRunner().invoke(main, ["query", query, "--index", where, *ranking, *options])
    if result.exit_code and "--standalone" in options and not counts_occurrences(where):
        pytest.skip("this version of Elasticsearch gives sf in place of cf over several shards")
    assert result.exit_code == 0, result.output
    return json.loads(result.output)


def answer(where: str, body: Any, search_type: str = "") -> list[dict[str, Any]]:
    hits: list[dict[str, Any]] = http("POST", f"{where}/_search{search_type}", body)["hits"]["hits"]
    return hits


@pytest.mark.parametrize("model, context", SPLITS)
def test_a_printed_query_ranks_as_esr_does(where: str, model: str, context: str | None) -> None:
    with open_searcher(where) as searcher:
        for query, prior in product(QUERIES, ("importance", "length")):
            ranking = {"model": model, "context": context, "priors": {prior: 1.0}}
            expected = searcher.search(query, 25, **ranking).hits
            actual = answer(
                where, print_query(where, query, "-k25", "--prior", prior, model=model, context=context)
            )
            assert [hit["_id"] for hit in actual] == [hit.sentence_id for hit in expected]
            assert len(actual) > 5
            assert actual[0]["_source"]["text"] == expected[0].record.text  # type: ignore[union-attr]


@pytest.mark.parametrize("options", [["--model", "tdsr"], ["--rerank", "mrf_sdm"]])
def test_a_second_stage_is_said_to_be_left_out(where: str, options: list[str]) -> None:
    result = CliRunner().invoke(main, ["query", QUERIES[0], "--index", where, *options])
    assert result.exit_code == 0, result.output
    assert "the request is the first stage only" in result.stderr
    assert json.loads(result.stdout)["query"]


@pytest.mark.parametrize("model, context", SPLITS)
def test_boosts_run_inside_the_request(where: str, model: str, context: str | None) -> None:
    boosts = {"answer_type": 1.0, "variants": 0.3, "feedback": {"w": 0.5, "terms": 5}}
    options = ["--boost", "answer_type", "--boost", "variants:0.3", "--boost", "feedback:0.5:terms=5"]
    with open_searcher(where) as searcher:
        for query in ("How many earthquakes?", "who sent relief", "flood bank"):
            hits = searcher.search(query, 25, model=model, context=context, boosts=boosts).hits
            actual = answer(where, print_query(where, query, "-k25", *options, model=model, context=context))
            assert [hit["_id"] for hit in actual] == [hit.sentence_id for hit in hits]
            plain = searcher.search(query, 25, model=model, context=context).hits
            assert [hit.score for hit in hits] != [hit.score for hit in plain]


def whole_numbers(value: Any) -> Any:
    """As JavaScript writes JSON: 30.0 is 30."""
    if isinstance(value, dict):
        return {key: whole_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [whole_numbers(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


@pytest.mark.parametrize("model, context", SPLITS)
def test_whole_numbers_do_not_become_whole_divisions(where: str, model: str, context: str | None) -> None:
    b = ["--set", "b=1"] if model == "bm25" else []
    body = print_query(
        where, "flood bank road", "-k25", "--prior", "length", *b, model=model, context=context
    )
    for clause in body["query"]["script_score"]["query"]["bool"]["should"]:
        params = clause["script_score"]["script"]["params"]
        for name in ("own", "middle", "wide"):
            if len(params[name]) == 3:
                params[name] = [params[name][0], 1.0, 7.0]  # b and a mean length that are whole
    expected, actual = answer(where, body), answer(where, whole_numbers(body))
    assert [(hit["_id"], hit["_score"]) for hit in actual] == [
        (hit["_id"], hit["_score"]) for hit in expected
    ]
    assert len({hit["_score"] for hit in actual}) > 3


@pytest.mark.parametrize("model, context", MIXTURES)
def test_a_standalone_query_needs_nothing_that_only_esr_knows(
    where: str, model: str, context: str | None
) -> None:
    with open_searcher(where) as searcher:
        for query in QUERIES:
            expected = searcher.search(query, 25, model=model, context=context).hits
            body = print_query(where, query, "-k25", "--standalone", model=model, context=context)
            for clause in body["query"]["script_score"]["query"]["bool"]["should"]:
                # It must not need what only esr knows.
                clause["script_score"]["script"]["params"]["background"] = -1
            actual = answer(where, body, "?search_type=dfs_query_then_fetch")
            assert [hit["_id"] for hit in actual] == [hit.sentence_id for hit in expected]


def test_a_standalone_query_ranks_by_other_terms_too(where: str) -> None:
    """The terms changed by hand: the query is another one, and its order is right."""
    body = json.dumps(print_query(where, "flood", "-k25", "--standalone")).replace('"flood"', '"stone"')
    actual = answer(where, body, "?search_type=dfs_query_then_fetch")
    with open_searcher(where) as searcher:
        expected = searcher.search("stone", 25).hits
    assert [hit["_id"] for hit in actual] == [hit.sentence_id for hit in expected]


def test_filters_are_printed_with_the_query(where: str) -> None:
    actual = answer(where, print_query(where, "flood", "--document", "r3"))
    assert {hit["_source"]["document_id"] for hit in actual} == {"r3"}


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["flood", "--model", "bm25", "--standalone"], "--standalone is for language models"),
        (["flood", "--standalone", "--set", "background=documents"], "leave out background=documents"),
        (["flood", "--standalone", "--boost", "variants"], "leave out --boost variants"),
        (["unseenword"], "no document contains a term of the query"),
        (["flood", "--index", "some/folder"], "no index"),
    ],
)
def test_what_cannot_be_printed_is_told(where: str, arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(main, ["query", "--index", where, *arguments])
    assert result.exit_code != 0
    assert message in result.output


def scripts(body: Any) -> Iterator[dict[str, Any]]:
    """Every script of a request, at any depth."""
    if isinstance(body, dict):
        for key, value in body.items():
            if key == "script":
                yield value
            yield from scripts(value)
    elif isinstance(body, list):
        for value in body:
            yield from scripts(value)


@pytest.mark.parametrize(
    "model, context, standalone",
    [*((*split, False) for split in SPLITS), *((*split, True) for split in MIXTURES)],
)
def test_scripts_are_named_and_never_hold_the_query(
    where: str, model: str, context: str | None, standalone: bool
) -> None:
    """The text of a query goes into term queries only: it cannot become code, nor be compiled anew."""
    options = ["--prior", "length", "--candidates", "all", *(["--standalone"] if standalone else [])]
    in_request = list(scripts(print_query(where, "flood bank", *options, model=model, context=context)))
    assert len(in_request) == 3
    for script in in_request:
        assert script.keys() == {"id", "params"}
        assert script["id"] in resources.list_names("scripts", ".painless")
        assert "flood" not in json.dumps(script)


@pytest.mark.parametrize(
    "text", ["'; return 1e9; //", '"}}, {"match_all": {', "${flood} <script>", "flood\\u0000"]
)
def test_a_query_that_looks_like_code(where: str, text: str) -> None:
    with open_searcher(where) as searcher:
        words = " ".join(searcher.index.analyzer.terms(f"flood {text}"))
        expected, answer = (searcher.search(query, 5, model="jm") for query in (words, f"flood {text}"))
        assert [(h.sentence_id, h.score) for h in answer.hits] == [
            (h.sentence_id, h.score) for h in expected.hits
        ]
        assert answer.total == expected.total > 50
