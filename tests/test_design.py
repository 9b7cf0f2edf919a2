"""What docs/design.md says of the path of a query is where queries go."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest
from click.testing import CliRunner

from esr.cli import main
from esr.ranking.searcher import open_searcher
from tests.support.folder_index import document, load
from webui.app import create_app

ROOT = Path(__file__).resolve().parent.parent
HELPERS = ("esr", "esr/text")
"""Folders whose own files help everywhere."""


def named_places() -> set[str]:
    """Files and folders that the description of the path names, in the shortest form that it uses."""
    design = (ROOT / "docs" / "design.md").read_text("utf-8")
    section = design.partition("## The path of a query")[2].partition("## The path of a document")[0]
    return {name.rstrip("/") for name in re.findall(r"`([\w/]+(?:\.py|/))`", section)}


def run_traced(work: Callable[[], None]) -> set[str]:
    """The files of esr and of the page of which `work` calls a function."""
    files = set[str]()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            files.add(frame.f_code.co_filename)

    before = sys.getprofile()
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
        threading.setprofile(None)
    paths = (Path(name) for name in files.copy() if name.endswith(".py"))
    inside = (path.relative_to(ROOT) for path in paths if path.is_relative_to(ROOT))
    return {str(path) for path in inside if path.parts[0] in ("esr", "webui")}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> str:
    where = tmp_path_factory.mktemp("design") / "index"
    load(where, [document("a", "The storm hit the coast.", "Trees fell in the storm.", date="2017-03-05")])
    return str(where)


def search_by_command(index: str) -> Callable[[], None]:
    def search() -> None:
        for arguments in (["storm coast"], ['"the storm" source:BBC', "--json"]):
            assert CliRunner().invoke(main, ["search", *arguments, "--index", index]).exit_code == 0

    return search


def search_by_server(index: str) -> Callable[[], None]:
    client = create_app(open_searcher(index)).test_client()

    def search() -> None:
        for address in ("/search?q=storm+coast", "/search.json?q=storm&k=1"):
            assert client.get(address).status_code == 200

    return search


@pytest.mark.parametrize("open_door", [search_by_command, search_by_server])
def test_the_design_names_every_file_that_a_search_passes(
    open_door: Callable[[str], Callable[[], None]], index: str
) -> None:
    named = named_places()

    def is_named(path: str) -> bool:
        places = [path, *map(str, Path(path).parents)]
        return any(place == name or place.endswith(f"/{name}") for place in places for name in named)

    passed = {path for path in run_traced(open_door(index)) if str(Path(path).parent) not in HELPERS}
    assert len(passed) > 20
    assert sorted(path for path in passed if not is_named(path)) == []


def test_what_the_path_of_a_query_names_exists() -> None:
    files = [path.relative_to(ROOT) for folder in ("esr", "webui") for path in (ROOT / folder).rglob("*")]
    places = {f"/{path}" for path in files} | {"/esr", "/webui"}
    absent = {name for name in named_places() if not any(place.endswith(f"/{name}") for place in places)}
    assert absent == {"tests/test_design.py"}
