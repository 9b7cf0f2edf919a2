"""What people bring into dossiers: addresses that they paste, and tables of judgements.

Both are read as a whole. If anything in them cannot be used, an error names every such line, and nothing is
imported.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qs, urlsplit

from msgspec import UNSET, Struct, structs

from esr.dossiers.records import Content, Edit, Item, Person, Written, check_content, check_edit
from esr.dossiers.store import Dossiers, OpenedDossier, Outcome
from esr.plugin import UsageError

if TYPE_CHECKING:
    from _csv import Reader

SENTENCE_PATH, DOCUMENT_PATH = "/sentence", "/document"
"""The ends of the addresses of sentences and of documents."""
MOST_LINES = 5_000
_MOST_NAMED = 10
"""Maximum number of lines that an error names; it counts the others."""


class Pasted(Struct, frozen=True):
    """A sentence or document that an address leads to, and its line in the pasted text, from 1.

    `says` is the digest of a sentence in a permanent link, `position` its zero-based position in its document
    in the address of a page; without both, it is the document. `index` is empty for the usual one.
    """

    line: int
    index: str
    document_id: str
    says: str = ""
    position: int | None = None


class Judged(NamedTuple):
    """A row of a table of judgements. `sentence_id` is empty if there is only an address. None: no such cell.

    `index_name` is that of an address beside an id, empty for the usual one, None without an address.
    """

    line: int
    sentence_id: str
    pasted: Pasted | None
    judgement: int | None
    note: str | None
    tags: tuple[str, ...] | None
    index_name: str | None = None


class BadLine(NamedTuple):
    """A line that cannot be imported, and what is wrong with it."""

    line: int
    problem: str


class BadLines(UsageError):
    """Lines that cannot be imported."""

    def __init__(self, problems: Sequence[BadLine]) -> None:
        self.problems: list[BadLine] = list(problems)
        named = "; ".join(f"line {line}: {problem}" for line, problem in self.problems[:_MOST_NAMED])
        more = len(self.problems) - _MOST_NAMED
        super().__init__(f"nothing was imported: {named}" + (f"; and {more} more lines" if more > 0 else ""))

    def __reduce__(self) -> tuple[type[BadLines], tuple[list[BadLine]]]:
        return type(self), (self.problems,)


def parse_addresses(text: str, home: str) -> list[Pasted]:
    """The sentences and documents of pasted addresses, one or several a line. `home`: that of the server.

    Raises BadLines for words that are no addresses of sentences or documents there, UsageError without any.
    """
    places, problems = [], []
    for line, words in enumerate(text.splitlines(), 1):
        for word in words.split():
            try:
                places.append(_parse_address(word, home, line))
            except UsageError as error:
                problems.append(BadLine(line, str(error)))
    if problems:
        raise BadLines(problems)
    if not places:
        raise UsageError("nothing was pasted: give addresses of sentences or documents, one a line")
    if len(places) > MOST_LINES:
        raise UsageError(f"{len(places):,} addresses were pasted: at most {MOST_LINES:,} are allowed")
    return places


def _parse_address(word: str, home: str, line: int) -> Pasted:
    """The place of an address. Raises UsageError."""
    shown = word[:80]
    try:
        address, server = urlsplit(word), urlsplit(home)
    except ValueError:
        raise UsageError(f"{shown!r} is no address") from None
    if address.scheme not in ("http", "https") or not address.netloc:
        raise UsageError(f"{shown!r} is no address that begins with http:// or https://")
    prefix, path = server.path.rstrip("/"), ""
    if address.netloc == server.netloc and address.path.startswith(prefix):
        path = address.path.removeprefix(prefix)
    if path not in (SENTENCE_PATH, DOCUMENT_PATH):
        raise UsageError(f"{shown!r} is no sentence or document of this server")
    arguments = {name: values[0] for name, values in parse_qs(address.query).items()}
    document_id, index = arguments.get("id", ""), arguments.get("index", "")
    if not document_id:
        raise UsageError(f"{shown!r} does not say which document")
    if path == SENTENCE_PATH:
        if not arguments.get("says"):
            raise UsageError(f"{shown!r} does not say which sentence")
        return Pasted(line, index, document_id, says=arguments["says"])
    place = address.fragment.removeprefix("s")
    is_place = address.fragment.startswith("s") and place.isascii() and place.isdigit()
    return Pasted(line, index, document_id, position=int(place[:9]) if is_place else None)


JUDGEMENT_COLUMNS = {
    "sentence_id": "the id of a sentence, as in the files of esr",
    "permalink": "the address of a sentence of this server, in place of its id",
    "judgement": "a whole number from -1 to 10; empty: none",
    "note": "a text, in place of the item's note; without this column, notes stay",
    "tags": "words with semicolons between, in place of the item's tags; without this column, tags stay",
}
"""The columns of a table of judgements. Others are allowed and are not read."""


def parse_judgements(data: bytes, home: str) -> list[Judged]:
    """The rows of a CSV in UTF-8, whose first line has the names of its columns.

    Raises BadLines for rows that cannot be used, and UsageError for a table without the columns.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise UsageError(
            f"nothing was imported: line {line} is not UTF-8; save the table as CSV in UTF-8"
        ) from None
    try:
        delimiter = csv.Sniffer().sniff(text.partition("\n")[0], ",;\t").delimiter
    except csv.Error:
        delimiter = ","
    lines = _read_lines(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    names = [name.strip().lower() for _, cells in islice(lines, 1) for name in cells]
    if "judgement" not in names or not {"sentence_id", "permalink"} & set(names):
        raise UsageError(
            "nothing was imported: the first line of the table must name the column judgement and one of "
            "sentence_id and permalink"
        )
    if doubled := {name for name in names if names.count(name) > 1 and name in JUDGEMENT_COLUMNS}:
        raise UsageError(f"nothing was imported: the table has two columns {min(doubled)}")
    rows, problems = [], []
    for line, cells in lines:
        try:
            if len(cells) > len(names):
                raise UsageError(f"it has {len(cells)} cells, more than the table has columns")
            rows.append(_parse_row(dict(zip(names, cells, strict=False)), home, line))
        except UsageError as error:
            problems.append(BadLine(line, str(error)))
    if problems:
        raise BadLines(problems)
    if not rows:
        raise UsageError("nothing was imported: the table has no rows")
    if len(rows) > MOST_LINES:
        raise UsageError(
            f"nothing was imported: the table has {len(rows):,} rows, at most {MOST_LINES:,} are allowed"
        )
    return rows


def _read_lines(reader: Reader) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not empty, each with the line on which it begins. Raises UsageError."""
    line = 1
    try:
        for cells in reader:
            if any(map(str.strip, cells)):
                yield line, [_unguard(cell.strip()) for cell in cells]
            line = reader.line_num + 1
    except csv.Error as error:
        raise UsageError(f"nothing was imported: line {line}: {error}") from None


def _unguard(cell: str) -> str:
    """A cell without the sign by which files of esr keep spreadsheets from taking a text for a formula."""
    return cell[1:] if cell[:1] == "'" and cell[1:2] in ("=", "+", "-", "@") else cell


def _parse_row(cells: dict[str, str], home: str, line: int) -> Judged:
    """The row. Raises UsageError for one that cannot be used."""
    sentence_id, address, judgement = (
        cells.get(name, "") for name in ("sentence_id", "permalink", "judgement")
    )
    if not sentence_id and not address:
        raise UsageError("it has neither a sentence_id nor a permalink")
    number: int | None = None
    if judgement:
        try:
            number = int(judgement)
        except ValueError:
            raise UsageError(f"the judgement {judgement[:40]!r} is no whole number") from None
        if not -1 <= number <= 10:
            raise UsageError(f"the judgement {number} is not from -1 to 10")
    tags, index = cells.get("tags"), None
    if sentence_id and address:
        with suppress(UsageError):  # an address of another server says nothing
            index = _parse_address(address, home, line).index
    return Judged(
        line,
        sentence_id,
        None if sentence_id else _parse_address(address, home, line),
        number,
        cells.get("note"),
        None if tags is None else tuple(filter(None, map(str.strip, tags.split(";")))),
        index,
    )


def bring(
    dossiers: Dossiers, person: Person, id: str, contents: Iterable[Content], edits: Mapping[str, Edit]
) -> Written:
    """Add items to a dossier and edit others, by their ids, as one change: all of it, or nothing.

    Of contents that somebody has added meanwhile, the judgement and, unless they are empty, the note and the
    tags are edits. Raises as the methods of `Dossiers`.
    """
    checked = [check_content(content) for content in contents]

    def make(opened: OpenedDossier, now: str) -> Outcome:
        items = {item.id: item for item in opened.items()}
        held = {item.place: item.id for item in items.values()}
        wanted, added = dict(edits), dict[tuple[str, str, str], Item]()
        for content in checked:
            if content.place in held:
                wanted[held[content.place]] = Edit(
                    judgement=content.judgement, note=content.note or UNSET, tags=content.tags or UNSET
                )
            else:
                added.setdefault(content.place, opened.make_item(content, now))
        if gone := wanted.keys() - items.keys():
            raise UsageError(f"nothing was imported: somebody has removed {len(gone)} of these sentences")
        changed: dict[str, Item] = {}
        for item_id, edit in wanted.items():
            current = items[item_id]
            item = structs.replace(current, **check_edit(edit, current.text).as_dict())
            if item != current:
                stamp = {"version": opened.next, "changed_by": person.name, "changed_at": now}
                changed[item_id] = structs.replace(item, **stamp)
        changed |= {item.id: item for item in added.values()}
        versions = dict(opened.state.order) | {item.id: item.version for item in changed.values()}
        return Outcome(
            "bring", structs.replace(opened.state, order=tuple(versions.items())), tuple(changed.values())
        )

    return dossiers.change(person, id, make)
