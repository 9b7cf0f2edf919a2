"""The fields of an index that hold the terms of sentences, and their quotations.

Elasticsearch makes the terms of `text` and `surrounding` by the index's analyzer. An index by language has no
such analyzer: esr writes its terms to two more fields. These terms are marked, so a term tells its field.

Quotations are stored with the keys by which speakers are searched for. Indices that an older version of esr
made get their field when quotations are first stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from esr import resources
from esr.elastic.cluster import Cluster
from esr.index.language import telling_codes
from esr.index.names import name_key
from esr.index.writer import Description
from esr.plans.plan import FieldName, TextField
from esr.text.analyzer import UNKNOWN_LANGUAGE, Analyzer, is_marked
from esr.text.document import QUOTES, Quote, Sentence

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
_WRITTEN = {"type": "text", "norms": False, "index_options": "freqs", "analyzer": "whitespace"}


def indexed_field(name: FieldName, term: str) -> str:
    """The indexed field in which to look for a term."""
    return (_MARKED_FIELD if is_marked(term) else INDEXED_FIELD)[name]


def sentence_field(description: Description) -> str:
    """The indexed field of the terms of sentences."""
    return (_MARKED_FIELD if description.is_by_language else INDEXED_FIELD)["sentence"]


def language_query(languages: Iterable[str | None], group: str) -> dict[str, Any]:
    """Matches the entries in the language of a group (`language_group`). `languages` are those of all."""
    declared = {"terms": {"language": telling_codes(languages, group)}}
    return {"bool": {"must_not": [declared]}} if group == UNKNOWN_LANGUAGE else declared


def added_properties(description: Description) -> dict[str, Any]:
    """What the mapping of an index needs beside that of the templates."""
    if not description.is_by_language:
        return {}
    return {_BY_LANGUAGE: {"properties": {"sentence": _WRITTEN, "surrounding": _WRITTEN}}}


def written_terms(sentences: Sequence[Sentence], analyzer: Analyzer) -> list[Mapping[str, Any]]:
    """The fields of a document's sentences that Elasticsearch does not make itself, by their place."""
    if not analyzer.mark:
        return [{}] * len(sentences)
    own = [" ".join(analyzer.terms(sentence.text)) for sentence in sentences]
    around = (" ".join(own[max(n - 1, 0) : n + 2]) for n in range(len(own)))
    return [
        {_BY_LANGUAGE: {"sentence": each, "surrounding": near}}
        for each, near in zip(own, around, strict=True)
    ]


START = f"{QUOTES}.start"
"""A field that every sentence with a quotation has."""
KEYS = f"{QUOTES}.keys"
"""The keys of speakers, as written and as resolved."""


def encode_quotes(quotes: Iterable[Quote]) -> list[dict[str, Any]]:
    """The field of a sentence with these quotations."""
    return [
        {
            **{name: value for name, value in quote._asdict().items() if value is not None},
            "keys": list(dict.fromkeys(name_key(text) for text in (quote.speaker, quote.name) if text)),
        }
        for quote in quotes
    ]


def decode_quotes(source: Mapping[str, Any]) -> tuple[Quote, ...]:
    """The quotations of a sentence's `_source`."""
    return tuple(Quote(*(stored.get(name) for name in Quote._fields)) for stored in source.get(QUOTES, ()))


def map_quotes(cluster: Cluster, indices: Iterable[str]) -> None:
    """Add the field to indices of sentences that lack it."""
    template = resources.load_json("components/esr-sentences.json")["template"]
    field = cluster.dialect.template(template["mappings"]["properties"][QUOTES])
    with cluster.translate_errors():
        for index in indices:
            mappings = cluster.client.indices.get_mapping(index=index)[index]["mappings"]
            if QUOTES not in mappings["properties"]:
                cluster.client.indices.put_mapping(index=index, properties={QUOTES: field})


def quotes_clause(keys: Sequence[str] | None = None) -> dict[str, Any]:
    """Matches sentences with a quotation, or with one whose speaker has one of these keys."""
    return {"exists": {"field": START}} if keys is None else {"terms": {KEYS: list(keys)}}
