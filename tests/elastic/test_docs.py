"""docs/elasticsearch.md: its commands are run as they stand, on a real node, and what it says is so."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import esr
from esr import resources
from esr.elastic.cluster import Cluster
from esr.elastic.meta import install_templates
from esr.ranking.searcher import open_searcher
from tests.support.elasticsearch import fresh, http

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "elasticsearch.md").read_text("utf-8")
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
    from esr.elastic.search.score_query import search_body
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

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", recorded
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
