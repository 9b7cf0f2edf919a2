"""What docs/bridges.md shows is what happens."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import pytest

import esr
from esr.ranking.ranking import Ranking
from tests.cli.conftest import call
from tests.support.needed import need
from tests.support.processes import in_thread

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "bridges.md").read_text("utf-8")
PROGRAMS = re.findall(r"^```py\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the index of the page, in which the test runs."""
    monkeypatch.chdir(tmp_path)
    assert call("load", ROOT / "examples" / "articles.jsonl", "--index", "my-index").exit_code == 0
    return tmp_path


@pytest.mark.filterwarnings("ignore:The inplace keyword:DeprecationWarning")
@pytest.mark.parametrize("program", PROGRAMS, ids=range(len(PROGRAMS)))
def test_the_programs_run(program: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for module in ("pandas", "pyterrier", "langchain_core", "llama_index"):
        need(module)
    in_thread(exec, program, {})
    assert re.search(r"Two towns were cut off\.|Northern Wire", capsys.readouterr().out)


def test_the_answer_is_that_of_the_server(folder: Path) -> None:
    server = need("esr.bridges.mcp_server")
    (shown,) = re.findall(r'^\{"total".*$', PAGE, re.MULTILINE)
    with esr.open("my-index") as index:
        tools = server.build_server(index, Ranking())
        call_tool = tools.call_tool("search", {"query": "relief funds China", "budget": 700})
        result = in_thread(asyncio.run, call_tool)
    assert json.loads(result.content[0].text) == json.loads(shown)
