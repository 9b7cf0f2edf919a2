"""Documents and sentences as Elasticsearch stores them: the fields of their terms and quotations, decoding.

Elasticsearch analyzes `text` and `surrounding` with the index's analyzer. An index by language has no such
analyzer: esr writes its terms to two more fields. These terms are marked, so a term determines its field.
Quotations are stored with the keys by which speakers are searched for.

Documents are read in collection order, or by position. The stored `ordinal` has gaps where documents were
removed; positions have none.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from esr.elastic.cluster import Cluster
from esr.elastic.requests import hits_of, search, search_pages, total_of
from esr.index.hits import SentenceRecord
from esr.index.language import distinctive_codes
from esr.index.names import ENTITY_TYPES, name_key
from esr.index.writer import Description
from esr.plans.plan import FieldName, TextField
from esr.stdlib import batched
from esr.text.analyzer import Analyzer
from esr.text.analyzer_definitions import UNKNOWN_LANGUAGE, is_marked
from esr.text.document import (
    LIST_FIELDS,
    METADATA,
    PROBABLE,
    Document,
    ParseWord,
    Quote,
    Sentence,
    decode_fields,
)
from esr.text.sentence_enrichment import QUOTES

INDEXED_FIELD: dict[FieldName, str] = {
    "sentence": "text",
    "surrounding": "surrounding",
    "document": "context",
}
"""The indexed field of each field of a plan, from the innermost to the outermost."""
_BY_LANGUAGE = "terms_by_language"
_MARKED_FIELD: dict[FieldName, str] = {
    "sentence": f"{_BY_LANGUAGE}.sentence",
    "surrounding": f"{_BY_LANGUAGE}.surrounding",
    "document": INDEXED_FIELD["document"],
}
WORDS_FIELD: dict[TextField, str] = {"sentence": "text.words", "title": "title.words"}
"""The indexed field of written words with their positions."""
WITHOUT_TERM: Mapping[str, Any] = {"range": {"length": {"lt": 1}}}
"""Matches the sentences without any term."""
_WRITTEN = {"type": "text", "norms": False, "index_options": "freqs", "analyzer": "whitespace"}


def indexed_field(name: FieldName, term: str) -> str:
    """The indexed field in which to look for a term."""
    return (_MARKED_FIELD if is_marked(term) else INDEXED_FIELD)[name]


def sentence_field(description: Description) -> str:
    """The indexed field of the terms of sentences."""
    return (_MARKED_FIELD if description.is_by_language else INDEXED_FIELD)["sentence"]


def language_query(languages: Iterable[str | None], group: str) -> dict[str, Any]:
    """Matches the entries in a group's language (`language_group`). `languages` are those of all entries."""
    declared = {"terms": {"language": distinctive_codes(languages, group)}}
    return {"bool": {"must_not": [declared]}} if group == UNKNOWN_LANGUAGE else declared


def added_properties(description: Description) -> dict[str, Any]:
    """The properties that the mapping of an index needs in addition to those of the templates."""
    if not description.is_by_language:
        return {}
    return {_BY_LANGUAGE: {"properties": {"sentence": _WRITTEN, "surrounding": _WRITTEN}}}


def written_terms(sentences: Sequence[Sentence], analyzer: Analyzer) -> list[Mapping[str, Any]]:
    """The fields of terms that Elasticsearch does not compute itself, one mapping for each sentence."""
    if not analyzer.mark:
        return [{}] * len(sentences)
    terms_of_sentences = [" ".join(analyzer.terms(sentence.text)) for sentence in sentences]
    around = (" ".join(terms_of_sentences[max(n - 1, 0) : n + 2]) for n in range(len(terms_of_sentences)))
    return [
        {_BY_LANGUAGE: {"sentence": terms, "surrounding": near}}
        for terms, near in zip(terms_of_sentences, around, strict=True)
    ]


