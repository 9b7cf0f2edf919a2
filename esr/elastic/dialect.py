"""The differences between the servers that esr works with, and the transport that speaks their dialects.

esr writes its requests, templates and scripts in the language of Elasticsearch. The dialect of another server
translates them just before they are sent. Features that a server lacks are flags of its dialect, which `esr
status` names.

The transport, below the client of Elasticsearch, recognizes Elasticsearch or OpenSearch by the headers of the
first answer. If a server refuses the client's media type, that request and all later ones are sent in one
that it accepts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode

from elastic_transport import HttpHeaders, Transport, TransportApiResponse
from elasticsearch import UnsupportedProductError

from esr import resources
from esr.elastic.impacts import IMPACTS_FIELD, MAXIMA_FIELD
from esr.text.document import METADATA

Body = Any
SEPARATOR = "\x1f"
"""Separates a key from a value or a form. It counts as white space, so none of them contains it."""
VALUES_FIELD = "metadata_values"
"""The field of a document with its metadata as pairs of key and value. Composite aggregations miscount the
values of a `flattened` field if there are several segments."""


class Dialect:
    """The dialect of Elasticsearch, which needs no translation. Subclasses translate for other servers."""

    name = "Elasticsearch"
    oldest: tuple[int, int] = (8, 19)
    """The oldest supported version."""
    lacks: Sequence[str] = ()
    """The features that the server lacks. docs/servers.md describes the effects."""
    counts_occurrences = True
    """Whether the server's statistics of terms, in scripts, can span several shards."""
    counts_metadata = True
    """Whether values of metadata can be counted by their field alone, without VALUES_FIELD."""
    missing_scripts: Sequence[str] = ()
    """The scripts that the server cannot run and does not need."""
    has_vectors = True
    """Whether the server has a field type for vectors. Otherwise, their bytes are stored."""

    has_api_keys = True
    more_clauses = "give its nodes more memory"
    """What lets the server take queries of more clauses."""

    def template(self, template: Mapping[str, Any]) -> Mapping[str, Any]:
        """A component template, an index template or a mapping."""
        return template

    def scripts(self, name: str, source: str) -> Mapping[str, str]:
        """The scripts to store for a script of esr: their sources by name."""
        return {name: source}

    def entry(self, action: dict[str, Any]) -> dict[str, Any]:
        """The action that writes an entry."""
        return action

    def search(self, body: Body) -> Body:
        """The body of a search."""
        return body

    def excludes_vectors(self, version: Sequence[int]) -> bool:
        """Whether a version leaves vectors of the field type out of `_source` unless it is asked for them."""
        return tuple(version) >= (9, 2)


_FIELD_TYPES: Mapping[str, Mapping[str, Any]] = {
    "sparse_vector": {"type": "rank_features"},
    "flattened": {"type": "flat_object"},
    "dense_vector": {"type": "binary", "doc_values": True},
}
"""The definition of a field in OpenSearch, by the field's type in Elasticsearch."""
_UNKNOWN_SETTINGS = {"allow_auto_create"}
_FIELD_BY_LANGUAGE = {"text": "terms_by_language.sentence", "surrounding": "terms_by_language.surrounding"}
"""The fields that an index by language counts terms in, by those that they replace."""
_COUNTED_FIELDS = ("text", "surrounding", *_FIELD_BY_LANGUAGE.values(), "context")
"""The fields whose terms scripts count: of any one index, from the innermost to the outermost."""
_BY_LANGUAGE = "-by-language"
"""Ends the names of scripts that count terms in the nested fields of an index by language. They have names of
their own, since scripts that are in use do not change."""
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
"""Parts of scripts, and their replacements. `term` and `fields` are parameters of the scored query."""
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
    oldest: tuple[int, int] = (2, 19)
    lacks: tuple[str, ...] = (
        "term statistics over several shards",
        "a field type for vectors",
        "counts of a flat field",
        "named scores in a multi-search",
        "API keys",
    )
    counts_occurrences = False
    counts_metadata = False
    missing_scripts: tuple[str, ...] = ("esr-occurrences-v2", "esr-holders-v2")
    has_vectors = False
    has_api_keys = False
    more_clauses = "raise its setting indices.query.bool.max_clause_count"

    def template(self, template: Mapping[str, Any]) -> Mapping[str, Any]:
        translated: Mapping[str, Any] = _translate_template(template)
        return translated

    def scripts(self, name: str, source: str) -> Mapping[str, str]:
        if name in self.missing_scripts:
            return {}
        translated = _translate_script(source)
        scripts = {name: translated}
        if _NESTED_COUNTS in source:
            for field, other in _FIELD_BY_LANGUAGE.items():
                translated = translated.replace(f"'{field}'", f"'{other}'")
            scripts[name + _BY_LANGUAGE] = translated
        return scripts

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


