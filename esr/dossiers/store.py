"""The dossiers of a desk. Every change is one transaction: it checks rights, merges, logs and keeps a state.

A state names the items and their versions in order, and versions are never rewritten. So an old state can be
read and restored as it was, and a change by somebody who has read an older one is merged by item.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct, structs

from esr.dossiers import merging
from esr.dossiers.desk import Desk, make_id
from esr.dossiers.records import (
    EVERYBODY,
    KEPT_STATES,
    MOST_ITEMS,
    NOTE_CHARS,
    TITLE_CHARS,
    WORDS,
    Change,
    Content,
    Dossier,
    Edit,
    Item,
    Member,
    NoDossier,
    NotPermitted,
    Person,
    Role,
    Summary,
    Work,
    Written,
    allows,
    check_content,
    check_edit,
    check_text,
    find_role,
)
from esr.plugin import UsageError
from esr.plugin.provisional import import_lazily

if TYPE_CHECKING:
    import sqlalchemy as sql

    from esr.dossiers import tables
else:
    sql = import_lazily("sqlalchemy")
    tables = import_lazily("esr.dossiers.tables")

Order = tuple[tuple[str, int], ...]
"""The ids and versions of items."""
_MOST_PARAMETERS = 500
"""Values of one statement; SQLite takes a limited number."""


class State(Struct, frozen=True):
    """What a dossier is at a version, without the contents of its items."""

    name: str
    description: str
    order: Order

    @property
    def ids(self) -> list[str]:
        """The ids of the items, in their order."""
        return [item for item, _ in self.order]


class Dossiers:
    """The dossiers of a desk. Each method acts for a person, whose role must allow it.

    Methods raise NoDossier where there is no such dossier or the person may not know of it, NotPermitted
    where the role is too low, Conflict where somebody else changed the same value, UsageError for bad values,
    and DeskUnusable. `base` is the version of the dossier that the person has seen; without it, a change is
    one of the present state.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    # Reading

    def list_readable(self, person: Person, *, is_deleted: bool = False) -> list[Summary]:
        """The dossiers that the person may read, those that changed last first; or the deleted ones."""
        with self._desk.reading() as connection:
            rows = connection.execute(_readable(person, is_deleted)).mappings().all()
            shared = read_members(connection, [row["id"] for row in rows])
            return [
                Summary(role=role, **row)
                for row in rows
                if (role := find_role(person, row["owner"], shared.get(row["id"], ())))
                and (not is_deleted or role == "owner")
            ]

    def read(self, person: Person, id: str, version: int | None = None) -> Dossier:
        """A dossier, as it is now or as it was at one of its last versions."""
        with self._desk.reading() as connection:
            return OpenedDossier.find(connection, id, person).dossier(version)

    def history(self, person: Person, id: str) -> list[Change]:
        """The log of a dossier, the newest change first."""
        with self._desk.reading() as connection:
            OpenedDossier.find(connection, id, person, is_deleted_too=True)  # who finds it may read its log
            versions = set(connection.scalars(_of(tables.states, id, tables.states.c.version)))
            rows = connection.execute(
                _of(tables.changes, id).order_by(tables.changes.c.version.desc())
            ).mappings()
            return [
                Change(
                    version=row["version"],
                    at=row["at"],
                    who=row["who"],
                    action=row["action"],
                    items=tuple(msgspec.json.decode(row["items"])),
                    detail=row["detail"],
                    can_be_restored=row["version"] in versions,
                )
                for row in rows
            ]

    def find_holding(self, person: Person, ids: Collection[str]) -> dict[str, list[str]]:
        """The ids of the readable dossiers that hold a sentence or a document, by the id of that."""
        readable = {summary.id for summary in self.list_readable(person)}
        holding: dict[str, list[str]] = {}
        table = tables.holdings.c
        with self._desk.reading() as connection:
            for some in _slices(list(dict.fromkeys(ids))):
                # With sentence_id == "", SQLite takes the index of that, and reads all documents of the desk.
                is_document = sql.func.length(table.sentence_id) == 0
                query = sql.select(table.dossier, table.document_id, table.sentence_id).where(
                    table.sentence_id.in_(some) | (is_document & table.document_id.in_(some))
                )
                for dossier, document_id, sentence_id in connection.execute(query.order_by(table.dossier)):
                    if dossier in readable:
                        holding.setdefault(sentence_id or document_id, []).append(dossier)
        return holding

    # Changing what is in a dossier

    def create(
        self, person: Person, name: str, description: str = "", contents: Iterable[Content] = ()
    ) -> Dossier:
        """Make a dossier, which the person owns, with these items. If one cannot be kept, it is not made."""
        name = check_text("name", name, TITLE_CHARS, is_required=True)
        description = check_text("description", description, NOTE_CHARS)
        checked = {content.place: content for content in map(check_content, contents)}
        with self._desk.writing() as connection:
            now, id = self._desk.now(), make_id()
            connection.execute(
                tables.dossiers.insert().values(
                    id=id,
                    owner=person.name,
                    version=0,
                    created_at=now,
                    changed_at=now,
                    changed_by=person.name,
                )
            )
            opened = OpenedDossier.find(connection, id, person)
            items = [opened.make_item(content, now) for content in checked.values()]
            state = State(name, description, tuple((item.id, item.version) for item in items))
            opened.save(now, "create", state, items, name, tuple(state.ids))
            return opened.dossier()

    def rename(
        self,
        person: Person,
        id: str,
        *,
        name: str | None = None,
        description: str | None = None,
        base: int | None = None,
    ) -> Written:
        """Change the name or the description of a dossier."""
        new = {}
        if name is not None:
            new["name"] = check_text("name", name, TITLE_CHARS, is_required=True)
        if description is not None:
            new["description"] = check_text("description", description, NOTE_CHARS)

        def make(opened: OpenedDossier, now: str) -> Outcome:
            before = opened.state_at(base)
            values = {
                field: merging.merge_value(
                    field, getattr(before, field) if before else None, getattr(opened.state, field), value
                )
                for field, value in new.items()
            }
            return Outcome("rename", structs.replace(opened.state, **values), detail=values.get("name", ""))

        return self.change(person, id, make)

    def add(
        self, person: Person, id: str, contents: Iterable[Content], *, after: str | None = None
    ) -> Written:
        """Add items at the end, or behind the item `after`. What is there already is not added again."""
        checked = [check_content(content) for content in contents]

        def make(opened: OpenedDossier, now: str) -> Outcome:
            held = {item.place: item.id for item in opened.items()}
            added: dict[tuple[str, str, str], Item] = {}
            known = []
            for content in checked:
                if content.place in held:
                    known.append(held[content.place])
                elif content.place not in added:
                    added[content.place] = opened.make_item(content, now)
            items = tuple(added.values())
            versions = dict(opened.state.order) | {item.id: item.version for item in items}
            order = [*opened.state.ids, *(item.id for item in items)]
            if after is not None:
                order = merging.move(order, [item.id for item in items], after, None)
            state = structs.replace(opened.state, order=_number(order, versions))
            return Outcome("add", state, items, known=tuple(known))

        return self.change(person, id, make)

    def edit(self, person: Person, id: str, item: str, edit: Edit, *, base: int | None = None) -> Written:
        """Change the note, tags, highlights or judgement of an item. `base`: its version as it was read."""

        def make(opened: OpenedDossier, now: str) -> Outcome:
            current = opened.item(item)
            before = current if base is None else opened.item_at(item, base)
            changed, merged = merging.merge_edit(before, current, check_edit(edit, current.text))
            if changed == current:
                return Outcome("edit", opened.state, (), merged)
            changed = structs.replace(changed, version=opened.next, changed_by=person.name, changed_at=now)
            changed = structs.replace(changed, **check_edit(_edit_of(changed), changed.text).as_dict())
            versions = dict(opened.state.order) | {item: changed.version}
            state = structs.replace(opened.state, order=_number(opened.state.ids, versions))
            fields = [name for name in edit.as_dict() if getattr(changed, name) != getattr(current, name)]
            return Outcome("edit", state, (changed,), merged, detail=", ".join(fields))

        return self.change(person, id, make)

    def move(
        self,
        person: Person,
        id: str,
        items: Iterable[str],
        *,
        after: str | None = None,
        base: int | None = None,
    ) -> Written:
        """Move items behind the item `after`, or to the start without it."""
        moved = list(items)

        def make(opened: OpenedDossier, now: str) -> Outcome:
            before = opened.state_at(base)
            order = merging.move(opened.state.ids, moved, after, before.ids if before else None)
            state = structs.replace(opened.state, order=_number(order, dict(opened.state.order)))
            return Outcome("move", state, about=tuple(moved))

        return self.change(person, id, make)

    def arrange(self, person: Person, id: str, order: Sequence[str]) -> Written:
        """Put the items into this order. Items that it does not name stay behind the one before them."""

        def make(opened: OpenedDossier, now: str) -> Outcome:
            arranged = merging.arrange(opened.state.ids, order)
            state = structs.replace(opened.state, order=_number(arranged, dict(opened.state.order)))
            return Outcome("arrange", state)

        return self.change(person, id, make)

    def remove(self, person: Person, id: str, items: Iterable[str]) -> Written:
        """Remove items. Those that somebody else has removed already are no error."""
        removed = set(items)

        def make(opened: OpenedDossier, now: str) -> Outcome:
            order = tuple(pair for pair in opened.state.order if pair[0] not in removed)
            about = tuple(item for item in opened.state.ids if item in removed)
            return Outcome("remove", structs.replace(opened.state, order=order), about=about)

        return self.change(person, id, make)

    def restore(self, person: Person, id: str, version: int) -> Written:
        """Make the state of an earlier version the present one, which is a change itself.

        Its owner restores a deleted dossier so. Members and links stay as they are.
        """

        def make(opened: OpenedDossier, now: str) -> Outcome:
            old = opened.state_at(version)
            if old is None:
                raise NoDossier(
                    f"version {version} of this dossier is not kept: the last {KEPT_STATES} versions are"
                )
            opened.undelete()
            return Outcome("restore", old, detail=str(version), is_forced=opened.was_deleted)

        return self.change(person, id, make, work="restore", is_deleted_too=True)

    # Sharing

    def share(
        self, person: Person, id: str, name: str, role: Role | None, *, is_group: bool = False
    ) -> Written:
        """Make an account or a group a reader or writer; None takes the role away. '*' is everybody."""
        name = check_text("name of an account or a group", name, TITLE_CHARS, is_required=True)
        if role not in ("reader", "writer", None):
            raise UsageError(
                f"share as reader or as writer, not as {role}: give it to make somebody the owner"
            )
        is_group = is_group or name == EVERYBODY

        def make(opened: OpenedDossier, now: str) -> Outcome:
            write_member(
                opened.connection, id, Member(name, role or "reader", is_group), is_member=bool(role)
            )
            kind = "group" if is_group else "account"
            return Outcome(
                "share", opened.state, detail=f"{kind} {name}: {role or 'no role'}", is_forced=True
            )

        return self.change(person, id, make, work="share")

    def give(self, person: Person, id: str, name: str) -> Written:
        """Make another account the owner. The former owner stays a writer."""
        name = check_text("name of an account", name, TITLE_CHARS, is_required=True)

        def make(opened: OpenedDossier, now: str) -> Outcome:
            former = opened.row["owner"]
            if former != name:
                write_member(opened.connection, id, Member(former, "writer"), is_member=True)
                write_member(opened.connection, id, Member(name, "writer"), is_member=False)
            opened.update(owner=name)
            return Outcome("give", opened.state, detail=f"{former}: {name}", is_forced=True)

        return self.change(person, id, make, work="share")

    def delete(self, person: Person, id: str) -> None:
        """Delete a dossier. Its owner sees it in the list of deleted ones, and can restore it."""

        def make(opened: OpenedDossier, now: str) -> Outcome:
            opened.update(deleted_at=now)
            return Outcome("delete", opened.state, is_forced=True)

        self.change(person, id, make, work="delete")

    def erase(self, person: Person, id: str) -> None:
        """Delete a dossier with its log and all its states, for good."""
        with self._desk.writing() as connection:
            OpenedDossier.find(connection, id, person, is_deleted_too=True).check("delete")
            for table in (tables.changes, tables.holdings, tables.item_versions, tables.states, tables.links):
                connection.execute(table.delete().where(table.c.dossier == id))
            connection.execute(tables.members.delete().where(tables.members.c.thing == id))
            connection.execute(tables.dossiers.delete().where(tables.dossiers.c.id == id))

    def change(
        self,
        person: Person,
        id: str,
        make: Callable[[OpenedDossier, str], Outcome],
        work: Work = "change",
        is_deleted_too: bool = False,
    ) -> Written:
        """Make a change in a transaction of its own: `make` gets the opened dossier and the present time.

        What changes nothing is neither logged nor a version.
        """
        with self._desk.writing() as connection:
            opened = OpenedDossier.find(connection, id, person, is_deleted_too=is_deleted_too)
            opened.check(work)
            now = self._desk.now()
            outcome = make(opened, now)
            if outcome.state != opened.state or outcome.is_forced:
                about = outcome.about or tuple(item.id for item in outcome.items)
                opened.save(now, outcome.action, outcome.state, outcome.items, outcome.detail, about)
            return Written(
                version=opened.version, items=outcome.items, merged=outcome.merged, known=outcome.known
            )


