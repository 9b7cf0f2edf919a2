"""Finds in the indices what pasted addresses and tables of judgements name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, suppress

from msgspec import UNSET
from msgspec.structs import replace

from esr.dossiers.contents import Address, read_contents
from esr.dossiers.imports import BadLine, BadLines, Judged, Pasted
from esr.dossiers.records import Content, Dossier, Edit, Item
from esr.errors import NotFound
from esr.following.alerts.atom import text_digest
from esr.index.contract import Index, find_documents
from esr.text.document import Document

Open = Callable[[str], AbstractContextManager[Index]]
"""Opens an index by its name. Raises NotFound for one that the sender may not search."""


class Finder:
    """Finds contents in the indices of the sender, of which the first is the usual one.

    `address`: by a name of an index, its addresses.
    """

    def __init__(self, open: Open, names: Sequence[str], address: Callable[[str], Address]) -> None:
        self._open = open
        self._names = names
        self._usual = next(iter(names), "")
        self._address = address

    def find_places(self, places: Sequence[Pasted]) -> list[Content]:
        """The content at each place, in order. Raises BadLines, with the line of each that has none."""
        contents: dict[Pasted, Content] = {}
        problems: list[BadLine] = []
        for name in dict.fromkeys(place.index for place in places):
            in_index = [place for place in places if place.index == name]
            for place, content in self._find_in(name or self._usual, in_index):
                if isinstance(content, BadLine):
                    problems.append(content)
                else:
                    contents[place] = content
        if problems:
            raise BadLines(sorted(problems))
        return [contents[place] for place in places]

    def find_judged(self, rows: Sequence[Judged], dossier: Dossier) -> tuple[list[Content], dict[str, Edit]]:
        """What a table of judgements changes: new items, and edits by the ids of items that are there.

        Raises BadLines, with the line of each sentence that is in no index, or on an earlier line too.
        """
        contents: list[Content] = []
        edits: dict[str, Edit] = {}
        held = _Held(dossier, self._names)
        problems = [
            BadLine(
                row.line, "the dossier has a sentence of this id from several indices: give its permalink"
            )
            for row in rows
            if held.is_ambiguous(row)
        ]
        missing = [row for row in rows if row.pasted is None and held.find_row(row) is None]
        known: dict[tuple[str, str], Content] = {}
        for name in dict.fromkeys(row.index_name or "" for row in missing):
            ids = [row.sentence_id for row in missing if (row.index_name or "") == name]
            known |= {(name, id): content for id, content in self._read_ids(name, ids).items()}
        problems += [
            BadLine(row.line, f"there is no sentence {row.sentence_id[:60]!r}")
            for row in missing
            if (row.index_name or "", row.sentence_id) not in known
        ]
        pasted = [row.pasted for row in rows if row.pasted and not held.find_row(row)]
        try:
            at_places = dict(zip(pasted, self.find_places(pasted), strict=True))
        except BadLines as error:
            raise BadLines(sorted([*problems, *error.problems])) from None
        first_lines: dict[tuple[str, str, str], int] = {}
        for row in rows:
            item, key = held.find_row(row), (row.index_name or "", row.sentence_id)
            content = known.get(key) if row.pasted is None else at_places.get(row.pasted)
            if item is None and content is not None and content.sentence_id:
                item = held.find(content.index, content.sentence_id)
            sentence = item or content
            if sentence is None:  # one of the problems
                continue
            if (first := first_lines.setdefault(sentence.place, row.line)) != row.line:
                problems.append(BadLine(row.line, f"the sentence is on line {first} too"))
            elif item is not None:
                edits[item.id] = _make_edit(row)
            else:
                contents.append(_judge(sentence, row))
        if problems:
            raise BadLines(sorted(problems))
        return contents, edits

    def _read_ids(self, index_name: str, ids: Sequence[str]) -> dict[str, Content]:
        """The contents of sentences of an index by id. Unknown ids are left out, as is a hidden index."""
        address, name = self._address(index_name), index_name or self._usual
        contents: list[Content] = []
        with suppress(NotFound), self._open(name) as index:
            try:
                contents = read_contents(index, ids, name=name, address=address)
            except NotFound:
                for id in ids:
                    with suppress(NotFound):
                        contents += read_contents(index, [id], name=name, address=address)
        return {content.sentence_id: content for content in contents}

    def _find_in(self, name: str, places: Iterable[Pasted]) -> list[tuple[Pasted, Content | BadLine]]:
        """Each place with its content, or with why there is none."""
        places = list(places)
        try:
            with self._open(name) as index:
                documents = find_documents(index, list(dict.fromkeys(place.document_id for place in places)))
                return [(place, self._find_one(index, name, documents, place)) for place in places]
        except NotFound as error:
            return [(place, BadLine(place.line, str(error))) for place in places]

    def _find_one(
        self, index: Index, name: str, documents: dict[str, Document], place: Pasted
    ) -> Content | BadLine:
        address = self._address(place.index)
        document = documents.get(place.document_id)
        if document is None:
            return BadLine(place.line, f"there is no document {place.document_id[:60]!r}")
        if not place.says and place.position is None:
            return read_contents(index, documents=[document.id], name=name, address=address)[0]
        for position, sentence in enumerate(document.sentences):
            if position == place.position or (place.says and text_digest(sentence.text) == place.says):
                return read_contents(index, [sentence.id], name=name, address=address)[0]
        return BadLine(place.line, f"the document {place.document_id[:60]!r} has no such sentence any more")


class _Held:
    """The sentences of a dossier by their index, and by their id or their document and text."""

    def __init__(self, dossier: Dossier, names: Sequence[str]) -> None:
        self._names = names
        self._usual = next(iter(names), "")
        self._by_key: dict[str | tuple[str, str], dict[str, Item]] = {}
        for item in dossier.items:
            keys: list[str | tuple[str, str]] = [(item.document_id, text_digest(item.text))]
            keys += filter(None, [item.sentence_id])
            for key in keys:
                self._by_key.setdefault(key, {})[item.index] = item

    def is_ambiguous(self, row: Judged) -> bool:
        return (
            row.pasted is None and row.index_name is None and len(self._by_key.get(row.sentence_id, ())) > 1
        )

    def find_row(self, row: Judged) -> Item | None:
        """The item of a row. An id without an address is that of the sentence from any index."""
        if row.pasted is not None:
            key = row.pasted.document_id, row.pasted.says
            return self.find(row.pasted.index or self._usual, key) if row.pasted.says else None
        if row.index_name is None:
            return next(iter(self._by_key.get(row.sentence_id, {}).values()), None)
        return self.find(row.index_name or self._usual, row.sentence_id)

    def find(self, index: str, key: str | tuple[str, str]) -> Item | None:
        """The item of this index or, as a location is not in an address, of one without a name here."""
        items = self._by_key.get(key, {})
        others = (item for name, item in items.items() if name not in self._names)
        return items.get(index) or next(others, None)


def _make_edit(row: Judged) -> Edit:
    return Edit(
        judgement=row.judgement,
        note=UNSET if row.note is None else row.note,
        tags=UNSET if row.tags is None else row.tags,
    )


def _judge(content: Content, row: Judged) -> Content:
    return replace(content, judgement=row.judgement, note=row.note or "", tags=row.tags or ())
