"""The pages, examples and notebooks of the Python API do what they say, and name what there is."""

from __future__ import annotations

import importlib.util
import inspect
import re
import shutil
from pathlib import Path
from types import ModuleType
from typing import Any

import click
import pytest

import esr
from esr import models
from esr.cli import main
from esr.library import options
from esr.library.loading import read_read_options
from esr.library.opening import AsyncIndex
from tests.support.processes import in_thread
from tests.support.runs import need
from tools.references.python_api import build_page, described_names, public_members

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = (ROOT / "docs" / "python.md").read_text("utf-8")
RENAMED = {"set": "params"}
"""Options of the command line that have another name as keywords."""
OUTPUT = {"index", "format", "json", "k", "sort", "novel", "overlap", "fold", "help"}
"""Options of `esr search` for its output, and those that are arguments of methods, or methods."""
FOR_READERS = {"passages", "per_document", "languages", "furniture"}
"""Options of `esr search` about its list for readers. The search of the API ranks sentences as they are."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the examples and an index of them, as the present one."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    esr.load("my-index", "examples/articles.jsonl").close()
    return tmp_path


def names(command: str) -> set[str]:
    """The names of a command's options, without dashes."""
    shown = {
        p.opts[0].removeprefix("--") for p in main.commands[command].params if isinstance(p, click.Option)
    }
    return {name.removeprefix("-").replace("-", "_") for name in shown}


def test_the_keywords_of_a_search_are_the_options_of_the_command_line() -> None:
    keywords = set(options.SearchOptions.__annotations__)
    parameters = {p.name for model in models.MODELS.values() for p in model.parameters}
    former = {"from"}  # no name of a keyword
    options_of_search = names("search") - OUTPUT - FOR_READERS - former
    assert {RENAMED.get(name, name) for name in options_of_search} - {"params"} == (
        keywords - {"lambda_" if name == "lambda" else name for name in parameters}
    )
    assert {name.removesuffix("_") for name in keywords} >= parameters
    known = {*options.FILTERS, *options.RANKING, *options.QUERY}
    assert known == {name for name in keywords if name.removesuffix("_") not in parameters}


def test_the_keywords_of_a_load_are_the_options_of_the_command_line() -> None:
    keywords = set(options.LoadOptions.__annotations__) - set(options.LoginOptions.__annotations__)
    commands = {"index", "enrich", "enrich_only", "dry_run", "slice", "json", "help"}
    assert names("load") - commands == keywords
    assert names("append") - commands == set(options.AppendOptions.__annotations__)
    removal = {name for name in inspect.signature(esr.Index.remove).parameters if name in ("query", "before")}
    assert len(removal) == 2
    expected = removal | set(options.WriteOptions.__annotations__) - {"workers"}
    assert names("remove") - commands - {"list"} == expected
    own = {"index", "only", "help", "workers", "slice"}
    assert names("enrich") - own == set(options.EnrichOptions.__annotations__)


def test_the_defaults_for_reading_are_those_of_the_command_line() -> None:
    given = main.commands["load"].make_context("load", ["news.jsonl"]).params
    for name, value in read_read_options({}).items():
        assert (given[name] or None) == (value or None), name


def test_the_reference_is_what_its_generator_prints() -> None:
    written = (ROOT / "docs" / "python-reference.md").read_text("utf-8")
    assert written == build_page(), "run: python -m tools.references.python_api > docs/python-reference.md"


def test_the_reference_describes_every_public_name() -> None:
    assert described_names() == set(esr.__all__) - {"__version__"}
    assert all(getattr(esr, name) for name in esr.__all__)


def test_the_twin_for_asyncio_has_the_methods_of_the_index() -> None:
    only_apart = {"where", "searcher", "documents", "enrich", "generations"}
    assert set(public_members(esr.Index)) - only_apart == set(public_members(AsyncIndex)) - {"index", "run"}


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_the_programs_of_the_page_run_in_their_order(capsys: pytest.CaptureFixture[str]) -> None:
    need("pandas")
    need("polars")
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert len(blocks) > 5
    for block in blocks:
        in_thread(exec, block, {"__name__": "__main__"})
        assert capsys.readouterr().out


def test_a_program_sees_what_the_package_names() -> None:
    assert set(esr.__all__) <= {*dir(esr)}
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        esr.nothing  # type: ignore[attr-defined]  # noqa: B018


# Examples


def load_example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_the_service_with_fastapi_answers(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need("fastapi")
    from fastapi.testclient import TestClient

    monkeypatch.setenv("ESR_INDEX", str(folder / "my-index"))
    with TestClient(load_example("fastapi_search").app) as client:
        answer = client.get("/search", params={"q": "earthquake", "k": 2, "after": "2024"}).json()
        check_answer(answer)
        refused = client.get("/search", params={"q": "!"})
        assert (refused.status_code, "no words" in refused.json()["detail"]) == (422, True)


@pytest.mark.slow
def test_the_service_with_flask_answers(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ESR_INDEX", str(folder / "my-index"))
    client = load_example("flask_search").app.test_client()
    check_answer(client.get("/search?q=earthquake&k=2&after=2024").json)
    assert client.get("/search?q=!").status_code == 422


def check_answer(answer: Any) -> None:
    assert len(answer["hits"]) == 2 and "earthquake" in answer["hits"][0]["text"]
    assert answer["total"] > 2 and answer["source"]["Northern Wire"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["newsroom", "researcher"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_a_notebook_runs(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    need("nbclient")
    need("pandas")
    import nbformat
    from nbclient import NotebookClient

    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    notebook = nbformat.read(folder / "examples" / f"{name}.ipynb", as_version=4)
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": folder / "examples"}}).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert not [output for output in outputs if output.output_type == "error"]
    shown = "".join(str(output.get("data", {}).get("text/html", "")) for output in outputs)
    assert "<mark>earthquake</mark>" in shown or "<table" in shown