class Outcome(Struct, frozen=True):
    """What a change makes of a dossier. `is_forced`: it counts as a change even if the state is as before."""

    action: str
    state: State
    items: tuple[Item, ...] = ()
    merged: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    about: tuple[str, ...] = ()
    detail: str = ""
    is_forced: bool = False


class OpenedDossier:
    """A dossier in a transaction."""

    def __init__(
        self, connection: sql.Connection, row: dict[str, Any], person: Person, role: Role | None = None
    ) -> None:
        self.connection = connection
        self.row = row
        self.id: str = row["id"]
        self.version: int = row["version"]
        self._person = person
        self.members: tuple[Member, ...] = read_members(connection, [self.id]).get(self.id, ())
        self.role = role or find_role(person, row["owner"], self.members)
        self.was_deleted: bool = bool(row["deleted_at"])
        self.state: State = self.state_at(self.version) or State("", "", ())

    @classmethod
    def find(
        cls,
        connection: sql.Connection,
        id: str,
        person: Person,
        *,
        is_deleted_too: bool = False,
        role: Role | None = None,
    ) -> OpenedDossier:
        """The dossier of an id, locked until the end of the transaction if this one writes.

        `role` is that of somebody who has another right than a member. Raises NoDossier.
        """
        query = sql.select(tables.dossiers).where(tables.dossiers.c.id == id)
        if connection.get_execution_options().get("esr_begin") != "BEGIN":
            query = query.with_for_update()
        row = connection.execute(query).mappings().one_or_none()
        if row is not None and (not row["deleted_at"] or is_deleted_too):
            opened = cls(connection, dict(row), person, role)
            if opened.role is not None and (not opened.was_deleted or opened.role == "owner"):
                return opened
        raise NoDossier(f"there is no dossier {id!r}, or you may not read it")

    @property
    def next(self) -> int:
        """The version that a change makes."""
        return self.version + 1

    def check(self, work: Work) -> None:
        """Raise NotPermitted unless the role of the person allows the work."""
        if not allows(self.role, work):
            raise NotPermitted(f"you are a {self.role} of this dossier, and may not {WORDS[work]}")

    def state_at(self, version: int | None) -> State | None:
        """The state at a version, by default the present one; None if it is not kept."""
        if version is None:
            return self.state
        if not self._has_been(version):
            return None
        table = tables.states.c
        row = self.connection.execute(
            sql.select(table.name, table.description, table.content).where(
                table.dossier == self.id, table.version == version
            )
        ).one_or_none()
        return row and State(row.name, row.description, msgspec.json.decode(row.content, type=Order))

    def _has_been(self, version: int) -> bool:
        """Whether there was such a version. A database refuses numbers that are too large for it."""
        return 0 < version <= self.version

    def items(self, order: Order | None = None) -> list[Item]:
        """The items of a state, by default of the present one, in their order."""
        order = self.state.order if order is None else order
        table = tables.item_versions.c
        wanted, contents = dict(order), dict[str, Item]()
        for some in _slices(list(wanted)):
            query = sql.select(table.item, table.version, table.content).where(
                table.dossier == self.id, table.item.in_(some)
            )
            for item, version, content in self.connection.execute(query):
                if wanted[item] == version:
                    contents[item] = msgspec.json.decode(content, type=Item)
        return [contents[item] for item, _ in order]

    def make_item(self, content: Content, now: str) -> Item:
        """A new item with this content, which the change adds."""
        values = {name: getattr(content, name) for name in Content.__struct_fields__}
        return Item(id=make_id(), version=self.next, added_by=self._person.name, added_at=now, **values)

    def item(self, id: str) -> Item:
        """An item of the present state. Raises NoDossier."""
        items = self.items(tuple(pair for pair in self.state.order if pair[0] == id))
        if not items:
            raise NoDossier(f"there is no item {id!r} in this dossier, or somebody has removed it")
        return items[0]

    def item_at(self, id: str, version: int) -> Item | None:
        """An item as it was at a version, of its own or of the dossier; None if that is not kept."""
        if not self._has_been(version):
            return None
        state = self.state_at(version)
        item_version = dict(state.order).get(id, version) if state else version
        table = tables.item_versions.c
        content = self.connection.scalar(
            sql.select(table.content).where(
                table.dossier == self.id, table.item == id, table.version == item_version
            )
        )
        return None if content is None else msgspec.json.decode(content, type=Item)

    def dossier(self, version: int | None = None) -> Dossier:
        """The dossier at a version, by default the present one. Raises NoDossier if it is not kept."""
        state = self.state_at(version)
        if state is None:
            raise NoDossier(f"version {version} of this dossier is not kept")
        assert self.role is not None
        return Dossier(
            id=self.id,
            name=state.name,
            description=state.description,
            owner=self.row["owner"],
            role=self.role,
            version=self.version if version is None else version,
            created_at=self.row["created_at"],
            changed_at=self.row["changed_at"],
            changed_by=self.row["changed_by"],
            items=tuple(self.items(state.order)),
            members=self.members if self.role != "link" else (),
            deleted_at=self.row["deleted_at"],
        )

    def update(self, **values: Any) -> None:
        """Change columns of the dossier's row."""
        self.row.update(values)
        table = tables.dossiers
        self.connection.execute(table.update().where(table.c.id == self.id).values(**values))

    def undelete(self) -> None:
        """Make the dossier one that is not deleted."""
        self.update(deleted_at="")

    def save(
        self,
        now: str,
        action: str,
        state: State,
        items: Iterable[Item],
        detail: str = "",
        about: tuple[str, ...] = (),
    ) -> None:
        """Write a new state with its items as the present version, and forget states that are too old.

        Raises UsageError for a state with too many items.
        """
        if len(state.order) > MOST_ITEMS:
            raise UsageError(f"a dossier has at most {MOST_ITEMS:,} items: begin another one")
        connection, version = self.connection, self.next
        encode = msgspec.json.encode
        rows = [
            {"dossier": self.id, "item": item.id, "version": item.version, "content": encode(item).decode()}
            for item in items
        ]
        if rows:
            connection.execute(tables.item_versions.insert(), rows)
        connection.execute(
            tables.states.insert().values(
                dossier=self.id,
                version=version,
                name=state.name,
                description=state.description,
                items=len(state.order),
                content=encode(state.order).decode(),
            )
        )
        connection.execute(
            tables.changes.insert().values(
                dossier=self.id,
                version=version,
                at=now,
                who=self._person.name,
                action=action,
                items=encode(about).decode(),
                detail=detail,
            )
        )
        self._save_holdings(state)
        self.state, self.version = state, version
        self.update(version=version, changed_at=now, changed_by=self._person.name)
        self._forget()

    def _save_holdings(self, state: State) -> None:
        before, after = set(self.state.ids), set(state.ids)
        table = tables.holdings
        for some in _slices(list(before - after)):
            self.connection.execute(table.delete().where(table.c.dossier == self.id, table.c.item.in_(some)))
        new = self.items(tuple(pair for pair in state.order if pair[0] not in before))
        if new:
            self.connection.execute(
                table.insert(),
                [
                    {
                        "dossier": self.id,
                        "item": item.id,
                        "document_id": item.document_id,
                        "sentence_id": item.sentence_id,
                    }
                    for item in new
                ],
            )

    def _forget(self) -> None:
        """Delete the states before the last ones, and versions of items that no state names any more."""
        states, versions = tables.states, tables.item_versions
        is_old = states.c.version < self.version - KEPT_STATES
        forgotten: set[tuple[str, int]] = set()
        for content in self.connection.scalars(_of(states, self.id, states.c.content).where(is_old)):
            forgotten.update(msgspec.json.decode(content, type=Order))
        self.connection.execute(states.delete().where(states.c.dossier == self.id, is_old))
        if forgotten:
            for content in self.connection.scalars(_of(states, self.id, states.c.content)):
                forgotten.difference_update(msgspec.json.decode(content, type=Order))
        for item, version in forgotten:
            self.connection.execute(
                versions.delete().where(
                    versions.c.dossier == self.id, versions.c.item == item, versions.c.version == version
                )
            )


