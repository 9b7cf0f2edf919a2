"""What is put into dossiers: sentences and documents of an index, and the clippings that browsers keep."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from esr.dossiers.readings import join_document
from esr.dossiers.records import MOST_TAGS, Content
from esr.plugin import NotFound, UsageError, to_one_line
from esr.plugin.provisional import CERTAIN, EngineIndex, Name, Names, Quote, Quotes, Records, find_form

Address = Callable[[str, str], str]
"""The permanent address of a document, or of a sentence in it, by the id and the text of the sentence."""


def no_address(document_id: str, text: str) -> str:
    """No address, where no server is known."""
    return ""


def read_contents(
    index: EngineIndex,
    sentences: Sequence[str] = (),
    documents: Collection[str] = (),
    *,
    name: str = "",
    address: Address = no_address,
) -> list[Content]:
    """Sentences and whole documents of an index by their ids, as items of a dossier.

    `name` is that of the index. Raises NotFound for an unknown id.
    """
    records = index.read(sentences, Records()) if sentences else []
    speakers = _find_speakers(index, sentences) if sentences else []
    contents = [
        Content(
            index=name,
            document_id=record.document_id,
            sentence_id=record.sentence_id,
            text=record.text,
            title=record.title,
            date=record.date,
            source=record.source,
            url=record.url,
            language=record.language,
            authors=record.authors,
            section=record.section,
            permalink=address(record.document_id, record.text),
            speaker=speaker,
        )
        for record, speaker in zip(records, speakers, strict=True)
    ]
    by_id = {document.id: document for document in index.documents(set(documents))} if documents else {}
    for id in dict.fromkeys(documents):
        if id not in by_id:
            raise NotFound(f"there is no document {id!r} in {name or index.where}")
        document = by_id[id]
        contents.append(
            Content(
                kind="document",
                index=name,
                document_id=id,
                text=join_document(document),
                title=document.title,
                date=document.date,
                source=document.source,
                url=document.url,
                language=document.language,
                authors=document.authors,
                section=document.section,
                permalink=address(id, ""),
            )
        )
    return contents


def _find_speakers(index: EngineIndex, sentences: Sequence[str]) -> list[str]:
    """Who certainly speaks first in each sentence, as readers call them; empty without anybody."""
    quotes = [
        next((quote for quote in quoted if quote.name and quote.certainty == CERTAIN), None)
        for quoted in index.read(sentences, Quotes())
    ]
    keys = list(dict.fromkeys(quote.name for quote in quotes if quote and quote.name))
    names = index.vocabulary(Names(keys)) if keys else {}
    return [_call_speaker(quote, names) if quote else "" for quote in quotes]


def _call_speaker(quote: Quote, names: Mapping[str, Name]) -> str:
    key = quote.name or ""
    return names[key].form if key in names else find_form(key, [quote.speaker or ""])


class Clipping(Struct):
    """A sentence as a browser keeps it, with the reader's note and tags. Further keys are ignored.

    `speaker` is that of a quotation in it, empty without one. Browsers also keep null for no speaker or note.
    """

    sentence_id: str
    text: str
    document_id: str = ""
    title: str | None = None
    date: str | None = None
    source: str | None = None
    url: str | None = None
    language: str | None = None
    authors: tuple[str, ...] = ()
    permalink: str = ""
    speaker: str | None = ""
    note: str | None = ""
    tags: tuple[str, ...] = ()


def read_clippings(clippings: Any, *, name: str = "") -> list[Content]:
    """The clippings that a browser has kept, as items. `name` is that of the index. Raises UsageError."""
    try:
        read = msgspec.convert(clippings, list[Clipping])
    except msgspec.ValidationError as error:
        raise UsageError(f"these are no clippings: {to_one_line(error)}") from None
    return [
        Content(
            index=name,
            document_id=clipping.document_id or clipping.sentence_id,
            sentence_id=clipping.sentence_id,
            text=clipping.text,
            title=clipping.title,
            date=clipping.date,
            source=clipping.source,
            url=clipping.url,
            language=clipping.language,
            authors=clipping.authors,
            permalink=clipping.permalink,
            speaker=clipping.speaker or "",
            note=clipping.note or "",
            tags=clipping.tags[:MOST_TAGS],
        )
        for clipping in read
    ]
