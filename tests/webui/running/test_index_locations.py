from __future__ import annotations

import pytest

from esr.errors import UsageError
from webui.running.index_locations import DEFAULT_NAME, parse_locations


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
