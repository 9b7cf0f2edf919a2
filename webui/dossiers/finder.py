"""Finds in the indices what pasted addresses and tables of judgements name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager

from msgspec import UNSET
from msgspec.structs import replace

from esr.dossiers.contents import Address, read_contents
from esr.dossiers.imports import BadLines, Judged, Pasted
from esr.dossiers.records import Content, Dossier, Edit, Item
from esr.errors import NotFound
from esr.following.alerts.atom import text_digest
from esr.index.contract import Index, find_documents
from esr.text.document import Document

Open = Callable[[str], AbstractContextManager[Index]]
"""Opens an index by its name. Raises NotFound for one that the sender may not search."""


class Finder:
    """Finds contents in the indices of the sender. `address`: by a name of an index, its addresses."""

    def __init__(self, open: Open, usual: str, address: Callable[[str], Address]) -> None:
        self._open = open
        self._usual = usual
        self._address = address

    def find_places(self, places: Sequence[Pasted]) -> list[Content]:
        """The content at each place, in order. Raises BadLines, with the line of each that has none."""
        contents: dict[Pasted, Content] = {}
        problems: list[tuple[int, str]] = []
        for name in dict.fromkeys(place.index for place in places):
            in_index = [place for place in places if place.index == name]
            for place, content in self._find_in(name or self._usual, in_index):
                if isinstance(content, str):
                    problems.append((place.line, content))
                else:
                    contents[place] = content
        if problems:
            raise BadLines(sorted(problems))
        return [contents[place] for place in places]

    def find_judged(self, rows: Sequence[Judged], dossier: Dossier) -> tuple[list[Content], dict[str, Edit]]:
        """What a table of judgements changes: new items, and edits by the ids of items that are there.

        Raises BadLines, with the line of each sentence that is in no index.
        """
        contents: list[Content] = []
        edits: dict[str, Edit] = {}
        held = {(item.document_id, text_digest(item.text)): item for item in dossier.items}
        by_id = {item.sentence_id: item for item in dossier.items if item.sentence_id}
        missing = [row for row in rows if row.pasted is None and row.sentence_id not in by_id]
        known = self._read_ids([row.sentence_id for row in missing])
        problems = [
            (row.line, f"there is no sentence {row.sentence_id[:60]!r}")
            for row in missing
            if row.sentence_id not in known
        ]
        pasted = [row.pasted for row in rows if row.pasted and not _held_at(row.pasted, held)]
        try:
            at_places = dict(zip(pasted, self.find_places(pasted), strict=True))
        except BadLines as error:
            raise BadLines(sorted([*problems, *error.problems])) from None
        if problems:
            raise BadLines(problems)
        for row in rows:
            item = by_id.get(row.sentence_id) if row.pasted is None else _held_at(row.pasted, held)
            content = known.get(row.sentence_id) if row.pasted is None else at_places.get(row.pasted)
            if item is None and content is not None:
                item = by_id.get(content.sentence_id) if content.sentence_id else None
            if item is not None:
                edits[item.id] = _make_edit(row)
            elif content is not None:
                contents.append(_judge(content, row))
        return contents, edits

    def _read_ids(self, ids: Sequence[str]) -> dict[str, Content]:
        """The contents of sentences of the usual index by id. Unknown ids are left out."""
        if not ids:
            return {}
        address = self._address("")
        with self._open(self._usual) as index:
            try:
                contents = read_contents(index, ids, name=self._usual, address=address)
            except NotFound:
                contents = []
                for id in ids:
                    try:
                        contents += read_contents(index, [id], name=self._usual, address=address)
                    except NotFound:
                        continue
        return {content.sentence_id: content for content in contents}

    def _find_in(self, name: str, places: Iterable[Pasted]) -> list[tuple[Pasted, Content | str]]:
        """Each place with its content, or with why there is none."""
        places = list(places)
        try:
            with self._open(name) as index:
                documents = find_documents(index, list(dict.fromkeys(place.document_id for place in places)))
                return [(place, self._find_one(index, name, documents, place)) for place in places]
        except NotFound as error:
            return [(place, str(error)) for place in places]

    def _find_one(
        self, index: Index, name: str, documents: dict[str, Document], place: Pasted
    ) -> Content | str:
        address = self._address(place.index)
        document = documents.get(place.document_id)
        if document is None:
            return f"there is no document {place.document_id[:60]!r}"
        if not place.says and place.position is None:
            return read_contents(index, documents=[document.id], name=name, address=address)[0]
        for position, sentence in enumerate(document.sentences):
            if position == place.position or (place.says and text_digest(sentence.text) == place.says):
                return read_contents(index, [sentence.id], name=name, address=address)[0]
        return f"the document {place.document_id[:60]!r} has no such sentence any more"


def _held_at(place: Pasted, held: dict[tuple[str, str], Item]) -> Item | None:
    return held.get((place.document_id, place.says)) if place.says else None


def _make_edit(row: Judged) -> Edit:
    return Edit(
        judgement=row.judgement,
        note=UNSET if row.note is None else row.note,
        tags=UNSET if row.tags is None else row.tags,
    )


def _judge(content: Content, row: Judged) -> Content:
    return replace(content, judgement=row.judgement, note=row.note or "", tags=row.tags or ())
