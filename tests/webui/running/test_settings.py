from __future__ import annotations

import re
from pathlib import Path

import pytest

from esr.cli import reference
from esr.errors import UsageError
from webui.running.settings import DEFAULT_NAME, Settings, parse_locations

ROOT = Path(__file__).resolve().parents[3]


def test_the_table_has_every_setting_with_its_default_and_help() -> None:
    table = {row.name: row for row in Settings.table()}
    assert table["max_k"].default == Settings().max_k == 100
    assert table["query_chars"].default == 2_000
    assert all(row.help for row in table.values())
    assert set(table) == set(Settings.__dataclass_fields__)


def test_the_reference_lists_every_variable_that_the_code_reads() -> None:
    files = [path for folder in ("esr", "webui") for path in (ROOT / folder).rglob("*.py")]
    named = {name for path in files for name in re.findall(r"\bESR_[A-Z_]*[A-Z]\b", path.read_text("utf-8"))}
    named |= {row.variable for row in Settings.table()}
    written = re.findall(r"^\| `(ESR_[A-Z_]+)` \| .+ \|", reference.build_page(), re.M)
    assert set(written) == named
    assert len(written) == len(named)


def test_variables_of_the_environment_change_settings_and_empty_ones_do_not() -> None:
    settings = Settings.from_environment(
        {"ESR_MAX_K": "7", "ESR_DEADLINE": "1.5", "ESR_RATE": " 5/second ", "ESR_THREADS": "", "HOME": "/"}
    )
    assert settings == Settings(max_k=7, deadline=1.5, rate="5/second")


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("ESR_MAX_K", "many", "a whole number, not 'many'"),
        ("ESR_MAX_K", "0", "a whole number from 1 to 1,000,000,000, not 0"),
        ("ESR_MAX_K", "1.5", "a whole number"),
        ("ESR_MAX_K", "1000000001", "from 1 to 1,000,000,000, not 1000000001"),
        ("ESR_DEADLINE", "0", "a number from 0.1 to"),
        ("ESR_DEADLINE", "nan", "a number from 0.1 to"),
        ("ESR_DEADLINE", "inf", "a number from 0.1 to"),
        ("ESR_PROXIES", "-1", "from 0 to"),
    ],
)
def test_the_error_for_a_bad_value_names_the_variable(variable: str, value: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        Settings.from_environment({variable: value})
    assert variable in str(caught.value)


def test_a_single_place_needs_no_name() -> None:
    for where in ("my-index", "http://user:a=b@host:9200/news", "/data/a=b", "C:=x"):
        assert parse_locations(where) == {DEFAULT_NAME: where}


def test_several_places_have_names_and_keep_their_order() -> None:
    locations = parse_locations(" news=my-index  old=http://u:p@h:9200/old?a=b ")
    assert list(locations.items()) == [("news", "my-index"), ("old", "http://u:p@h:9200/old?a=b")]


@pytest.mark.parametrize("where", ["a=x b", "a=x A=y", "a=x a=y", "a=x =y"])
def test_each_of_several_places_needs_a_name_of_its_own(where: str) -> None:
    with pytest.raises(UsageError, match="name"):
        parse_locations(where)
