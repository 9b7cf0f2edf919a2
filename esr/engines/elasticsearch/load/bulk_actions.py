"""The bulk actions of a load: documents and sentences in the form that Elasticsearch stores."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from esr.analysis import Analyzer
from esr.dependency.codec import encode
from esr.documents import Document, ParseWord, Sentence
from esr.documents.attributes import metadata_values
from esr.documents.dates import parse_date_start
from esr.documents.fields import METADATA, encode_fields
from esr.documents.serialisation import checksum
from esr.engines.elasticsearch.load.bulk import Action
from esr.engines.elasticsearch.load.document_terms import DocumentTerms
from esr.engines.elasticsearch.store import term_maxima
from esr.engines.elasticsearch.store.values import KEYS_FIELD, SEPARATOR, VALUES_FIELD

_ELASTICSEARCH_DATE = re.compile(
    r"\d{4}(-\d\d(-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)?)?)?)?", re.ASCII
)


@dataclass(slots=True)
class DocumentActions:
    """A document with the actions for its own entry and for those of its sentences."""

    document: Document
    entry: Action
    sentences: list[Action]


class ActionBuilder:
    """Builds the actions of a load, document by document. Ids are fixed, so a repeat overwrites."""

    def __init__(self, analyzer: Analyzer, sentences_index: str, documents_index: str) -> None:
        self._analyzer = analyzer
        self._sentences_index = sentences_index
        self._documents_index = documents_index

    def build(
        self,
        document: Document,
        terms: DocumentTerms,
        ordinal: int,
        document_ordinal: int,
        priors: Mapping[str, Any],
    ) -> DocumentActions:
        """`ordinal` is that of the first sentence, `document_ordinal` that of the document.

        `priors` has the stored priors of the sentences by column, in the document's order.
        """
        metadata = _metadata(document)
        given_date = {} if metadata.get("date") == document.date else {"given_date": document.date}
        entry = {
            "_index": self._documents_index,
            "_id": document.id,
            "document_id": document.id,
            "checksum": checksum(document),
            "ordinal": document_ordinal,
            "context": terms.context,
            "length": terms.length,
            "terms": terms.distinct,
            "size": len(terms.lengths),
            "extent": term_maxima.pack_lengths(terms.length, terms.lengths),
            term_maxima.FIELD: terms.maxima,
            "sentences": [_stored_sentence(sentence) for sentence in document.sentences],
            **given_date,
            **_given_metadata(document),
            **metadata,
        }
        sentences = [
            {
                "_index": self._sentences_index,
                "_id": sentence.id,
                "sentence_id": sentence.id,
                "document_id": document.id,
                "position": n,
                **({} if sentence.paragraph is None else {"paragraph": sentence.paragraph}),
                "ordinal": ordinal + n,
                "text": sentence.text,
                "context": terms.context,
                "length": terms.lengths[n],
                "surrounding_length": terms.surrounding_lengths[n],
                "document_length": terms.length,
                **{name: float(column[n]) for name, column in priors.items()},
                **({"features": dict(sentence.features)} if sentence.features else {}),
                **({} if sentence.parse is None else {"parse": encode_parse(sentence.parse, self._analyzer)}),
                **dict(_neighbours(document.sentences, n)),
                **metadata,
            }
            for n, sentence in enumerate(document.sentences)
        ]
        return DocumentActions(document, entry, sentences)


def encode_parse(parse: Sequence[ParseWord], analyzer: Analyzer) -> str:
    """A parse as the field `parse` takes it."""
    return b64encode(encode(parse, analyzer)).decode()


def elasticsearch_date(date: str) -> str:
    """A date in a form that Elasticsearch reads: as given where possible, else the same moment."""
    if _ELASTICSEARCH_DATE.fullmatch(date):
        return date
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=parse_date_start(date))
    return moment.isoformat().replace("+00:00", "Z")


def _metadata(document: Document) -> dict[str, Any]:
    """The fields that the entries of a document and of its sentences share, without those it lacks.

    Of the metadata, these are its attributes.
    """
    fields = encode_fields(document)
    if document.date:
        fields["date"] = elasticsearch_date(document.date)
    if document.metadata:
        fields[METADATA] = {key: list(values) for key, values in metadata_values(document.metadata).items()}
    return fields


def _given_metadata(document: Document) -> dict[str, Any]:
    """The metadata as JSON, and its keys and values, by which they are listed."""
    if not document.metadata:
        return {}
    attributes = metadata_values(document.metadata)
    return {
        "given_metadata": json.dumps(document.metadata, ensure_ascii=False),
        KEYS_FIELD: list(attributes),
        VALUES_FIELD: [key + SEPARATOR + value for key, values in attributes.items() for value in values],
    }


def _neighbours(sentences: Sequence[Sentence], n: int) -> Iterator[tuple[str, str]]:
    if n:
        yield "previous", sentences[n - 1].text
    if n + 1 < len(sentences):
        yield "next", sentences[n + 1].text


def _stored_sentence(sentence: Sentence) -> dict[str, Any]:
    """A sentence as the entry of its document stores it."""
    stored: dict[str, Any] = {"id": sentence.id, "text": sentence.text}
    if sentence.paragraph is not None:
        stored["paragraph"] = sentence.paragraph
    if sentence.features:
        stored["features"] = dict(sentence.features)
    if sentence.parse is not None:
        stored["parse"] = [list(word) for word in sentence.parse]
    return stored
