"""Copies of sentences in words and as JSON: in how many other sources a sentence stands, and where first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from esr.index.contract import Index
from esr.index.copies import Appearance, CopyGroup
from esr.index.hits import Hit
from esr.index.questions import Copies, HasCopies
from esr.text.dates import date_key, write_day
from esr.wording import count


class CopyFacts(NamedTuple):
    """What the text of a note says.

    `sources`, `documents`: the numbers of other ones; documents count where there is no source. `date`: that
    of the first appearance; `place`: its place, "" for the sentence itself, None if unknown.
    """

    sources: int
    documents: int
    date: str | None
    place: str | None


class CopyNote(NamedTuple):
    """What readers see of the copies of a sentence: the text, the group, and the other copies of it."""

    text: str
    group: CopyGroup
    others: tuple[Appearance, ...]
    facts: CopyFacts

    @property
    def earliest(self) -> Appearance:
        """The first appearance, or if that is the sentence itself, the next one."""
        return self.others[0]

    def as_dict(self) -> dict[str, Any]:
        """`{"text", "documents", "sources", "first": {"sentence_id", "document_id", "date", "source"}}`.

        `documents` and `sources` count the sentence's own document.
        """
        group = self.group
        first = {name: value for name, value in group.first._asdict().items() if name != "position"}
        return {
            "text": self.text,
            "documents": group.documents,
            "sources": list(group.sources),
            "first": first,
        }


def find_copies(index: Index, hits: Iterable[Hit]) -> dict[str, CopyNote]:
    """A note for each of these hits that has copies in other documents, by sentence id."""
    return read_copies(index, [hit.sentence_id for hit in hits])


def read_copies(index: Index, ids: Iterable[str]) -> dict[str, CopyNote]:
    """A note for each of these sentences that has copies in other documents, by id."""
    wanted = list(dict.fromkeys(ids))
    if not wanted or not index.status(HasCopies()):
        return {}
    groups = zip(wanted, index.read(wanted, Copies()), strict=True)
    return {id: describe_copies(id, group) for id, group in groups if group is not None}


def describe_copies(sentence_id: str, group: CopyGroup) -> CopyNote:
    """The note of a sentence of a group, such as `also in 4 sources, first in Northern Wire on 3 March 2024`.

    If its own source is the only one, other documents are counted. If no copy has a date, none is first; if
    several have the earliest, no source is.
    """
    (appearance,) = (member for member in group.appearances if member.sentence_id == sentence_id)
    others = tuple(member for member in group.appearances if member.document_id != appearance.document_id)
    sources = {member.source for member in others if member.source not in (None, appearance.source)}
    number = len({member.document_id for member in others})
    first = group.first
    moment = date_key(first.date)
    places = {member.document_id for member in group.appearances if date_key(member.date) == moment}
    place = None
    if first.date is not None and len(places) == 1:
        place = "" if first.document_id == appearance.document_id else first.source or first.document_id
    facts = CopyFacts(len(sources), number, first.date, place)
    return CopyNote(_write(facts), group, others, facts)


def _write(facts: CopyFacts) -> str:
    sources, documents, date, place = facts
    text = f"also in {count(sources, 'source') if sources else count(documents, 'other document')}"
    if date is None:
        return text
    where = "" if place is None else f"in {place} " if place else "here "
    return f"{text}, first {where}on {write_day(date)}"


def write_copies(notes: Mapping[str, CopyNote], sentence_id: str) -> dict[str, Any] | None:
    """The JSON of a sentence's note, None without copies."""
    note = notes.get(sentence_id)
    return note and note.as_dict()
