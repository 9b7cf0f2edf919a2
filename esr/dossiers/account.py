"""The dossiers of one person, for programs: what `esr.open_dossiers` returns."""

from __future__ import annotations

import getpass
import os
from collections.abc import Iterable, Iterator, Sequence

from msgspec import UNSET, UnsetType, structs

from esr.dossiers.contents import read_contents
from esr.dossiers.desk import Desk, open_desk
from esr.dossiers.links import LINK_DAYS, ReadingLinks
from esr.dossiers.readings import Look, Reading, read_items
from esr.dossiers.records import (
    Change,
    Content,
    Dossier,
    Edit,
    Highlight,
    Link,
    NoDossier,
    Person,
    Role,
    Summary,
    Written,
)
from esr.dossiers.store import Dossiers
from esr.plugin import Index, UsageError


class AccountDossiers:
    """The dossiers of a desk, as one person reads and changes them. Close it, or use it in a `with` block.

    `person` acts, and the log names it. `dossier` is always an id, or a name that only one dossier has.
    Methods raise UsageError for what does not exist or cannot be used, EsrError for what the person may not
    do and for a desk that cannot be used.
    """

    person: Person

    def __init__(self, desk: Desk, person: Person) -> None:
        self.person = person
        self._desk = desk
        self._store = Dossiers(desk)
        self._links = ReadingLinks(desk)

    def __enter__(self) -> AccountDossiers:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Summary]:
        return iter(self.summaries())

    def close(self) -> None:
        """Close the desk."""
        self._desk.close()

    def summaries(self, *, deleted: bool = False) -> list[Summary]:
        """The dossiers that the person may read, those that changed last first; or the deleted ones."""
        return self._store.list_readable(self.person, is_deleted=deleted)

    def create(self, name: str, description: str = "") -> Dossier:
        """Make an empty dossier, which the person owns."""
        return self._store.create(self.person, name, description)

    def read(self, dossier: str, version: int | None = None) -> Dossier:
        """A dossier with its items, as it is now or as it was at one of its last versions."""
        return self._store.read(self.person, self.find(dossier), version)

    def compare(self, dossier: str, index: Index, version: int | None = None) -> list[Reading]:
        """The items of a dossier, each beside the index as it is now: whether its text has changed."""
        look = Look(index.searcher.index)
        return read_items(self.read(dossier, version).items, lambda name: look)

    def add(
        self,
        dossier: str,
        sentences: Sequence[str] = (),
        *,
        documents: Sequence[str] = (),
        index: Index | None = None,
        index_name: str = "",
        contents: Iterable[Content] = (),
        after: str | None = None,
        note: str = "",
        tags: Sequence[str] = (),
    ) -> Written:
        """Add sentences and documents of an index by their ids, and items that are already contents.

        They come behind the item `after`, by default at the end. `index_name` is the name of the index on the
        server, by default its location.
        """
        added = list(contents)
        if sentences or documents:
            if index is None:
                raise UsageError("ids of sentences and documents need the index that has them")
            opened = index.searcher.index
            name = index_name or opened.where
            read = read_contents(opened, sentences, documents, name=name)
            added += [structs.replace(content, note=note, tags=tuple(tags)) for content in read]
        return self._store.add(self.person, self.find(dossier), added, after=after)

    def edit(
        self,
        dossier: str,
        item: str,
        *,
        note: str | UnsetType = UNSET,
        tags: Sequence[str] | UnsetType = UNSET,
        highlights: Sequence[Highlight] | UnsetType = UNSET,
        judgement: int | UnsetType | None = UNSET,
        base: int | None = None,
    ) -> Written:
        """Change an item. `base`: its version as you read it; later changes by others are merged."""
        edit = Edit(
            note=note,
            tags=UNSET if isinstance(tags, UnsetType) else tuple(tags),
            highlights=UNSET if isinstance(highlights, UnsetType) else tuple(highlights),
            judgement=judgement,
        )
        return self._store.edit(self.person, self.find(dossier), item, edit, base=base)

    def move(
        self, dossier: str, items: Sequence[str], *, after: str | None = None, base: int | None = None
    ) -> Written:
        """Move items behind the item `after`, or to the start without it."""
        return self._store.move(self.person, self.find(dossier), items, after=after, base=base)

    def arrange(self, dossier: str, order: Sequence[str]) -> Written:
        """Put the items into this order. Items that it does not name stay behind the one before them."""
        return self._store.arrange(self.person, self.find(dossier), order)

    def remove(self, dossier: str, items: Sequence[str]) -> Written:
        """Remove items."""
        return self._store.remove(self.person, self.find(dossier), items)

    def rename(
        self,
        dossier: str,
        name: str | None = None,
        *,
        description: str | None = None,
        base: int | None = None,
    ) -> Written:
        """Change the name or the description."""
        id = self.find(dossier)
        return self._store.rename(self.person, id, name=name, description=description, base=base)

    def history(self, dossier: str) -> list[Change]:
        """The changes of a dossier, the newest first."""
        return self._store.history(self.person, self.find(dossier, deleted=True))

    def restore(self, dossier: str, version: int) -> Written:
        """Make an earlier state the present one, also that of a deleted dossier."""
        return self._store.restore(self.person, self.find(dossier, deleted=True), version)

    def share(self, dossier: str, name: str, role: Role | None, *, group: bool = False) -> Written:
        """Make an account or a group a reader or writer; None takes the role away. '*' is everybody."""
        return self._store.share(self.person, self.find(dossier), name, role, is_group=group)

    def give(self, dossier: str, name: str) -> Written:
        """Make another account the owner."""
        return self._store.give(self.person, self.find(dossier), name)

    def link(self, dossier: str, days: float = LINK_DAYS) -> Link:
        """Make a link for reading, with its token."""
        return self._links.make(self.person, self.find(dossier), days)

    def links(self, dossier: str) -> list[Link]:
        """The links of a dossier, the newest first."""
        return self._links.list_links(self.person, self.find(dossier))

    def revoke(self, dossier: str, link: str) -> None:
        """End a link at once."""
        self._links.revoke(self.person, self.find(dossier), link)

    def delete(self, dossier: str, *, for_good: bool = False) -> None:
        """Delete a dossier, so that it can be restored unless it is `for_good`."""
        remove = self._store.erase if for_good else self._store.delete
        remove(self.person, self.find(dossier, deleted=for_good))

    def find(self, dossier: str, *, deleted: bool = False) -> str:
        """The id of a dossier by its id or name. Raises NoDossier, UsageError if several have the name."""
        summaries = self.summaries() + (self.summaries(deleted=True) if deleted else [])
        if any(summary.id == dossier for summary in summaries):
            return dossier
        ids = [summary.id for summary in summaries if summary.name == dossier]
        if not ids:
            raise NoDossier(f"there is no dossier {dossier!r}, or you may not read it")
        if len(ids) > 1:
            raise UsageError(f"{len(ids)} dossiers have the name {dossier!r}: name one of {', '.join(ids)}")
        return ids[0]


def open_dossiers(
    where: str | os.PathLike[str] | None = None, *, account: str | None = None, groups: Iterable[str] = ()
) -> AccountDossiers:
    """Open the dossiers of a desk: a file, which is made if there is none, or a PostgreSQL address.

    `where` is by default what `ESR_DESK` names. With an `account`, you act as that account and its `groups`,
    with its rights. Without one, you act under your name on this computer, and may do everything.
    """
    if account is None:
        return AccountDossiers(open_desk(where), Person(_read_user(), is_operator=True))
    return AccountDossiers(open_desk(where), Person(account, frozenset(groups)))


def _read_user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # no name is known for the user's number, as in some containers
        return f"user {os.getuid()}"