def _edit_of(item: Item) -> Edit:
    return Edit(note=item.note, tags=item.tags, highlights=item.highlights, judgement=item.judgement)


def _number(order: Iterable[str], versions: Mapping[str, int]) -> Order:
    return tuple((item, versions[item]) for item in order)


def _slices(values: Sequence[str]) -> Iterable[Sequence[str]]:
    return (values[i : i + _MOST_PARAMETERS] for i in range(0, len(values), _MOST_PARAMETERS))


def _of(table: sql.Table, dossier: str, *columns: Any) -> sql.Select[Any]:
    return sql.select(*(columns or (table,))).where(table.c.dossier == dossier)


def _readable(person: Person, is_deleted: bool) -> sql.Select[Any]:
    """The rows of the dossiers of which a person may know, with the values of summaries."""
    table, state = tables.dossiers.c, tables.states.c
    query = (
        sql.select(
            table.id,
            state.name,
            state.description,
            table.owner,
            table.version,
            state["items"],
            table.created_at,
            table.changed_at,
            table.changed_by,
            table.deleted_at,
        )
        .join(tables.states, (state.dossier == table.id) & (state.version == table.version))
        .where((table.deleted_at != "") if is_deleted else (table.deleted_at == ""))
        .order_by(table.changed_at.desc(), table.id)
    )
    return query if person.is_operator else query.where(is_known_to(person, table.id, table.owner))