START = f"{QUOTES}.start"
"""A field that every sentence with a quotation has."""
KEYS = f"{QUOTES}.keys"
"""The keys of speakers, as written and as resolved."""
PROBABLE_KEYS = f"{QUOTES}.probable_keys"
"""The same of speakers who are only probable. Sentences of earlier versions have all keys in KEYS."""


def encode_quotes(quotes: Iterable[Quote]) -> list[dict[str, Any]]:
    """The field of a sentence with these quotations."""
    encoded = []
    for quote in quotes:
        keys = list(dict.fromkeys(name_key(text) for text in (quote.speaker, quote.name) if text))
        field = "probable_keys" if quote.certainty == PROBABLE else "keys"
        known = {name: value for name, value in quote._asdict().items() if value is not None}
        encoded.append({**known, field: keys})
    return encoded


def decode_quotes(source: Mapping[str, Any]) -> tuple[Quote, ...]:
    """The quotations of a sentence's `_source`."""
    return tuple(Quote(*(stored.get(name) for name in Quote._fields)) for stored in source.get(QUOTES, ()))


def quotes_clause(keys: Sequence[str] | None = None, probable: bool = True) -> dict[str, Any]:
    """Matches sentences with a quotation, or with one whose speaker has one of these keys.

    `probable`: also if the speaker is only probable.
    """
    if keys is None:
        return {"exists": {"field": START}}
    fields = (KEYS, PROBABLE_KEYS) if probable else (KEYS,)
    either = [{"terms": {field: list(keys)}} for field in fields]
    return either[0] if len(either) == 1 else {"bool": {"should": either, "minimum_should_match": 1}}


WITHOUT_CONTEXT: Mapping[str, Any] = {"excludes": ["context"]}
"""The filter of `_source` for `decode_document`, which does not need the context."""
_RECORD_FIELDS = [
    name for name in SentenceRecord._fields if name not in ("features", "entities", *LIST_FIELDS)
]


def decode_document(source: Mapping[str, Any]) -> Document:
    """The document as it was loaded."""
    sentences = tuple(
        Sentence(
            stored["id"],
            stored["text"],
            stored.get("features", {}),
            tuple(ParseWord(*word) for word in stored["parse"]) if "parse" in stored else None,
            stored.get("paragraph"),
            decode_quotes(stored),
        )
        for stored in source["sentences"]
    )
    fields = decode_fields(source)
    fields["date"] = source.get("given_date", fields["date"])
    fields[METADATA] = json.loads(source.get("given_metadata", "{}"))
    return Document(source["document_id"], sentences, **fields)


def decode_sentence(source: Mapping[str, Any]) -> SentenceRecord:
    """The record of a sentence, decoded from its `_source`."""
    entities = source.get("entities")
    if entities is not None:
        entities = {type: tuple(entities[type]) for type in ENTITY_TYPES if type in entities}
    fields: dict[str, Any] = {name: source.get(name) for name in _RECORD_FIELDS}
    fields |= {name: tuple(source.get(name, ())) for name in LIST_FIELDS}
    return SentenceRecord(**fields, features=source.get("features", {}), entities=entities)


PAGE_SIZE = 500
"""Number of documents in one answer."""
_MARKS = 10_000
"""Number of checksums in one answer."""
_BATCH = 1000
_BUCKETS = 5000
_KEEP_ALIVE = "10m"


def read_documents(cluster: Cluster) -> Iterator[Document]:
    """Yield all documents in order as of the start of the iteration, even if they are deleted meanwhile."""
    return map(decode_document, _read_sources(cluster, WITHOUT_CONTEXT, PAGE_SIZE))


def read_checksums(cluster: Cluster) -> Iterator[tuple[str, str]]:
    """Yield the id and the stored checksum of each document, in order."""
    sources = _read_sources(cluster, ["document_id", "checksum"], _MARKS)
    return ((source["document_id"], source.get("checksum", "")) for source in sources)


