"""Documents and sentences as Elasticsearch keeps them: the bodies of a load."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from esr.analysis import Analyzer
from esr.dependency.codec import encode
from esr.documents import Document, ParseWord
from esr.documents.dates import parse_date_start
from esr.documents.serialisation import checksum
from esr.engines.elasticsearch.store.peaks import extent, peaks
from esr.engines.index import Description

Action = dict[str, Any]
_COMMON_DATE = re.compile(
    r"\d{4}(-\d\d(-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)?)?)?)?", re.ASCII
)


class Bodies:
    """Makes the actions of a load, document by document. Ids are fixed, so that a repeat overwrites."""

    def __init__(self, analyzer: Analyzer, description: Description, sentences: str, documents: str) -> None:
        self._analyzer = analyzer
        self._terms = analyzer.terms
        self._title = description.title
        self._sentences = sentences
        self._documents = documents

    def of(
        self, document: Document, order: int, document_order: int, priors: Mapping[str, Any]
    ) -> Iterator[Action]:
        """The document, then its sentences. `order` is the first sentence's place in the collection.

        `priors` holds the stored numbers of each sentence, by column, in the document's order.
        """
        lengths = [self._terms(sentence.text) for sentence in document.sentences]
        counts = [len(terms) for terms in lengths]
        context = [term for terms in lengths for term in terms]
        if self._title and document.title:
            context = self._terms(document.title) + context
        joined = " ".join(context)
        about = {"title": document.title, "source": document.source, "url": document.url}
        about |= {"language": document.language, "date": document.date and common_date(document.date)}
        known = {key: value for key, value in about.items() if value is not None}
        given = {} if about["date"] == document.date else {"given_date": document.date}
        yield {
            "_index": self._documents,
            "_id": document.id,
            "document_id": document.id,
            "checksum": checksum(document),
            "order": document_order,
            "context": joined,
            "length": len(context),
            "terms": len(set(context)),
            "size": len(lengths),
            "extent": extent(len(context), counts),
            "peaks": peaks(lengths),
            "sentences": [_given(s.id, s.text, s.features, s.parse) for s in document.sentences],
            **given,
            **known,
        }
        for n, sentence in enumerate(document.sentences):
            around = slice(max(n - 1, 0), n + 2)
            neighbours = {
                "previous": document.sentences[n - 1].text if n else None,
                "next": document.sentences[n + 1].text if n + 1 < len(counts) else None,
            }
            yield {
                "_index": self._sentences,
                "_id": sentence.id,
                "sentence_id": sentence.id,
                "document_id": document.id,
                "position": n,
                "order": order + n,
                "text": sentence.text,
                "context": joined,
                "length": counts[n],
                "surrounding_length": sum(counts[around]),
                "document_length": len(context),
                **{name: float(column[n]) for name, column in priors.items()},
                **({"features": dict(sentence.features)} if sentence.features else {}),
                **({} if sentence.parse is None else {"parse": binary_parse(sentence.parse, self._analyzer)}),
                **{key: value for key, value in neighbours.items() if value is not None},
                **known,
            }


def binary_parse(parse: Sequence[ParseWord], analyzer: Analyzer) -> str:
    """A parse as the field `parse` takes it."""
    return b64encode(encode(parse, analyzer)).decode()


def common_date(date: str) -> str:
    """A date in a form that Elasticsearch reads: as given where it can be, else the same moment."""
    if _COMMON_DATE.fullmatch(date):
        return date
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=parse_date_start(date))
    return moment.isoformat().replace("+00:00", "Z")


def _given(name: str, text: str, features: Mapping[str, float], parse: Any) -> dict[str, Any]:
    given: dict[str, Any] = {"id": name, "text": text}
    if features:
        given["features"] = dict(features)
    if parse is not None:
        given["parse"] = [list(word) for word in parse]
    return given
