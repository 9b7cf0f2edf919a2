"""The transport below the client of Elasticsearch, which finds out what answers and speaks its dialect.

The first answer tells by its headers whether Elasticsearch or OpenSearch has sent it. A server that refuses
the client's media type gets the request again in one that it takes, and all later requests in that one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode

from elastic_transport import HttpHeaders, Transport, TransportApiResponse

from esr.elastic.dialect import ELASTICSEARCH, OPENSEARCH, Dialect

_PRODUCT, _OPENSEARCH = "x-elastic-product", "x-opensearch-version"
_IS_ELASTICSEARCH = {_PRODUCT: "Elasticsearch"}
"""The header without which the client refuses an answer."""
_REFUSED = "media_type_header_exception"
_NEWER, _PLAIN = "application/vnd.elasticsearch+", "application/"
NAMED_SCORES = "include_named_queries_score"
"""The parameter that returns the scores of named queries with each hit. `msearch` always sets it."""


class _Request(NamedTuple):
    method: str
    target: str
    body: Any


class ServerTransport(Transport):
    """Sends the requests of the client of Elasticsearch 9 as the server takes them.

    `dialect` is that of the server, None before its first answer. An Elasticsearch before 9 gets media types
    without a version.
    """

    dialect: Dialect | None = None
    _is_plain = False

    def perform_request(  # type: ignore[override]
        self, method: str, target: str, *, headers: Mapping[str, str], body: Any = None, **options: Any
    ) -> TransportApiResponse:
        request = _Request(method, target, body)
        if self.dialect is OPENSEARCH:
            return self._ask_opensearch(request, headers, options)
        if self._is_plain:
            headers = _without_version(headers)
        answer = super().perform_request(method, target, headers=headers, body=body, **options)
        if self.dialect is None:
            self.dialect = self._recognise(answer, headers, options)
            if self.dialect is OPENSEARCH:
                if answer.meta.status < 400:  # what was done must not be done again
                    return _as_elasticsearch(answer)
                return self._ask_opensearch(request, headers, options)
        if not self._is_plain and answer.meta.status == 400 and _REFUSED in str(answer.body):
            self._is_plain = True
            return self.perform_request(method, target, headers=headers, body=body, **options)
        return answer

    def _recognise(
        self, answer: TransportApiResponse, headers: Mapping[str, str], options: Mapping[str, Any]
    ) -> Dialect | None:
        """The dialect of the server that has sent this answer, None if it is unknown."""
        if _PRODUCT in answer.meta.headers:
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
        """The answers to several searches, together if none of them has scores of named queries."""
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
    """An answer that the client takes, with this body instead of its own if there is one."""
    headers = HttpHeaders({**answer.meta.headers, **_IS_ELASTICSEARCH})
    return TransportApiResponse(replace(answer.meta, headers=headers), answer.body if body is None else body)


def _without_version(headers: Mapping[str, str]) -> dict[str, str]:
    return {
        name: _PLAIN + value.removeprefix(_NEWER).partition(";")[0] if value.startswith(_NEWER) else value
        for name, value in headers.items()
    }


def _without_named_scores(target: str) -> str:
    path, _, query = target.partition("?")
    kept = [pair for pair in parse_qsl(query) if pair[0] != NAMED_SCORES]
    return f"{path}?{urlencode(kept)}" if kept else path


def _has_names(node: Any) -> bool:
    """Whether a query has a named part."""
    if isinstance(node, dict):
        return "_name" in node or any(map(_has_names, node.values()))
    return isinstance(node, list) and any(map(_has_names, node))
