"""The tables of arguments: every door has the same names, types and defaults."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from types import FunctionType
from typing import get_type_hints
from urllib.parse import urlencode

import pytest

from esr.arguments.argument import PYTHON, Argument
from esr.arguments.tables.enriching import ENRICHING
from esr.arguments.tables.loading import DELIVERY, LOADING, SOURCE
from esr.arguments.tables.table import TABLE, rows
from esr.arguments.types import Flag, Text
from esr.following.alerts.saved_searches import read_searches
from esr.library import keywords
from esr.library.options import EnrichOptions, LoadOptions, LoginOptions, ReadOptions, SearchOptions
from esr.library.public_index import Index
from tools.layout_figures import count_options
from tools.references.keywords import build_module
from webui.api.operations import OPERATIONS
from webui.arguments.request import decode_arguments, parse_search, parse_similar
from webui.running.problems import RequestError
from webui.running.settings import Settings

SETTINGS = Settings()


def test_each_default_is_written_as_it_is_read() -> None:
    defaults = [(row, row.type.default(SETTINGS)) for row in TABLE if not isinstance(row.type, Text)]
    read = [
        (row.name, row.read(row.type.write(usual), SETTINGS), usual)
        for row, usual in defaults
        if usual is not None
    ]
    assert len(read) > 50 and [row for row in read if row[1] != row[2]] == []


@pytest.mark.parametrize(
    "row", [row for row in TABLE if isinstance(row.type, Flag)], ids=lambda row: row.name
)
def test_a_flag_is_on_or_off(row: Argument) -> None:
    assert isinstance(row.type, Flag)
    assert [row.read(word, SETTINGS) for word in row.type.words] == [True, False]


def test_the_keywords_of_python_are_those_of_the_tables_with_their_types() -> None:
    written = Path(keywords.__file__).read_text("utf-8")
    assert written == build_module(), "run: python -m tools.references.keywords > esr/library/keywords.py"


def test_the_options_of_python_have_the_keywords_of_the_tables() -> None:
    searches = {"after", "rerank_depth", "query_language", "lambda_"}
    assert searches <= {*get_type_hints(SearchOptions)}
    assert {row.name for row in (*SOURCE, *DELIVERY)} == {*get_type_hints(ReadOptions)}
    assert {row.name for row in ENRICHING if row.is_for(PYTHON)} == {*get_type_hints(EnrichOptions)}
    written = {row.name for row in LOADING}
    assert written == get_type_hints(LoadOptions).keys() - get_type_hints(LoginOptions).keys()


@pytest.mark.slow
def test_options_of_commands_are_made_from_rows_in_one_place() -> None:
    project = Path(__file__).parents[2]
    paths = sorted((project / "esr").rglob("*.py"))
    defining = [path for path in paths if count_options(ast.parse(path.read_text("utf-8")))]
    assert defining == [project / "esr/cli/arguments.py"]


@pytest.mark.parametrize(
    "operation", [name for name in OPERATIONS if isinstance(getattr(Index, name, None), FunctionType)]
)
def test_keywords_of_methods_have_the_defaults_of_the_table(operation: str) -> None:
    own = {"k", "offset", "fold"}  # an answer of a program is a list, without repeats by request
    for name, parameter in inspect.signature(getattr(Index, operation)).parameters.items():
        row = rows(operation).get(name)
        if row is not None and name not in own and parameter.default not in (parameter.empty, ""):
            assert parameter.default == row.type.default(SETTINGS), name


def test_former_names_and_values_are_those_of_today() -> None:
    def read(operation: str, **texts: str) -> dict[str, object]:
        arguments = decode_arguments(urlencode(texts).encode(), SETTINGS, operation)
        return {name: arguments.value(name) for name in arguments}

    assert read("page", syntax="none") == {"literal": True}
    assert read("page", depth="7") == {"rerank_depth": 7}
    assert read("compare", **{"q": "a", "vs.depth": "8"}) == {"q": "a", "vs.rerank_depth": 8}
    assert read("similar", id="a", own="yes") == {"id": "a", "own_document": True}


@pytest.mark.parametrize(
    ("operation", "name", "value"), [("page", "syntax", "full"), ("similar", "own", "perhaps")]
)
def test_a_bad_value_of_a_former_name_is_named_by_it(operation: str, name: str, value: str) -> None:
    with pytest.raises(RequestError) as error:
        decode_arguments(urlencode({"id": "a", name: value}).encode(), SETTINGS, operation, "page")
    assert error.value.field == name and repr(value) in str(error.value)


def test_flags_are_read_in_searches() -> None:
    def arranged(**texts: str) -> tuple[bool, ...]:
        search = parse_search(decode_arguments(urlencode(texts).encode(), SETTINGS, "page"))
        made = search.arrangement
        return (made.fold, made.passages, made.novel, search.is_literal, search.with_furniture)

    assert arranged() == (True, True, False, False, False)
    off = {"fold": "no", "passages": "no", "novel": "yes", "literal": "yes", "furniture": "yes"}
    assert arranged(**off) == (False, False, True, True, True)
    similar = decode_arguments(b"id=a&own_document=yes", SETTINGS, "similar")
    assert parse_similar(similar).own_document


def test_a_saved_search_keeps_the_language_of_its_query(tmp_path: Path) -> None:
    path = tmp_path / "searches.toml"
    search = '[one]\nquery = "flut"\n'
    path.write_text(f'{search}query_language = "de"\n', "utf-8")
    (saved,) = read_searches(path)
    assert saved.query.language == "de"
    path.write_text(search, "utf-8")
    (other,) = read_searches(path)
    assert other.query.language is None and other.definition() != saved.definition()
    assert "language" not in other.definition()
