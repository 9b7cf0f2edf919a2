"""Dossiers as data: what they hold, who may do what with them, and their changes.

Times are ISO 8601 in UTC with milliseconds. Positions and lengths in texts count characters.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType, structs

from esr.plugin import EsrError, NotFound, UsageError

Kind = Literal["sentence", "document"]
Role = Literal["owner", "writer", "reader", "link"]
ROLES: Mapping[Role, str] = {
    "owner": "may do everything, also share it and delete it",
    "writer": "may read and change what is in it",
    "reader": "may read it, with its changes",
    "link": "may read it as it is now",
}
"""The roles of people in a dossier or a saved search, the highest first, and what each may do."""
_RANKS: Mapping[Role, int] = {role: rank for rank, role in enumerate(reversed(tuple(ROLES)))}
Work = Literal["read", "change", "restore", "share", "delete"]
NEEDED: Mapping[Work, Role] = {
    "read": "link",
    "change": "writer",
    "restore": "writer",
    "share": "owner",
    "delete": "owner",
}
"""The least role that a kind of work needs."""
WORDS: Mapping[Work, str] = {
    "read": "read it",
    "change": "change it",
    "restore": "restore an earlier state",
    "share": "share it",
    "delete": "delete it",
}
"""Kinds of work in messages."""
EVERYBODY = "*"
"""The group of all people with a login."""
MOST_ITEMS = 5_000
"""Maximum number of items in a dossier."""
KEPT_STATES = 50
"""Number of the states of a dossier before the present one that can be restored."""
TITLE_CHARS, NOTE_CHARS, TAG_CHARS, MOST_TAGS, MOST_HIGHLIGHTS = 200, 20_000, 100, 50, 200
"""Maximum lengths in characters, of names, of notes and of a tag, and maximum numbers for an item."""
TEXT_CHARS = 1_000_000
"""Maximum length of an item's text in characters."""


class DeskUnusable(EsrError):
    """The desk cannot be opened, read or written."""


class NoDossier(NotFound):
    """There is no dossier or saved search of this id, or this person may not know of it."""


class NotPermitted(EsrError):
    """The role of this person does not allow it."""


class Conflict(EsrError):
    """Somebody else changed the same value since it was read. `current`: the value as it is now."""

    def __init__(self, message: str, field: str, current: Any) -> None:
        super().__init__(message)
        self.field = field
        self.current = current

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.field, self.current)


class Person(Struct, frozen=True):
    """Who acts: the name of an account or key, and its groups. An operator may do everything."""

    name: str
    groups: frozenset[str] = frozenset()
    is_operator: bool = False


class Member(Struct, frozen=True):
    """Somebody with a role: an account, or a group where `is_group`."""

    name: str
    role: Role
    is_group: bool = False

    def has(self, person: Person) -> bool:
        """Whether this is the person, or a group of the person."""
        if self.is_group:
            return self.name == EVERYBODY or self.name in person.groups
        return self.name == person.name


def find_role(person: Person, owner: str, members: tuple[Member, ...]) -> Role | None:
    """The highest role of a person; None for one without any."""
    if person.is_operator or person.name == owner:
        return "owner"
    roles = [member.role for member in members if member.has(person)]
    return max(roles, key=lambda role: _RANKS[role], default=None)


def allows(role: Role | None, work: Work) -> bool:
    """Whether a role allows a kind of work."""
    return role is not None and _RANKS[role] >= _RANKS[NEEDED[work]]


class Highlight(Struct, frozen=True, order=True):
    """A marked part of an item's text, from `start` to before `end`, with an optional colour or label."""

    start: int
    end: int
    label: str = ""