ELASTICSEARCH, OPENSEARCH = Dialect(), OpenSearch()


def _translate_script(source: str) -> str:
    is_product = "dotProduct(" in source
    for part, other in _SCRIPT_PARTS.items():
        source = source.replace(part, other)
    source = _PRODUCT + source if is_product else source
    return _HEXADECIMAL.sub(lambda number: str(int(number[0], 16)), source)


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
    """The name of the feature with the weight of a term. Periods, which separate names, are replaced."""
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
    """A query that scores the weight of a term, times the boost."""
    clause = wanted if isinstance(wanted, dict) else {"value": wanted}
    boost = {"boost": clause["boost"]} if "boost" in clause else {}
    return {"rank_feature": {"field": f"{field}.{_feature(clause['value'])}", "linear": {}, **boost}}


def _translate_script_score(node: Mapping[str, Any]) -> dict[str, Any]:
    """Add the term that the script counts, and the fields to look it up in, to the script's parameters."""
    script, query = node["script"], node["query"]
    translated = {**node, "query": _translate_search(query)}
    source = _read_script(script["id"])
    if "_termStats" in source:
        terms = dict(_counted_terms(query)) or query.get("term", {})  # a written word
        fields = [field for field in _COUNTED_FIELDS if field in terms] or list(terms)
        params = {**script.get("params", {}), "fields": fields, "term": next(iter(terms.values()), "")}
        is_by_language = _NESTED_COUNTS in source and _FIELD_BY_LANGUAGE["text"] in fields
        id = script["id"] + (_BY_LANGUAGE if is_by_language else "")
        translated["script"] = {**script, "id": id, "params": params}
    return translated


@cache
def _read_script(name: str) -> str:
    return resources.read_text(f"scripts/{name}.painless")


def _counted_terms(node: Any) -> Iterator[tuple[str, str]]:
    """Yield the terms of a query with their fields, as `_termStats` counts them."""
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


_PRODUCT_HEADER, _OPENSEARCH = "x-elastic-product", "x-opensearch-version"
_IS_ELASTICSEARCH = {_PRODUCT_HEADER: "Elasticsearch"}
"""The header without which the client refuses an answer."""
_REFUSED = "media_type_header_exception"
_NEWER, _PLAIN = "application/vnd.elasticsearch+", "application/"
NAMED_SCORES = "include_named_queries_score"
"""The parameter that returns the scores of named queries with each hit. `msearch` always sets it."""


class _Request(NamedTuple):
    method: str
    target: str
    body: Any


def is_answer(method: str, target: str, body: Any) -> bool:
    """Whether a body with a status of success has the outer form of an answer to this request."""
    if not isinstance(body, dict):
        return False
    path = target.partition("?")[0]
    name = path.rpartition("/")[2]
    if name == "_search":
        return _is_search_answer(body)
    if name == "_msearch":
        answers = body.get("responses")
        return isinstance(answers, list) and all(
            isinstance(answer, dict) and ("error" in answer or _is_search_answer(answer))
            for answer in answers
        )
    if method == "GET" and (name in ("_mapping", "_settings") or "/_alias/" in path):
        return all(isinstance(value, dict) for value in body.values())
    return name != "" or isinstance(body.get("version"), dict)


def _is_search_answer(body: Mapping[str, Any]) -> bool:
    shards, hits = body.get("_shards"), body.get("hits")
    return (
        isinstance(shards, dict)
        and isinstance(shards.get("total"), int)
        and isinstance(shards.get("failed"), int)
        and isinstance(hits, dict)
        and isinstance(hits.get("hits"), list)
    )


