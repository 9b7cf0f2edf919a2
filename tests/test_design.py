"""docs/design.md names the files that a query passes: those that run, and no others."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import esr
from tests.support.elasticsearch import fresh

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "design.md"
SOURCES = [
    str(path.relative_to(ROOT)) for package in ("esr", "webui") for path in (ROOT / package).rglob("*.py")
]
TRACE = """
import inspect, sys, threading
from esr.cli import main
from esr.folder.search.kernel_loader import LOADER
from esr.ranking.searcher import open_searcher
from webui.app import create_app
from webui.running.settings import Settings

where, files = sys.argv[1], set()
query = '"earthquake relief" China OR (storm AND flood) -trump earthquakke'
options = {"boost": "variants:0.2", "feature": "len:log:0.1"}
command = [part for name, value in options.items() for part in (f"--{name}", value)]

def search_all():
    main(["search", query, "--index", where, "--prior", "length:0.5", *command], standalone_mode=False)
    with open_searcher(where) as searcher:
        client = create_app(searcher, Settings(access_log=0)).test_client()
        for address in ("/search", "/api/v1/search"):
            arguments = {"q": query, "prior.length": "0.5", "rerank": "2si document:0.5", **options}
            assert client.get(address, query_string=arguments).status_code == 200

def record(frame, event, argument):
    if event == "call" and frame.f_code.co_flags & inspect.CO_OPTIMIZED:  # no module and no class
        files.add(frame.f_code.co_filename)

LOADER.load()
search_all()
threading.setprofile(record)
sys.setprofile(record)
search_all()
sys.setprofile(None)
print(*sorted(files), sep="\\n")
"""
ROOMS = ("esr/query/", "esr/ranking/", "esr/following/", "esr/folder/search/", "esr/elastic/search/")
"""Folders whose files the page names if a query passes them."""
UNTRACED = {"esr/index/contract.py", "esr/folder/kernel/search.py", "esr/following/copies.py"}
"""Files of the page that are not traced: declarations, compiled code, and copies."""


def trace(where: str) -> set[str]:
    """The files of the product that searches of the command line, the page and the API pass."""
    run = subprocess.run([sys.executable, "-c", TRACE, where], capture_output=True, text=True, cwd=ROOT)
    assert run.returncode == 0, run.stderr[-2_000:]
    prefix = f"{ROOT}/"
    return {line.removeprefix(prefix) for line in run.stdout.splitlines() if line.startswith(prefix)}


def find_named() -> list[tuple[str, set[str]]]:
    """The names of files and folders in the section, with the sources that each can mean."""
    section = PAGE.read_text("utf-8").partition("## The path of a query")[2].partition("\n## ")[0]
    names = re.findall(r"`((?:[\w/]+/)?\w+\.py|esr/[\w/]+)`", section)
    return [
        (name, {path for path in SOURCES if f"/{path}".endswith(f"/{name}") or path.startswith(f"{name}/")})
        for name in names
    ]


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["folder", pytest.param("elasticsearch", marks=pytest.mark.elasticsearch)])
def test_a_query_passes_the_files_that_the_page_names(
    engine: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    other = "esr/elastic/" if engine == "folder" else "esr/folder/"
    articles = ROOT / "examples" / "articles.jsonl"
    if engine == "folder":
        esr.load(tmp_path / "news", articles).close()
        passed = trace(str(tmp_path / "news"))
    else:
        with fresh(request.getfixturevalue("elasticsearch_url")) as where:
            esr.load(where, articles).close()
            passed = trace(where)
    named = find_named()
    here = [
        (name, {path for path in paths if not path.startswith(other)} - UNTRACED) for name, paths in named
    ]
    assert [name for name, paths in here if paths and paths.isdisjoint(passed)] == []
    known = {path for _, paths in named for path in paths}
    rooms = {path for path in passed if path.startswith(ROOMS) and not path.endswith("__init__.py")}
    assert " ".join(sorted(rooms - known)) == ""