class Content(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A sentence or a document as it is put into a dossier: its text, and what a citation needs.

    `index` is the name of the index, as the server knows it, or its location. `sentence_id` is empty for a
    document, whose text has its sentences, joined by line breaks. `permalink` is the permanent address.
    `speaker` is that of a quotation in it.
    """

    kind: Kind = "sentence"
    index: str = ""
    document_id: str
    sentence_id: str = ""
    text: str
    title: str | None = None
    date: str | None = None
    source: str | None = None
    url: str | None = None
    language: str | None = None
    authors: tuple[str, ...] = ()
    section: str | None = None
    permalink: str = ""
    speaker: str = ""
    note: str = ""
    tags: tuple[str, ...] = ()
    highlights: tuple[Highlight, ...] = ()
    judgement: int | None = None

    @property
    def place(self) -> tuple[str, str, str]:
        """What it is, wherever it is kept: the index, the document and the sentence."""
        return self.index, self.document_id, self.sentence_id


class Item(Content, frozen=True, kw_only=True, omit_defaults=True):
    """An item of a dossier.

    `version` is that of the dossier in which the item last changed: an edit gives it as its base. The order
    of items is that of `Dossier.items`.
    """

    id: str
    version: int
    added_by: str
    added_at: str
    changed_by: str = ""
    changed_at: str = ""


class Edit(Struct, frozen=True, kw_only=True):
    """New values of an item. Fields without a value stay as they are."""

    note: str | UnsetType = UNSET
    tags: tuple[str, ...] | UnsetType = UNSET
    highlights: tuple[Highlight, ...] | UnsetType = UNSET
    judgement: int | UnsetType | None = UNSET

    def as_dict(self) -> dict[str, Any]:
        """The given values by field."""
        return {name: value for name, value in structs.asdict(self).items() if value is not UNSET}


class Summary(Struct, frozen=True, kw_only=True):
    """A dossier in a list. `role` is that of who asks, `deleted_at` is empty if it is not deleted."""

    id: str
    name: str
    description: str
    owner: str
    role: Role
    version: int
    items: int
    created_at: str
    changed_at: str
    changed_by: str
    deleted_at: str = ""


class Dossier(Struct, frozen=True, kw_only=True):
    """A dossier with its items in their order. `members` is empty for those who read by a link."""

    id: str
    name: str
    description: str
    owner: str
    role: Role
    version: int
    created_at: str
    changed_at: str
    changed_by: str
    items: tuple[Item, ...]
    members: tuple[Member, ...] = ()
    deleted_at: str = ""

    def item(self, id: str) -> Item:
        """The item of an id. Raises NoDossier."""
        for item in self.items:
            if item.id == id:
                return item
        raise NoDossier(f"the dossier {self.name!r} has no item {id!r}")


class Written(Struct, frozen=True, kw_only=True):
    """The outcome of a change: the new version of the dossier, and the items that were added or changed.

    `merged`: the fields in which the change was joined with one by somebody else, such as `note`, which then
    has both texts. `known`: ids of items that were there before and so were not added again.
    """

    version: int
    items: tuple[Item, ...] = ()
    merged: tuple[str, ...] = ()
    known: tuple[str, ...] = ()


class Change(Struct, frozen=True, kw_only=True):
    """An entry of a dossier's log. `items`: the ids of the items it is about. `detail`: what changed.

    `can_be_restored`: whether the state after it is still kept.
    """

    version: int
    at: str
    who: str
    action: str
    items: tuple[str, ...] = ()
    detail: str = ""
    can_be_restored: bool = False


class Link(Struct, frozen=True, kw_only=True):
    """A link for reading. `token` is the signed part of its address, known only when the link is made."""

    id: str
    made_by: str
    made_at: str
    expires_at: str
    is_revoked: bool = False
    token: str = ""


class SavedSearch(Struct, frozen=True, kw_only=True):
    """A search that an account keeps.

    `arguments`: texts by the names of the table of arguments, as in an address. `delivery`: settings of its
    delivery, and `state`: what the delivery remembers, each as JSON data whose meaning esr's alerts know.
    """

    id: str
    name: str
    owner: str
    role: Role
    version: int
    arguments: Mapping[str, tuple[str, ...]]
    delivery: Mapping[str, Any]
    state: Mapping[str, Any]
    created_at: str
    changed_at: str
    members: tuple[Member, ...] = ()


def check_text(name: str, text: str, limit: int, *, is_required: bool = False) -> str:
    """The text without blanks around it. Raises UsageError if it is too long, or empty but required."""
    text = text.strip()
    check_storable(name, text)
    if is_required and not text:
        raise UsageError(f"the {name} is empty: write one")
    if len(text) > limit:
        raise UsageError(f"the {name} has {len(text):,} characters: at most {limit:,} are allowed")
    return text


def check_edit(edit: Edit, text: str) -> Edit:
    """The edit with clean values, for an item with this text. Raises UsageError for unusable ones."""
    note, tags, highlights, judgement = edit.note, edit.tags, edit.highlights, edit.judgement
    if not isinstance(note, UnsetType):
        note = check_text("note", note, NOTE_CHARS)
    if not isinstance(tags, UnsetType):
        parts = (part for tag in tags for part in tag.split(","))  # as the page writes and reads them
        tags = tuple(dict.fromkeys(t for part in parts if (t := check_text("tag", part, TAG_CHARS))))
        _check_number("tags", tags, MOST_TAGS)
    if not isinstance(highlights, UnsetType):
        highlights = tuple(sorted(set(highlights)))
        _check_number("highlights", highlights, MOST_HIGHLIGHTS)
        for mark in highlights:
            check_text("label of a highlight", mark.label, TAG_CHARS)
            if not 0 <= mark.start < mark.end <= len(text):
                raise UsageError(
                    f"a highlight from {mark.start} to {mark.end} is not in the text, which has "
                    f"{len(text):,} characters"
                )
    is_given = judgement is not None and not isinstance(judgement, UnsetType)
    if is_given and (type(judgement) is not int or not -1 <= judgement <= 10):
        raise UsageError(f"a judgement is a whole number from -1 to 10, not {judgement}")
    return Edit(note=note, tags=tags, highlights=highlights, judgement=judgement)


def _check_number(name: str, values: tuple[Any, ...], most: int) -> None:
    if len(values) > most:
        raise UsageError(f"an item has at most {most} {name}, not {len(values):,}")


def _clean(text: str) -> str:
    """The text without what no database stores: null characters, and halves of characters."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def check_storable(name: str, value: Any) -> None:
    """Raise UsageError for JSON data with a text that no database stores."""
    if not _is_storable(value):
        raise UsageError(f"the {name} has a null character, or half of a character")


def _is_storable(value: Any) -> bool:
    match value:
        case str():
            return value == _clean(value)
        case dict():
            return all(_is_storable(part) for pair in value.items() for part in pair)
        case list() | tuple():
            return all(map(_is_storable, value))
    return True


_PRINTED = ("text", "title", "date", "source", "url", "language", "section", "permalink", "speaker")
"""The fields of texts that were printed somewhere, and may have anything in them."""


def check_content(content: Content) -> Content:
    """The content with clean values. Raises UsageError for unusable ones."""
    printed = {name: _clean(value) for name in _PRINTED if (value := getattr(content, name))}
    content = structs.replace(content, **printed, authors=tuple(map(_clean, content.authors)))
    if not content.document_id or not content.text.strip():
        raise UsageError("an item needs the id of its document and a text")
    if (content.kind == "sentence") != bool(content.sentence_id):
        is_sentence = content.kind == "sentence"
        raise UsageError("a sentence needs a sentence_id" if is_sentence else "a document has no sentence_id")
    check_text("text of an item", content.text, TEXT_CHARS)
    for name in ("index", "document_id", "sentence_id", "title", "date", "source", "url", "permalink"):
        check_text(f"{name} of an item", getattr(content, name) or "", NOTE_CHARS)
    edit = Edit(
        note=content.note, tags=content.tags, highlights=content.highlights, judgement=content.judgement
    )
    return structs.replace(content, **check_edit(edit, content.text).as_dict())
