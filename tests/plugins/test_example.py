"""The example of a plug-in, built and installed into an empty environment, and used from every door."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.support.elasticsearch import fresh
from tests.support.runs import need

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parent.parent.parent
EXAMPLE = ROOT / "examples" / "plugin"
NEWS = """\
ID: w1
HEAD: Storm
FROM: Wire A

A storm hit the coast. Will the storm return?
$$
ID: w2
HEAD: Flood
FROM: Wire B

The flood followed the storm. Rain fell.
$$
"""
_ESR = "from esr.cli import run; run()"
_SEARCH = """
import esr, json, sys
with esr.open(sys.argv[1]) as index:
    hits = index.search("storm", model="share", share=0.4, feature="questions:step:1")
    print(json.dumps([[hit.id, hit.score] for hit in hits]))
"""
_PAGE = """
import json, sys
from esr.ranking.searcher import open_searcher
from webui.app import create_app
with open_searcher(sys.argv[1]) as searcher:
    client = create_app(searcher).test_client()
    page = client.get("/plugins/sources?q=storm&limit=1")
    api = client.get("/api/v1/plugins/sources?q=storm")
    document = client.get("/api/v1/openapi.json").json
    print(json.dumps([page.status_code, page.text, api.json, document["paths"]["/plugins/sources"]["get"]]))
"""
Python = Callable[..., str]


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Python:
    """Runs a program in an environment with the plug-in. It sees the packages of the present one."""
    need("hatchling")
    folder = tmp_path_factory.mktemp("environment")
    shutil.copytree(EXAMPLE, folder / "plugin")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    options = ["--quiet", "--no-deps", "--no-index"]
    build = ["wheel", *options, "--no-build-isolation", "--wheel-dir", folder, folder / "plugin"]
    subprocess.run([*pip, *map(str, build)], check=True)
    (wheel,) = folder.glob("*.whl")
    venv.create(folder / "venv", with_pip=False)
    program = folder / "venv" / "bin" / "python"
    subprocess.run([*pip, "--python", str(program), "install", *options, str(wheel)], check=True)
    (packages,) = folder.glob("venv/lib/python*/site-packages")
    present = [str(ROOT), *(path for path in sys.path if path.endswith("-packages"))]
    (packages / "present.pth").write_text("\n".join(present))

    def run(source: str, *args: object, **variables: str) -> str:
        command = [str(program), *(["-c", source] if source else []), *map(str, args)]
        done = subprocess.run(
            command, capture_output=True, text=True, cwd=folder, env={**os.environ, **variables}
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="module")
def index(python: Python, tmp_path_factory: pytest.TempPathFactory) -> str:
    """An index of a file in the plug-in's format, with its feature, which two processes have computed."""
    folder = tmp_path_factory.mktemp("news")
    (folder / "news.wire").write_text(NEWS)
    where = str(folder / "index")
    python(_ESR, "load", folder / "news.wire", "--index", where)
    python(_ESR, "enrich", "--index", where, "--only", "features", "--workers", 2)
    return where


def test_its_own_tests_pass(python: Python) -> None:
    assert " passed" in python("", "-m", "pytest", "-q", "-p", "no:cacheprovider", "plugin")


def test_it_is_used_from_the_command_line(python: Python, index: str) -> None:
    assert "models: share" in python(_ESR, "plugins")
    assert "share=0.5" in python(_ESR, "models")
    assert "wire" in python(_ESR, "formats") and "questions" in python(_ESR, "features")
    assert "Count the sources" in python(_ESR, "--help")
    assert python(_ESR, "sources", "storm", "--index", index).split() == ["2", "Wire", "A", "2", "Wire", "B"]
    options = ["--index", index, "--model", "share", "--set", "share=0.4", "--feature", "questions:step:1"]
    hits = json.loads(python(_ESR, "search", "storm", *options, "--json"))["hits"]
    assert hits[0]["text"] == "Will the storm return?"


def test_it_is_used_from_the_library(python: Python, index: str) -> None:
    hits = json.loads(python(_SEARCH, index))
    assert [id for id, _ in hits] == ["w1.s1", "w1.s0", "w2.s0"]


def test_it_is_used_from_the_page_and_the_api(python: Python, index: str) -> None:
    status, page, answer, described = json.loads(python(_PAGE, index))
    assert status == 200 and "Wire A" in page and "Wire B" not in page and "<nav" in page
    assert answer == {"sources": [{"source": "Wire A", "sentences": 2}, {"source": "Wire B", "sentences": 2}]}
    assert described["operationId"] == "plugins.sources"
    assert [p["name"] for p in described["parameters"]] == ["limit", "q", "index"]


@pytest.mark.elasticsearch
def test_it_gives_the_same_scores_on_elasticsearch(
    python: Python, index: str, elasticsearch_url: str
) -> None:
    news = Path(index).with_name("news.wire")
    with fresh(elasticsearch_url) as where:
        assert urlsplit(where).hostname
        python(_ESR, "load", news, "--index", where)
        python(_ESR, "enrich", "--index", where, "--only", "features")
        embedded, other = (json.loads(python(_SEARCH, each)) for each in (index, where))
        assert python(_ESR, "sources", "storm", "--index", where).split()[1:3] == ["Wire", "A"]
    assert [id for id, _ in other] == [id for id, _ in embedded]
    assert [score for _, score in other] == pytest.approx([score for _, score in embedded], rel=1e-6)
