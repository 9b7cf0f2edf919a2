"""The differences between the servers that esr works with, as data and functions on requests.

esr writes its requests, templates and scripts in the language of Elasticsearch. The dialect of another
server translates them just before they are sent. What a server lacks is a flag of its dialect, which
`esr status` names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from esr import resources
from esr.elastic.impacts import IMPACTS_FIELD, MAXIMA_FIELD
from esr.text.document import METADATA

Body = Any
SEPARATOR = "\x1f"
"""Separates a key from a value or a form. It is a blank character, so none of them contains it."""
VALUES_FIELD = "metadata_values"
"""The field of a document with its metadata as pairs of key and value. Composite aggregations miscount the
values of a `flattened` field if there are several segments."""


class Dialect:
    """What Elasticsearch takes as it is written. Subclasses translate it for other servers."""

    name = "Elasticsearch"
    oldest = (8, 19)
    """The oldest version that esr works with."""
    lacks: Sequence[str] = ()
    """What the server does not have. docs/servers.md says what follows from that."""
    counts_occurrences = True
    """Whether the server's statistics of terms, in scripts, can span several shards."""
    counts_metadata = True
    """Whether values of metadata can be counted by their field, without pairs of key and value."""
    missing_scripts: Sequence[str] = ()
    """The scripts that the server cannot run, and that are not needed there."""
    has_vectors = True
    """Whether there is a field type for vectors; otherwise, their bytes are stored."""

    has_api_keys = True
    has_terms_by_language = True
    """Whether scripts count terms in the fields of an index by language."""

    def template(self, template: Mapping[str, Any]) -> Mapping[str, Any]:
        """A component template, an index template or a mapping."""
        return template

    def script(self, source: str) -> str:
        """The source of a script."""
        return source

    def entry(self, action: dict[str, Any]) -> dict[str, Any]:
        """The action that writes an entry."""
        return action

    def search(self, body: Body) -> Body:
        """The body of a search."""
        return body

    def excludes_vectors(self, version: Sequence[int]) -> bool:
        """Whether a version leaves vectors out of `_source` unless it is asked for them."""
        return tuple(version) >= (9, 2)


_FIELD_TYPES: Mapping[str, Mapping[str, Any]] = {
    "sparse_vector": {"type": "rank_features"},
    "flattened": {"type": "flat_object"},
    "dense_vector": {"type": "binary", "doc_values": True},
}
"""By the type of a field in Elasticsearch: its whole definition in OpenSearch."""
_UNKNOWN_SETTINGS = {"allow_auto_create"}
_COUNTED_FIELDS = ("text", "surrounding", "context")
"""The fields whose terms are counted in scripts, from the innermost to the outermost."""
_WEIGHT_FIELDS = (IMPACTS_FIELD, MAXIMA_FIELD)
_NESTED_COUNTS = """\
def counts = _termStats.termFreq();
double own = counts.getMin();
double wide = counts.getMax();
double middle = counts.getSum() - own - wide;
"""
_SCRIPT_PARTS: Mapping[str, str] = {
    _NESTED_COUNTS: """\
List fields = params.fields;
String term = params.term;
double own = termFreq('text', term);
double wide = fields.size() == 1 ? own : termFreq(fields.get(fields.size() - 1), term);
double middle = fields.size() == 3 ? termFreq('surrounding', term) : 0;
""",
    "_termStats.termFreq().getSum()": "termFreq(params.fields.get(0), params.term)",
    "_termStats.totalTermFreq().getMin()": "totalTermFreq(params.fields.get(0), params.term)",
    "dotProduct(params.query, params.field)": "product(params.query, doc[params.field].value)",
}
"""Parts of scripts, and what takes their place. `term` and `fields` are those of the query that is scored."""
_PRODUCT = """\
double product(List query, BytesRef stored) {
  double sum = 0;
  for (int i = 0; i < query.size(); i++) {
    sum += (int) query.get(i) * stored.bytes[stored.offset + i];
  }
  return sum;
}
"""
_HEXADECIMAL = re.compile(r"\b0x[0-9A-F]+\b")