def is_known_to(person: Person, id: Any, owner: Any) -> Any:
    """The condition that a person owns a thing, or is its member, by the columns of its id and its owner."""
    member = tables.members.c
    groups = [EVERYBODY, *sorted(person.groups)]
    shared = sql.select(member.thing).where(
        (~member.is_group & (member.name == person.name)) | (member.is_group & member.name.in_(groups))
    )
    return (owner == person.name) | id.in_(shared)


def read_members(connection: sql.Connection, ids: Sequence[str]) -> dict[str, tuple[Member, ...]]:
    """The readers and writers of dossiers and saved searches, by their ids."""
    table = tables.members.c
    members: dict[str, list[Member]] = {}
    for some in _slices(ids):
        query = sql.select(table.thing, table.name, table.role, table.is_group).where(table.thing.in_(some))
        for id, name, role, is_group in connection.execute(query.order_by(table.is_group, table.name)):
            members.setdefault(id, []).append(Member(name, role, bool(is_group)))
    return {id: tuple(of_id) for id, of_id in members.items()}


def write_member(connection: sql.Connection, id: str, member: Member, *, is_member: bool) -> None:
    """Give a member its role, in place of a former one, or take it away."""
    table = tables.members
    connection.execute(
        table.delete().where(
            table.c.thing == id, table.c.is_group == member.is_group, table.c.name == member.name
        )
    )
    if is_member:
        values = {"name": member.name, "role": member.role, "is_group": member.is_group}
        connection.execute(table.insert().values(thing=id, **values))
