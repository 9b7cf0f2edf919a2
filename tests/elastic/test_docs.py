"""The pages on Elasticsearch: their commands are run on a real node, and what they say holds."""

from __future__ import annotations

import json
import math
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import esr
from esr import loaders, models, resources
from esr.cli import main
from esr.elastic.cluster import Cluster
from esr.elastic.write.templates import install_templates
from esr.ranking.searcher import open_searcher
from esr.text.document import Document, Sentence
from tests.support.elasticsearch import counts_occurrences, document, fresh, http, load
from tests.support.runs import SHARDS
from tests.support.web_servers import serving

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("elasticsearch.md", "elasticsearch-requests.md", "elasticsearch-index.md")
PAGE = "\n".join((ROOT / "docs" / name).read_text("utf-8") for name in PAGES)
BLOCKS = re.findall(r"^```(sh|json)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def where(elasticsearch_url: str) -> Iterator[str]:
    with fresh(elasticsearch_url) as location:
        yield location


@pytest.fixture(scope="module")
def outputs(where: str, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What each block of commands printed. `news` on localhost stands for a place of the test's own."""
    folder = tmp_path_factory.mktemp("docs")
    for name in ("examples", "index_templates"):
        shutil.copytree(ROOT / name, folder / name)
    program = folder / "esr"
    program.write_text(f"#!{sys.executable}\nfrom esr.cli import main\nmain(prog_name='esr')\n")
    program.chmod(0o755)
    variables = os.environ | {"PATH": f"{folder}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    url, _, alias = where.rpartition("/")
    printed = []
    for kind, block in BLOCKS:
        if kind == "sh":
            block = block.replace("http://localhost:9200/news", where).replace("http://localhost:9200", url)
            block = block.replace('"index": "news', f'"index": "{alias}')
            process = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", block],
                cwd=folder,
                env=variables,
                capture_output=True,
                text=True,
            )
            assert process.returncode == 0, f"{block}\n{process.stderr}"
            printed.append(process.stdout)
    return printed


def differences(documented: Any, actual: Any, path: str = "") -> list[str]:
    """What the shortened output on the page shows and the actual one does not hold."""
    if isinstance(documented, dict):
        return [
            p
            for key, value in documented.items()
            for p in differences(value, actual.get(key, {}), f"{path}.{key}")
        ]
    if isinstance(documented, list):
        if len(documented) != len(actual):
            return [f"{path}: {len(actual)} instead of {len(documented)}"]
        return [
            p
            for n, (a, b) in enumerate(zip(documented, actual, strict=True))
            for p in differences(a, b, f"{path}[{n}]")
        ]
    is_equal = (
        math.isclose(documented, actual, rel_tol=1e-5)
        if isinstance(documented, float)
        else documented == actual
    )
    return [] if is_equal else [f"{path}: {actual!r} instead of {documented!r}"]


def test_the_outputs_are_those_of_the_page(outputs: list[str]) -> None:
    compared, commands = 0, -1
    for kind, block in BLOCKS:
        if kind == "sh":
            commands += 1
        else:
            assert differences(json.loads(block), json.loads(outputs[commands])) == []
            compared += 1
    assert compared == 4


def test_both_forms_rank_as_esr_does(where: str, outputs: list[str]) -> None:
    answers = [json.loads(text) for text in outputs if text.startswith('{"took"')]
    ranked = [[hit["_id"] for hit in answer["hits"]["hits"]] for answer in answers]
    with open_searcher(where) as searcher:
        expected = [
            [hit.sentence_id for hit in searcher.search("earthquake relief", 2, context=context).hits]
            for context in ("both", "document")
        ]
    assert [ranked[0], ranked[3]] == expected


def test_conditions_let_through_what_esr_does(where: str, outputs: list[str]) -> None:
    answers = [json.loads(text)["hits"]["hits"] for text in outputs if text.startswith('{"took"')]
    of_request, of_own_query = ({hit["_id"] for hit in hits} for hits in answers[1:3])
    with open_searcher(where) as searcher:
        query = esr.parse_query('"county government" -magnitude after:2024')
        assert of_request == {hit.sentence_id for hit in searcher.search(query, 2).hits} != set()
        query = esr.parse_query('"county government" death* -magnitude after:2024')
        assert of_own_query == {hit.sentence_id for hit in searcher.search(query, 10).hits} != set()


@pytest.mark.parametrize(
    "ranking", [{"model": "2si"}, {"model": "3mm"}, {"model": "bm25"}, {"model": "tfmix"}], ids=str
)
def test_the_shift_is_what_the_page_says(where: str, outputs: list[str], ranking: dict[str, Any]) -> None:
    from esr.elastic.search.plan_query import search_body
    from esr.index.filters import Filters
    from esr.ranking.ranking import Ranking

    with open_searcher(where) as searcher:
        ranking_with_prior = Ranking(**ranking, priors={"importance": 1.0})
        expected = searcher.search("earthquake relief relief road", 5, ranking=ranking_with_prior).hits
        plan = searcher.prepare("earthquake relief relief road", ranking_with_prior).plan
        body = search_body(plan, searcher.index.statistics(()).collection, Filters(), 5)
    hits = http("POST", f"{where}/_search", body)["hits"]["hits"]
    outer = body["query"]["script_score"]
    terms = [clause["script_score"]["script"]["params"] for clause in outer["query"]["bool"]["should"]]
    shift = -outer["script"]["params"]["offset"]
    shift += sum(term["weight"] * math.log(term["background"]) for term in terms if "background" in term)
    assert [hit["_score"] + shift for hit in hits] == pytest.approx([hit.score for hit in expected], rel=1e-4)


def test_the_fields_of_the_page_are_those_of_the_mapping() -> None:
    section = PAGE.split("## Fields")[1].split("\n## ")[0]
    documented = set(re.findall(r"`([a-z_]+)`", section))
    for name in ("sentences", "documents"):
        fields = set(resources.load_json(f"components/esr-{name}.json")["template"]["mappings"]["properties"])
        assert fields <= documented


def test_templates_by_hand_are_those_that_esr_sends(outputs: list[str]) -> None:
    """The page's last commands send what `esr load` sends, to the same places. A real node takes it all."""
    files = [
        path
        for folder in ("components", "indices", "scripts")
        for path in (ROOT / "index_templates" / folder).iterdir()
        if path.suffix in (".json", ".painless")
    ]
    assert outputs[-1].count('{"acknowledged":true}') == len(files)
    with recorder() as (url, by_hand):
        block = BLOCKS[-1][1].replace("http://localhost:9200", url)
        subprocess.run(["bash", "-euo", "pipefail", "-c", block], cwd=ROOT, check=True, capture_output=True)
    with recorder() as (url, by_esr):
        cluster = Cluster(f"{url}/news")
        install_templates(cluster)
        cluster.close()
    assert by_hand == by_esr
    assert len(by_esr) == len(files)


@contextmanager
def recorder() -> Iterator[tuple[str, dict[str, Any]]]:
    """A server that has nothing and takes everything: its URL, and the bodies that came to it, by path."""
    recorded: dict[str, Any] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(404)
            self.send_header("X-elastic-product", "Elasticsearch")
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", "15")
            self.end_headers()
            self.wfile.write(b'{"found":false}')

        def do_PUT(self) -> None:
            recorded[self.path] = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.send_header("X-elastic-product", "Elasticsearch")
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", "21")
            self.end_headers()
            self.wfile.write(b'{"acknowledged":true}')

        def log_message(self, *args: Any) -> None:
            pass

    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as server:
        yield f"http://127.0.0.1:{server.server_address[1]}", recorded


# What `esr query` prints is enough: sent by plain HTTP, without esr, it gives the same answer.


ARTICLES = Path(__file__).resolve().parents[2] / "examples" / "articles.jsonl"
SPLITS = [
    (m.name, c) for m in models.MODELS.values() if m.second_stage is None for c in (m.contexts or (None,))
]
MIXTURES = [(m, c) for m, c in SPLITS if m in ("jm", "dir", "3mm", "2s", "2si")]
QUERIES = ["earthquake relief county", "flood flood bank", "Titleword bank"]


@pytest.fixture(scope="module", params=SHARDS, ids="{} shards".format)
def queried_where(request: pytest.FixtureRequest, elasticsearch_url: str) -> Iterator[str]:
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
def test_a_printed_query_ranks_as_esr_does(queried_where: str, model: str, context: str | None) -> None:
    with open_searcher(queried_where) as searcher:
        for query, prior in product(QUERIES, ("importance", "length")):
            ranking = {"model": model, "context": context, "priors": {prior: 1.0}}
            expected = searcher.search(query, 25, **ranking).hits
            actual = answer(
                queried_where,
                print_query(queried_where, query, "-k25", "--prior", prior, model=model, context=context),
            )
            assert [hit["_id"] for hit in actual] == [hit.sentence_id for hit in expected]
            assert len(actual) > 5
            assert actual[0]["_source"]["text"] == expected[0].record.text  # type: ignore[union-attr]


@pytest.mark.parametrize("options", [["--model", "tdsr"], ["--rerank", "mrf_sdm"]])
def test_a_second_stage_is_said_to_be_left_out(queried_where: str, options: list[str]) -> None:
    result = CliRunner().invoke(main, ["query", QUERIES[0], "--index", queried_where, *options])
    assert result.exit_code == 0, result.output
    assert "the request is the first stage only" in result.stderr
    assert json.loads(result.stdout)["query"]


@pytest.mark.parametrize("model, context", SPLITS)
def test_boosts_run_inside_the_request(queried_where: str, model: str, context: str | None) -> None:
    boosts = {"answer_type": 1.0, "variants": 0.3, "feedback": {"w": 0.5, "terms": 5}}
    options = ["--boost", "answer_type", "--boost", "variants:0.3", "--boost", "feedback:0.5:terms=5"]
    with open_searcher(queried_where) as searcher:
        for query in ("How many earthquakes?", "who sent relief", "flood bank"):
            hits = searcher.search(query, 25, model=model, context=context, boosts=boosts).hits
            actual = answer(
                queried_where,
                print_query(queried_where, query, "-k25", *options, model=model, context=context),
            )
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
def test_whole_numbers_do_not_become_whole_divisions(
    queried_where: str, model: str, context: str | None
) -> None:
    b = ["--set", "b=1"] if model == "bm25" else []
    body = print_query(
        queried_where, "flood bank road", "-k25", "--prior", "length", *b, model=model, context=context
    )
    for clause in body["query"]["script_score"]["query"]["bool"]["should"]:
        params = clause["script_score"]["script"]["params"]
        for name in ("own", "middle", "wide"):
            if len(params[name]) == 3:
                params[name] = [params[name][0], 1.0, 7.0]  # b and a mean length that are whole
    expected, actual = answer(queried_where, body), answer(queried_where, whole_numbers(body))
    assert [(hit["_id"], hit["_score"]) for hit in actual] == [
        (hit["_id"], hit["_score"]) for hit in expected
    ]
    assert len({hit["_score"] for hit in actual}) > 3


@pytest.mark.parametrize("model, context", MIXTURES)
def test_a_standalone_query_needs_nothing_that_only_esr_knows(
    queried_where: str, model: str, context: str | None
) -> None:
    with open_searcher(queried_where) as searcher:
        for query in QUERIES:
            expected = searcher.search(query, 25, model=model, context=context).hits
            body = print_query(queried_where, query, "-k25", "--standalone", model=model, context=context)
            for clause in body["query"]["script_score"]["query"]["bool"]["should"]:
                # It must not need what only esr knows.
                clause["script_score"]["script"]["params"]["background"] = -1
            actual = answer(queried_where, body, "?search_type=dfs_query_then_fetch")
            assert [hit["_id"] for hit in actual] == [hit.sentence_id for hit in expected]


def test_a_standalone_query_ranks_by_other_terms_too(queried_where: str) -> None:
    """The terms changed by hand: the query is another one, and its order is right."""
    body = json.dumps(print_query(queried_where, "flood", "-k25", "--standalone")).replace(
        '"flood"', '"stone"'
    )
    actual = answer(queried_where, body, "?search_type=dfs_query_then_fetch")
    with open_searcher(queried_where) as searcher:
        expected = searcher.search("stone", 25).hits
    assert [hit["_id"] for hit in actual] == [hit.sentence_id for hit in expected]


def test_filters_are_printed_with_the_query(queried_where: str) -> None:
    actual = answer(queried_where, print_query(queried_where, "flood", "--document", "r3"))
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
def test_what_cannot_be_printed_is_told(queried_where: str, arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(main, ["query", "--index", queried_where, *arguments])
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
    queried_where: str, model: str, context: str | None, standalone: bool
) -> None:
    """The text of a query goes into term queries only: it cannot become code, nor be compiled anew."""
    options = ["--prior", "length", "--candidates", "all", *(["--standalone"] if standalone else [])]
    in_request = list(
        scripts(print_query(queried_where, "flood bank", *options, model=model, context=context))
    )
    assert len(in_request) == 3
    for script in in_request:
        assert script.keys() == {"id", "params"}
        assert script["id"] in resources.list_names("scripts", ".painless")
        assert "flood" not in json.dumps(script)


@pytest.mark.parametrize(
    "text", ["'; return 1e9; //", '"}}, {"match_all": {', "${flood} <script>", "flood\\u0000"]
)
def test_a_query_that_looks_like_code(queried_where: str, text: str) -> None:
    with open_searcher(queried_where) as searcher:
        words = " ".join(searcher.index.analyzer.terms(f"flood {text}"))
        expected, answer = (searcher.search(query, 5, model="jm") for query in (words, f"flood {text}"))
        assert [(h.sentence_id, h.score) for h in answer.hits] == [
            (h.sentence_id, h.score) for h in expected.hits
        ]
        assert answer.total == expected.total > 50