class OpenSearch(Dialect):
    name = "OpenSearch"
    oldest = (2, 19)
    lacks = (
        "term statistics over several shards",
        "a field type for vectors",
        "counts of a flat field",
        "named scores in a multi-search",
        "API keys",
        "terms by language",
    )
    counts_occurrences = False
    counts_metadata = False
    missing_scripts = ("esr-occurrences-v2", "esr-holders-v2")
    has_vectors = False
    has_api_keys = False
    has_terms_by_language = False

    def template(self, template: Mapping[str, Any]) -> Mapping[str, Any]:
        translated: Mapping[str, Any] = _translate_template(template)
        return translated

    def script(self, source: str) -> str:
        is_product = "dotProduct(" in source
        for part, other in _SCRIPT_PARTS.items():
            source = source.replace(part, other)
        source = _PRODUCT + source if is_product else source
        return _HEXADECIMAL.sub(lambda number: str(int(number[0], 16)), source)

    def entry(self, action: dict[str, Any]) -> dict[str, Any]:
        changed: dict[str, Any] = {}
        for field in _WEIGHT_FIELDS:
            if field in action:
                changed[field] = {_feature(term): weight for term, weight in action[field].items()}
        if METADATA in action and VALUES_FIELD not in action:
            values = action[METADATA].items()
            changed[VALUES_FIELD] = [key + SEPARATOR + value for key, of_key in values for value in of_key]
        return {**action, **changed} if changed else action

    def search(self, body: Body) -> Body:
        return _translate_search(body)

    def excludes_vectors(self, version: Sequence[int]) -> bool:
        return False


ELASTICSEARCH, OPENSEARCH = Dialect(), OpenSearch()


def _translate_template(node: Any) -> Any:
    if not isinstance(node, Mapping):
        return node
    type = node.get("type")
    if isinstance(type, str) and type in _FIELD_TYPES:
        return _FIELD_TYPES[type]
    fields = {
        name: _translate_template(value) for name, value in node.items() if name not in _UNKNOWN_SETTINGS
    }
    properties = fields.get("properties")
    if isinstance(properties, dict) and METADATA in properties:
        properties.setdefault(VALUES_FIELD, {"type": "keyword"})
    return fields


def _feature(term: str) -> str:
    """The name of the feature that has the weight of a term. A period would begin the name of a field."""
    return term.replace(".", "\t")


def _translate_search(node: Any) -> Any:
    if isinstance(node, dict):
        if "script_score" in node:
            return {**node, "script_score": _translate_script_score(node["script_score"])}
        for field, wanted in node["term"].items() if len(node) == 1 and "term" in node else ():
            return _weight_query(field, wanted) if field in _WEIGHT_FIELDS else node
        return {name: _translate_search(value) for name, value in node.items()}
    if isinstance(node, list) and node and isinstance(node[0], dict):
        return [_translate_search(item) for item in node]
    return node


def _weight_query(field: str, wanted: Any) -> dict[str, Any]:
    """Scores the weight of a term, times the boost."""
    clause = wanted if isinstance(wanted, dict) else {"value": wanted}
    boost = {"boost": clause["boost"]} if "boost" in clause else {}
    return {"rank_feature": {"field": f"{field}.{_feature(clause['value'])}", "linear": {}, **boost}}


def _translate_script_score(node: Mapping[str, Any]) -> dict[str, Any]:
    """With the term that the script counts, and the fields that it is looked up in, among its parameters."""
    script, query = node["script"], node["query"]
    translated = {**node, "query": _translate_search(query)}
    if _counts_terms(script["id"]):
        found = dict(_counted_terms(query)) or query.get("term", {})  # a word as it is written
        fields = [field for field in _COUNTED_FIELDS if field in found] or list(found)
        params = {**script.get("params", {}), "fields": fields}
        translated["script"] = {**script, "params": {**params, "term": next(iter(found.values()), "")}}
    return translated


@cache
def _counts_terms(script: str) -> bool:
    return "_termStats" in resources.read_text(f"scripts/{script}.painless")


def _counted_terms(node: Any) -> Iterator[tuple[str, str]]:
    """The terms of a query with their fields, as `_termStats` counts them."""
    if isinstance(node, list):
        for item in node:
            yield from _counted_terms(item)
    elif isinstance(node, dict):
        for name, value in node.items():
            if name == "term":
                for field, wanted in value.items():
                    if field in _COUNTED_FIELDS:
                        yield field, wanted["value"] if isinstance(wanted, dict) else wanted
            elif name not in ("filter", "must_not", "script_score"):
                yield from _counted_terms(value)
