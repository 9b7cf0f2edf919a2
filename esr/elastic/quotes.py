"""The field `quotes` of sentences: their quotations, with the keys by which speakers are searched for.

Indices that an older version of esr made get the field when quotations are first stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from esr import resources
from esr.elastic.cluster import Cluster
from esr.index.names import name_key
from esr.text.document import QUOTES, Quote

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
