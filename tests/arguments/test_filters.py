"""The table of filters, from which every door has its filters, under the same and the former names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import click
import pytest
from click.testing import CliRunner

from esr.arguments.argument import COMMAND, PYTHON, WATCH, Argument
from esr.arguments.filters import FILTERS, filters_of, read_filters
from esr.arguments.tables.table import PAGE
from esr.arguments.types import Day, Flag
from esr.cli.ranking_options import filter_options
from esr.errors import UsageError
from esr.following.alerts.saved_searches import read_searches
from esr.index.filters import Filters
from esr.library.options import SearchOptions, read_search_options
from webui.arguments.request import decode_arguments, parse_filters
from webui.running.settings import Settings

SETTINGS = Settings()
EXAMPLES = {
    **{"meta": "desk=Berlin", "entity": "person:Ann Lee", "after": "2017-02", "before": "2018"},
    "independent": "yes",
}


def read_options(values: Mapping[str, str]) -> Filters:
    """The filters that a command receives."""
    received = []

    @click.command()
    @filter_options
    def command(filters: Filters) -> None:
        received.append(filters)

    arguments = [text for name, value in values.items() for text in (f"--{name}", value) if text]
    CliRunner().invoke(command, arguments, catch_exceptions=False, standalone_mode=False)
    return received[0]


def read_keywords(values: Mapping[str, str]) -> Filters:
    return read_search_options(values).filters


def read_address(values: Mapping[str, str]) -> Filters:
    return parse_filters(decode_arguments(urlencode(values).encode(), SETTINGS, "page"))


def read_operation(values: Mapping[str, str]) -> Filters:
    return parse_filters(decode_arguments(urlencode(values).encode(), SETTINGS, "timeline"))


@pytest.fixture
def read_file(tmp_path: Path) -> Callable[[Mapping[str, str]], Filters]:
    def read(values: Mapping[str, str]) -> Filters:
        lines = "".join(f'{name} = "{value}"\n' for name, value in values.items())
        path = tmp_path / "searches.toml"
        path.write_text(f'[one]\nquery = "flood"\n{lines}', "utf-8")
        return read_searches(path)[0].filters

    return read


@pytest.mark.parametrize("row", FILTERS, ids=lambda row: row.name)
def test_a_filter_means_the_same_at_every_door(
    row: Argument, read_file: Callable[[Mapping[str, str]], Filters]
) -> None:
    values = {row.name: EXAMPLES.get(row.name, "x")}
    wanted = read_filters(values)
    assert wanted
    if isinstance(row.type, Flag):  # an option has no value, and files and keywords have their own ones
        assert wanted == read_filters({row.name: True}) != read_filters({row.name: "no"})
        assert read_options({row.name: ""}) == read_address(values) == read_operation(values) == wanted
        return
    for read in (read_options, read_keywords, read_address, read_operation, read_file):
        assert read(values) == wanted, read


@pytest.mark.parametrize("last", ["2017", "2017-02", "2017-02-28", "2017-W09", "2017-02-28T12:00:00Z"])
def test_the_former_names_of_dates_still_work_at_every_door(
    last: str, read_file: Callable[[Mapping[str, str]], Filters]
) -> None:
    values = {"from": "2016-02", "to": last}
    wanted = Filters(date_from="2016-02", date_to=last)
    assert read_filters(values) == wanted
    for read in (read_options, read_address, read_operation, read_file):
        assert read(values) == wanted, read
    with pytest.warns(DeprecationWarning, match="'before'"):
        assert read_keywords({"after": "2016-02", "to": last}) == wanted


def test_after_includes_its_date_and_before_does_not() -> None:
    wanted = Filters(date_from="2017-02-01", date_to="2017-02-28")
    assert read_filters({"after": "2017-02", "before": "2017-03"}) == wanted
    assert read_filters({"after": date(2017, 2, 1), "before": date(2017, 3, 1)}) == wanted
    assert read_filters({"before": 2018}) == Filters(date_to="2017")


def test_the_keywords_of_python_are_those_of_the_table() -> None:
    names = [name for row in filters_of(PYTHON) for name, _ in row.names(PYTHON)]
    keywords = list(SearchOptions.__annotations__)
    assert sorted(keywords[: len(names)]) == sorted(names)


def test_doors_take_the_rows_that_name_them() -> None:
    def command(filters: Filters) -> None: ...

    options = {option.name for option in click.command(filter_options(command)).params}
    assert {row.name for row in filters_of(COMMAND)} <= options
    assert {name for name, row in PAGE.items() if row.group == "filter"} == {
        r.name for r in filters_of("page")
    }
    assert filters_of(WATCH) == FILTERS


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ({"after": "2018", "before": "2017"}, ["'after'", "'before'", "2018", "2017"]),
        ({"from": "2018", "to": "2017"}, ["'from'", "'to'", "2018", "2017"]),
        ({"before": "soon"}, ["'before'", "'soon'"]),
        ({"after": 20170102}, ["'after'", "20170102"]),
        ({"form": "x"}, ["'form'"]),
    ],
)
def test_a_bad_filter_is_named(values: Mapping[str, Any], names: list[str]) -> None:
    with pytest.raises(UsageError) as error:
        read_filters(values)
    assert all(name in str(error.value) for name in names)


@pytest.mark.parametrize("text", ["2017", "2017-12", "2017-12-31", "2017-02-07T10:30:00.5+01:00"])
def test_a_moment_is_written_as_it_is_read(text: str) -> None:
    for edge in ("first", "last", "before"):
        moment = Day(edge=edge).read_value("date", text)
        for other in (Day(edge="first"), Day(edge="before")):
            assert other.read_value("date", other.write(moment)) == moment