class ServerTransport(Transport):
    """Sends the requests of the client of Elasticsearch 9 in a form that the server accepts.

    `dialect` is that of the server, None before its first answer. An Elasticsearch before 9 gets media types
    without a version.
    """

    dialect: Dialect | None = None
    _is_plain = False

    def perform_request(  # type: ignore[override]
        self, method: str, target: str, *, headers: Mapping[str, str], body: Any = None, **options: Any
    ) -> TransportApiResponse:
        """The server's answer. Raises UnsupportedProductError for a page or other JSON, as of a proxy."""
        answer = self._ask(method, target, headers=headers, body=body, **options)
        if method != "HEAD" and answer.meta.status < 300 and not is_answer(method, target, answer.body):
            raise UnsupportedProductError("no answer to this request", answer.meta, answer.body)
        return answer

    def _ask(
        self, method: str, target: str, *, headers: Mapping[str, str], body: Any = None, **options: Any
    ) -> TransportApiResponse:
        request = _Request(method, target, body)
        if self.dialect is OPENSEARCH:
            return self._ask_opensearch(request, headers, options)
        is_plain = self._is_plain
        if is_plain:
            headers = _without_version(headers)
        answer = super().perform_request(method, target, headers=headers, body=body, **options)
        if self.dialect is None:
            self.dialect = self._recognise(answer, headers, options)
        if self.dialect is OPENSEARCH:  # perhaps by the answer to another thread
            if answer.meta.status < 400:  # a successful request must not be repeated
                return _as_elasticsearch(answer)
            return self._ask_opensearch(request, headers, options)
        if not is_plain and answer.meta.status == 400 and _REFUSED in str(answer.body):
            self._is_plain = True
            return self._ask(method, target, headers=headers, body=body, **options)
        return answer

    def _recognise(
        self, answer: TransportApiResponse, headers: Mapping[str, str], options: Mapping[str, Any]
    ) -> Dialect | None:
        """The dialect of the server that has sent this answer, None if it is unknown."""
        if _PRODUCT_HEADER in answer.meta.headers:
            return ELASTICSEARCH
        if _OPENSEARCH in answer.meta.headers:
            return OPENSEARCH
        if answer.meta.status in (401, 403) or answer.meta.status >= 500:
            return None
        # OpenSearch before 3 has no such header.
        accepted = {
            name: value for name, value in _without_version(headers).items() if name != "content-type"
        }
        body = super().perform_request("GET", "/", headers=accepted, **options).body
        version = body.get("version") if isinstance(body, dict) else None
        is_opensearch = isinstance(version, dict) and version.get("distribution") == "opensearch"
        return OPENSEARCH if is_opensearch else None

    def _ask_opensearch(
        self, request: _Request, headers: Mapping[str, str], options: Mapping[str, Any]
    ) -> TransportApiResponse:
        headers = _without_version(headers)
        path = request.target.partition("?")[0]
        if path.endswith("/_msearch"):
            return self._ask_each(request, headers, options)
        answer = super().perform_request(**_translate(request)._asdict(), headers=headers, **options)
        body = answer.body
        if path.endswith("/_pit") and isinstance(body, dict) and "pit_id" in body:
            body = {**body, "id": body["pit_id"]}
        return _as_elasticsearch(answer, body)

    def _ask_each(
        self, request: _Request, headers: Mapping[str, str], options: Mapping[str, Any]
    ) -> TransportApiResponse:
        """The answers to several searches, sent together unless one of them needs scores of named queries."""
        lines = [OPENSEARCH.search(line) for line in request.body]
        if not any(map(_has_names, lines[1::2])):
            target = _without_named_scores(request.target)
            answer = super().perform_request("POST", target, headers=headers, body=lines, **options)
            return _as_elasticsearch(answer)
        plain = {**headers, "content-type": "application/json"}
        responses = []
        for header, body in zip(lines[::2], lines[1::2], strict=True):
            parameters = {name: value for name, value in header.items() if name != "index"}
            target = f"/{header['index']}/_search?{urlencode({NAMED_SCORES: 'true', **parameters})}"
            answer = super().perform_request("POST", target, headers=plain, body=body, **options)
            if not isinstance(answer.body, dict) or not isinstance(answer.body.get("error", {}), dict):
                return answer  # of a proxy
            responses.append({**answer.body, "status": answer.meta.status})
        together = TransportApiResponse(replace(answer.meta, status=200), {"responses": responses})
        return _as_elasticsearch(together)


def _translate(request: _Request) -> _Request:
    method, target, body = request
    path, _, query = target.partition("?")
    if path == "/_pit" and method == "DELETE":
        return _Request(method, "/_search/point_in_time", {"pit_id": [body["id"]]})
    if path.endswith("/_pit"):
        return _Request(method, f"{path.removesuffix('_pit')}_search/point_in_time?{query}", body)
    if path.endswith("/_search"):
        return _Request(method, target, OPENSEARCH.search(body))
    return request


def _as_elasticsearch(answer: TransportApiResponse, body: Any = None) -> TransportApiResponse:
    """An answer that the client accepts, with `body` instead of its own if given."""
    headers = HttpHeaders({**answer.meta.headers, **_IS_ELASTICSEARCH})
    return TransportApiResponse(replace(answer.meta, headers=headers), answer.body if body is None else body)


def _without_version(headers: Mapping[str, str]) -> dict[str, str]:
    return {
        name: _PLAIN + value.removeprefix(_NEWER).partition(";")[0] if value.startswith(_NEWER) else value
        for name, value in headers.items()
    }


def _without_named_scores(target: str) -> str:
    path, _, query = target.partition("?")
    pairs = [pair for pair in parse_qsl(query) if pair[0] != NAMED_SCORES]
    return f"{path}?{urlencode(pairs)}" if pairs else path


def _has_names(node: Any) -> bool:
    """Whether a query has a named part."""
    if isinstance(node, dict):
        return "_name" in node or any(map(_has_names, node.values()))
    return isinstance(node, list) and any(map(_has_names, node))
