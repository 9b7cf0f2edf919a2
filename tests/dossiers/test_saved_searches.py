"""Saved searches: kept by name, shared by role, and not overwritten by somebody who has read an older one."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from esr.dossiers.desk import Desk
from esr.dossiers.records import Conflict, Member, NoDossier, NotPermitted, Person
from esr.dossiers.saved_searches import SavedSearches
from esr.errors import UsageError

ANN, BOB, EVE = Person("ann"), Person("bob", frozenset({"politics"})), Person("eve")
STORM, FLOOD = {"q": ("storm",)}, {"q": ("flood",)}


@pytest.fixture
def searches(tmp_path: Path) -> Iterator[SavedSearches]:
    with Desk(str(tmp_path / "desk"), clock=lambda: datetime(2026, 1, 1, tzinfo=UTC)) as desk:
        yield SavedSearches(desk)


def names(searches: SavedSearches, person: Person) -> list[str]:
    return [search.name for search in searches.list_readable(person)]


def test_a_search_is_listed_by_name_for_its_owner_and_for_operators(searches: SavedSearches) -> None:
    for name in ("storms", "floods"):
        searches.create(ANN, f" {name} ", STORM)
    created = searches.create(BOB, "rain", FLOOD, {"to": ["mailto:b@example.org"]})
    assert (created.version, created.role, created.state) == (1, "owner", {})
    assert names(searches, ANN) == ["floods", "storms"] and names(searches, BOB) == ["rain"]
    assert names(searches, Person("root", is_operator=True)) == ["floods", "rain", "storms"]
    assert searches.read(BOB, created.id) == created
    assert created.changed_at == "2026-01-01T00:00:00.000Z"
    with pytest.raises(UsageError, match="the name is empty"):
        searches.create(ANN, " ", STORM)


def test_a_change_by_somebody_who_has_read_an_older_search_is_refused(searches: SavedSearches) -> None:
    first = searches.create(ANN, "storms", STORM)
    changed = searches.change(ANN, first.id, arguments=FLOOD, base=first.version)
    assert (changed.version, changed.name, changed.arguments) == (2, "storms", FLOOD)
    again = searches.change(ANN, first.id, arguments=FLOOD, base=first.version)
    assert again.version == 3, "both want the same"
    with pytest.raises(Conflict) as refused:
        searches.change(ANN, first.id, arguments={"q": ("rain",)}, base=first.version)
    assert (refused.value.field, refused.value.current) == ("arguments", FLOOD)
    named = searches.change(ANN, first.id, name="Floods")
    assert (named.name, named.arguments, named.delivery) == ("Floods", FLOOD, {})
    assert searches.change(ANN, first.id, arguments=STORM, base=named.version).arguments == STORM
    with pytest.raises(UsageError, match="the name is empty"):
        searches.change(ANN, first.id, name="")


def test_a_search_is_shared_by_role_and_given_away(searches: SavedSearches) -> None:
    id = searches.create(ANN, "storms", STORM).id
    with pytest.raises(NoDossier):
        searches.read(BOB, id)
    searches.share(ANN, id, "politics", "reader", is_group=True)
    searches.share(ANN, id, "eve", "writer")
    assert (searches.read(BOB, id).role, searches.read(EVE, id).role) == ("reader", "writer")
    assert names(searches, BOB) == ["storms"] and names(searches, Person("politics")) == []
    with pytest.raises(NotPermitted, match="you are a reader of this saved search, and may not change it"):
        searches.change(BOB, id, name="mine")
    assert searches.change(EVE, id, name="ours").role == "writer"
    for refused in (searches.delete, lambda *who: searches.share(*who, "bob", "reader")):
        with pytest.raises(NotPermitted):
            refused(EVE, id)
    with pytest.raises(UsageError, match="not as owner"):
        searches.share(ANN, id, "eve", "owner")
    searches.share(ANN, id, "politics", None, is_group=True)
    assert names(searches, BOB) == []
    searches.share(ANN, id, "*", "reader")
    assert searches.read(BOB, id).members == (Member("eve", "writer"), Member("*", "reader", True))
    searches.give(ANN, id, "eve")
    assert (searches.read(EVE, id).owner, searches.read(ANN, id).role) == ("eve", "writer")
    searches.give(EVE, id, "eve")
    assert [member.name for member in searches.read(EVE, id).members] == ["ann", "*"]
    searches.delete(EVE, id)
    assert names(searches, EVE) == names(searches, ANN) == []
    with pytest.raises(NoDossier):
        searches.delete(EVE, id)
