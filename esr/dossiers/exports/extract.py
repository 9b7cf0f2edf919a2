"""What files of dossiers have in common: the items with what people added to them, and their citations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from typing import NamedTuple
from unicodedata import bidirectional

from msgspec import Struct

from esr.dossiers.readings import Reading
from esr.dossiers.records import Item
from esr.errors import unknown
from esr.following.citation_styles import STYLES, quote_inside
from esr.following.exports import Cited, make_reference
from esr.index.hits import SentenceRecord
from esr.stdlib import cached_property
from esr.text.addresses import web_url
from esr.text.dates import read_day, write_day
from esr.wording import count

_STYLES = {label.lower(): style for label, style in STYLES.items()}
CITATION_STYLES = tuple(_STYLES)
"""The names of the styles of citations."""
DEFAULT_STYLE = "chicago"
NOTE_KINDS = ("footnote", "endnote")
"""Where the citations of a Word document are: at the foot of each page, or at the end."""


class Entry(NamedTuple):
    """An item of a dossier as a file shows it. `highlights`: spans of characters of its text.

    `judgement` and `speaker` are empty if unknown; `by` changed it last. `before` and `after`
    are its neighbours, if they are to be shown.
    """

    cited: Cited
    highlights: tuple[tuple[int, int], ...] = ()
    judgement: str = ""
    speaker: str = ""
    by: str = ""
    is_document: bool = False
    before: str = ""
    after: str = ""

    @classmethod
    def from_item(cls, item: Item, accessed: date | None = None) -> Entry:
        """The entry of an item, whose article was read on a day, by default the present one."""
        record = SentenceRecord(
            item.sentence_id or item.document_id,
            item.document_id,
            0,
            item.text,
            None,
            None,
            item.title,
            item.date,
            item.source,
            item.url,
            item.language,
            authors=item.authors,
        )
        return cls(
            Cited(record, item.note, item.tags, item.permalink, accessed),
            tuple((mark.start, mark.end) for mark in item.highlights),
            "" if item.judgement is None else f"{item.judgement}",
            item.speaker,
            item.changed_by or item.added_by,
            item.kind == "document",
        )

    @classmethod
    def from_reading(cls, reading: Reading) -> Entry:
        """The entry of an item that is not withheld, between its neighbours."""
        assert reading.item is not None
        return cls.from_item(reading.item)._replace(before=reading.before, after=reading.after)

    def pieces(self) -> Iterator[tuple[str, bool]]:
        """The text in pieces, each with whether it is highlighted. Spans that overlap are joined."""
        text, at = self.cited.record.text, 0
        for start, end in _join_spans(self.highlights, len(text)):
            if start > at:
                yield text[at:start], False
            yield text[start:end], True
            at = end
        if at < len(text):
            yield text[at:], False


def _join_spans(spans: Iterable[tuple[int, int]], length: int) -> list[tuple[int, int]]:
    """The spans in order, without overlaps and what is behind the end of the text."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        end = min(end, length)
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        elif start < end:
            joined.append((start, end))
    return joined


class Extract(Struct, frozen=True, dict=True):
    """The chosen entries of a dossier, in order, with what a file of them shows.

    `style` is one of CITATION_STYLES. `has_notes`: whether notes, tags and judgements are written too.
    `note_kind`, one of NOTE_KINDS: where a Word document has its citations.
    """

    title: str
    entries: Sequence[Entry]
    style: str = DEFAULT_STYLE
    has_notes: bool = True
    note_kind: str = NOTE_KINDS[0]

    def __post_init__(self) -> None:
        if self.note_kind not in NOTE_KINDS:
            raise unknown("kind of notes", self.note_kind, NOTE_KINDS)
        if self.style not in _STYLES:
            raise unknown("style of citations", self.style, CITATION_STYLES)

    def cite(self, entry: Entry) -> str:
        """The citation of an entry, without the permanent link."""
        reference = make_reference(entry.cited)
        citation = _STYLES[self.style](reference)
        names = (written for name in reference.authors for written in (name.direct, name.inverted))
        title = reference.title
        for text in dict.fromkeys((title, quote_inside(title), reference.source, *names)):
            citation = citation.replace(text, _close_direction(text)) if text else citation
        return citation

    @cached_property
    def summary(self) -> str:
        """How many sentences there are, of how many articles and sources, and from when to when."""
        records = [entry.cited.record for entry in self.entries]
        whole = sum(entry.is_document for entry in self.entries)
        parts = [count(len(records) - whole, "sentence")] if whole < len(records) or not whole else []
        parts += [count(whole, "whole article")] if whole else []
        text = " and ".join(parts)
        if len(parts) == 2 or not whole:
            text += f" of {count(len({record.document_id for record in records}), 'article')}"
        if sources := {record.source for record in records} - {None, ""}:
            text += f" from {count(len(sources), 'source')}"
        days = sorted(filter(None, (read_day(record.date or "") for record in records)))
        return text + (f", {write_period(days[0], days[-1])}" if days else "") + "."


def permalink_of(entry: Entry) -> str:
    """The permanent link of an entry; empty without one, or if the citation has it as its address."""
    permalink = web_url(entry.cited.permalink) or ""
    return permalink if permalink != entry.cited.address else ""


def write_period(first: date, last: date) -> str:
    """A period in words, such as 29 to 30 March 2017: what both days share stands once."""
    end = write_day(last.isoformat())
    if first == last:
        return end
    start = write_day(first.isoformat()).split()
    same = 2 if (first.year, first.month) == (last.year, last.month) else 1 if first.year == last.year else 0
    return f"{' '.join(start[: len(start) - same])} to {end}"


def list_place(entry: Entry) -> list[str]:
    """The source and the day of an entry, as far as they are known, for a line from left to right."""
    record = entry.cited.record
    texts = (" ".join(text.split()) for text in (record.source or "", write_day(record.date or "")))
    return [_close_direction(text) for text in texts if text]


_LEFT_TO_RIGHT_MARK = "\u200e"


def _close_direction(text: str) -> str:
    """The text, after which a line from left to right goes on.

    A text that ends from right to left gets a mark: otherwise the signs and numbers behind it would stand
    before it.
    """
    last = next((kind for kind in map(bidirectional, reversed(text)) if kind in ("L", "R", "AL")), "L")
    return text if last == "L" else text + _LEFT_TO_RIGHT_MARK
