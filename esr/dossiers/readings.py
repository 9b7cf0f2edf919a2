"""Compares what a dossier holds with an index as it is now, for somebody who may see a part of the index.

An item has the text that it was kept with. Of a person who may not see its document, or of whom nobody can
say it because the document is gone, an item keeps back everything but its place in the list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from msgspec import Struct, structs

from esr.dossiers.records import Item
from esr.plugin import Document, EsrError
from esr.plugin.provisional import EngineIndex, import_lazily

if TYPE_CHECKING:
    from rapidfuzz import fuzz
else:
    fuzz = import_lazily("rapidfuzz.fuzz")

Status = Literal["same", "changed", "removed", "unknown", "withheld"]
STATUSES: Mapping[Status, str] = {
    "same": "the index has the same text",
    "changed": "the index has another text now: `now`",
    "removed": "the index has neither this text nor a similar one in its place",
    "unknown": "the index is not here, or does not respond",
    "withheld": "the document is not for this person",
}
"""What an item is beside the index as it is now."""
_LEAST_SIMILAR = 60
"""Least similarity, in percent of the characters, of a sentence that may be a later wording of another."""


class Reading(Struct, frozen=True, kw_only=True):
    """An item beside the index as it is now.

    `item` is None if it is withheld. `now` is the later wording of one that has changed, and `sentence_id`
    the id under which the index has the sentence now. `before` and `after` are its neighbours there, in the
    same document; empty at its ends, and where the index does not have the sentence.
    """

    id: str
    status: Status
    item: Item | None = None
    now: str = ""
    sentence_id: str = ""
    before: str = ""
    after: str = ""


class Look(Struct, frozen=True):
    """What a person may see of an index: `index` itself, or a part of it, where `is_part`.

    Without an index, nobody can look. Then the texts that are kept are shown unless `is_part`.
    """

    index: EngineIndex | None
    is_part: bool = False


WITHHELD = Look(None, True)
"""Nothing of an index."""


def read_items(items: Sequence[Item], look_at: Callable[[str], Look]) -> list[Reading]:
    """The items beside their indexes. `look_at` says what may be seen of an index, by its name in an item."""
    looks = {name: look_at(name) for name in dict.fromkeys(item.index for item in items)}
    documents = {
        name: _read_documents(look, (item.document_id for item in items if item.index == name))
        for name, look in looks.items()
    }
    return [_compare(item, looks[item.index], documents[item.index]) for item in items]


def _read_documents(look: Look, ids: Iterable[str]) -> dict[str, Document] | None:
    """Documents by id; None if the index does not respond."""
    if look.index is None:
        return None
    try:
        return {document.id: document for document in look.index.documents(set(ids))}
    except EsrError:
        return None


def _compare(item: Item, look: Look, documents: Mapping[str, Document] | None) -> Reading:
    document = None if documents is None else documents.get(item.document_id)
    if document is None or not document.sentences:
        if look.is_part:
            return Reading(id=item.id, status="withheld")
        return Reading(id=item.id, status="unknown" if documents is None else "removed", item=item)
    if item.kind == "document":
        text = join_document(document)
        if text == item.text:
            return Reading(id=item.id, status="same", item=item)
        return Reading(id=item.id, status="changed", item=item, now=text)
    same = [sentence.id for sentence in document.sentences if sentence.text == item.text]
    if same:
        id = item.sentence_id if item.sentence_id in same else same[0]
        return _between(Reading(id=item.id, status="same", item=item, sentence_id=id), document)
    later = max(
        document.sentences,
        key=lambda sentence: (fuzz.ratio(sentence.text, item.text), sentence.id == item.sentence_id),
    )
    if fuzz.ratio(later.text, item.text) < _LEAST_SIMILAR:
        return Reading(id=item.id, status="removed", item=item)
    changed = Reading(id=item.id, status="changed", item=item, now=later.text, sentence_id=later.id)
    return _between(changed, document)


def _between(reading: Reading, document: Document) -> Reading:
    """The reading with the neighbours of its sentence."""
    place = [sentence.id for sentence in document.sentences].index(reading.sentence_id)
    before, after = document.sentences[max(place - 1, 0) : place], document.sentences[place + 1 : place + 2]
    texts = ["".join(sentence.text for sentence in part) for part in (before, after)]
    return structs.replace(reading, before=texts[0], after=texts[1])


def join_document(document: Document) -> str:
    """The text of a document as an item keeps it: its sentences, one a line."""
    return "\n".join(sentence.text for sentence in document.sentences)