def read_sizes(cluster: Cluster, query: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Yield the id and the number of sentences of each document that matches, in order."""
    sources = _read_sources(cluster, ["document_id", "size"], _MARKS, query)
    return ((source["document_id"], source["size"]) for source in sources)


def _read_sources(
    cluster: Cluster, source: Any, size: int, query: Mapping[str, Any] | None = None
) -> Iterator[Mapping[str, Any]]:
    """Yield a part of the `_source` of each document that matches, in order, in pages of `size`."""
    with cluster.translate_errors():
        answer = cluster.client.open_point_in_time(index=cluster.documents_alias, keep_alive=_KEEP_ALIVE)
    point_in_time = {"id": answer["id"], "keep_alive": _KEEP_ALIVE}
    body: dict[str, Any] = {"sort": [{"ordinal": "asc"}], "source": source}
    if query is not None:
        body["query"] = query
    try:
        for page in search_pages(cluster, size, pit=point_in_time, **body):
            point_in_time["id"] = page["pit_id"]
            yield from (hit["_source"] for hit in hits_of(page))
    finally:
        with cluster.translate_errors():  # an expired point in time is already closed
            cluster.client.options(ignore_status=404).close_point_in_time(id=point_in_time["id"])


def read_documents_at(cluster: Cluster, positions: Sequence[int]) -> list[Document]:
    """The documents at these positions in the collection, counted from 0, in the order given."""
    ordinals = _ordinals(cluster, positions)
    documents: dict[int, Document] = {}
    for batch in batched(ordinals, _BATCH):
        answer = search(
            cluster,
            index=cluster.documents_alias,
            query={"terms": {"ordinal": batch}},
            size=len(batch),
            source=WITHOUT_CONTEXT,
        )
        sources = [hit["_source"] for hit in hits_of(answer)]
        documents |= {source["ordinal"]: decode_document(source) for source in sources}
    return [documents[ordinal] for ordinal in ordinals]


def _ordinals(cluster: Cluster, positions: Sequence[int]) -> list[int]:
    """The `ordinal` of the documents at these positions, which are equal if none were removed."""
    alias = cluster.documents_alias
    greatest = {"last": {"max": {"field": "ordinal"}}}
    answer = search(cluster, index=alias, size=0, track_total_hits=True, aggs=greatest)
    size = int(answer["aggregations"]["last"]["value"] or 0) + 1
    if total_of(answer) == size:
        return list(positions)
    # Count documents by ranges of `ordinal`, then read only the ranges that contain positions.
    interval = -(-size // _BUCKETS)
    histogram = {"histogram": {"field": "ordinal", "interval": interval, "min_doc_count": 1}}
    answer = search(cluster, index=alias, size=0, aggs={"runs": histogram})
    buckets = answer["aggregations"]["runs"]["buckets"]
    ends = np.cumsum([bucket["doc_count"] for bucket in buckets])
    by_bucket: dict[int, set[int]] = defaultdict(set)
    for position in positions:
        by_bucket[int(np.searchsorted(ends, position, "right"))].add(position)
    ordinals: dict[int, int] = {}
    for number, in_bucket in by_bucket.items():
        bucket = buckets[number]
        first = int(ends[number]) - bucket["doc_count"]
        in_range = {"range": {"ordinal": {"gte": bucket["key"], "lt": bucket["key"] + interval}}}
        for position, ordinal in enumerate(_matching_ordinals(cluster, in_range), first):
            if position in in_bucket:
                ordinals[position] = ordinal
    return [ordinals[position] for position in positions]


def _matching_ordinals(cluster: Cluster, query: dict[str, Any]) -> Iterator[int]:
    """Yield the `ordinal` of each document that matches a query, ascending."""
    body: dict[str, Any] = {"query": query, "sort": [{"ordinal": "asc"}], "source": False}
    for page in search_pages(cluster, _BATCH, index=cluster.documents_alias, **body):
        yield from (hit["sort"][0] for hit in hits_of(page))
