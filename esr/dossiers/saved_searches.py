"""The saved searches of accounts: what is searched, how it is delivered, and what the delivery remembers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from esr.dossiers.desk import Desk, make_id
from esr.dossiers.records import (
    EVERYBODY,
    TITLE_CHARS,
    WORDS,
    Conflict,
    Member,
    NoDossier,
    NotPermitted,
    Person,
    Role,
    SavedSearch,
    Work,
    allows,
    check_storable,
    check_text,
    find_role,
)
from esr.dossiers.store import is_known_to, read_members, write_member
from esr.plugin import UsageError
from esr.plugin.provisional import import_lazily

if TYPE_CHECKING:
    import sqlalchemy as sql

    from esr.dossiers import tables
else:
    sql = import_lazily("sqlalchemy")
    tables = import_lazily("esr.dossiers.tables")

_JSON = ("arguments", "delivery", "state")


class SavedSearches:
    """The saved searches of a desk. Each method acts for a person, whose role must allow it.

    Methods raise NoDossier where there is no such search or the person may not know of it, NotPermitted where
    the role is too low, Conflict where somebody else has changed it, UsageError and DeskUnusable.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def list_readable(self, person: Person) -> list[SavedSearch]:
        """The saved searches that the person may read, by name. An operator gets those of all accounts."""
        table = tables.saved_searches
        query = sql.select(table).order_by(table.c.name, table.c.id)
        if not person.is_operator:
            query = query.where(is_known_to(person, table.c.id, table.c.owner))
        with self._desk.reading() as connection:
            rows = connection.execute(query).mappings().all()
            members = read_members(connection, [row["id"] for row in rows])
            return [_read_row(dict(row), person, members.get(row["id"], ())) for row in rows]

    def read(self, person: Person, id: str) -> SavedSearch:
        """The saved search of an id."""
        with self._desk.reading() as connection:
            return self._find(connection, person, id, "read")

    def create(
        self,
        person: Person,
        name: str,
        arguments: Mapping[str, tuple[str, ...]],
        delivery: Mapping[str, Any] | None = None,
    ) -> SavedSearch:
        """Keep a search, which the person owns. `arguments` are not checked here."""
        now = self._desk.now()
        search = SavedSearch(
            id=make_id(),
            name=check_text("name", name, TITLE_CHARS, is_required=True),
            owner=person.name,
            role="owner",
            version=1,
            arguments=arguments,
            delivery=delivery or {},
            state={},
            created_at=now,
            changed_at=now,
        )
        row = {column.name: getattr(search, column.name) for column in tables.saved_searches.columns}
        with self._desk.writing() as connection:
            connection.execute(tables.saved_searches.insert().values(**_encode(row)))
        return search

    def change(
        self,
        person: Person,
        id: str,
        *,
        name: str | None = None,
        arguments: Mapping[str, tuple[str, ...]] | None = None,
        delivery: Mapping[str, Any] | None = None,
        base: int | None = None,
    ) -> SavedSearch:
        """Change a search. `base`: its version as it was read; Conflict if it has changed since."""
        new: dict[str, Any] = {"arguments": arguments, "delivery": delivery}
        if name is not None:
            new["name"] = check_text("name", name, TITLE_CHARS, is_required=True)
        new = {field: value for field, value in new.items() if value is not None}
        with self._desk.writing() as connection:
            search = self._find(connection, person, id, "change")
            if base is not None and base != search.version:
                for field, value in new.items():
                    _check_unchanged(field, getattr(search, field), value)
            self._update(
                connection, id, {**new, "version": search.version + 1, "changed_at": self._desk.now()}
            )
            return self._find(connection, person, id, "read")

    def share(self, person: Person, id: str, name: str, role: Role | None, *, is_group: bool = False) -> None:
        """Make an account or a group a reader or writer; None takes the role away. '*' is everybody."""
        name = check_text("name of an account or a group", name, TITLE_CHARS, is_required=True)
        if role not in ("reader", "writer", None):
            raise UsageError(f"share as reader or as writer, not as {role}")
        with self._desk.writing() as connection:
            self._find(connection, person, id, "share")
            member = Member(name, role or "reader", is_group or name == EVERYBODY)
            write_member(connection, id, member, is_member=bool(role))

    def give(self, person: Person, id: str, name: str) -> None:
        """Make another account the owner. The former owner stays a writer."""
        name = check_text("name of an account", name, TITLE_CHARS, is_required=True)
        with self._desk.writing() as connection:
            search = self._find(connection, person, id, "share")
            if search.owner != name:
                write_member(connection, id, Member(search.owner, "writer"), is_member=True)
                write_member(connection, id, Member(name, "writer"), is_member=False)
            self._update(connection, id, {"owner": name})

    def delete(self, person: Person, id: str) -> None:
        """Delete a search with what its delivery remembers."""
        with self._desk.writing() as connection:
            self._find(connection, person, id, "delete")
            connection.execute(tables.members.delete().where(tables.members.c.thing == id))
            connection.execute(tables.saved_searches.delete().where(tables.saved_searches.c.id == id))

    def _find(self, connection: sql.Connection, person: Person, id: str, work: Work) -> SavedSearch:
        table = tables.saved_searches
        query = sql.select(table).where(table.c.id == id)
        row = (
            connection.execute(query if work == "read" else query.with_for_update()).mappings().one_or_none()
        )
        members = read_members(connection, [id]).get(id, ())
        if row is None or find_role(person, row["owner"], members) is None:
            raise NoDossier(f"there is no saved search {id!r}, or you may not read it")
        search = _read_row(dict(row), person, members)
        if not allows(search.role, work):
            raise NotPermitted(f"you are a {search.role} of this saved search, and may not {WORDS[work]}")
        return search

    def _update(self, connection: sql.Connection, id: str, values: Mapping[str, Any]) -> None:
        table = tables.saved_searches
        connection.execute(table.update().where(table.c.id == id).values(**_encode(values)))


def _check_unchanged(field: str, now: Any, new: Any) -> None:
    """Raise Conflict if somebody else's value would be lost."""
    if new != now:
        raise Conflict(
            f"somebody else changed this search since you read it: read it again, then change its {field}",
            field,
            now,
        )


def _encode(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values as they are stored. Raises UsageError for texts that no database stores."""
    for name in _JSON:
        check_storable("search", values.get(name))
    return {
        name: msgspec.json.encode(value).decode() if name in _JSON else value
        for name, value in values.items()
    }


def _read_row(row: Mapping[str, Any], person: Person, members: tuple[Member, ...]) -> SavedSearch:
    role = find_role(person, row["owner"], members)
    assert role is not None
    values = {name: msgspec.json.decode(value) if name in _JSON else value for name, value in row.items()}
    values["arguments"] = {name: tuple(texts) for name, texts in values["arguments"].items()}
    return SavedSearch(role=role, members=members, **values)
