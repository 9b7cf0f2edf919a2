"""Search an index that esr loaded into Elasticsearch or OpenSearch, without esr. The ranking is esr's own.

It needs Python 3.11 or later and nothing else: copy this file. docs/elasticsearch.md shows its use.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, Request, build_opener

_VERSION = 1
"""Of the template of requests that the index stores."""


class EsrClientError(Exception):
    """What went wrong, in one sentence: the server's reason, or why the index cannot be searched."""


@dataclass(frozen=True)
class Description:
    """What an index says of itself: its indices, its analyzer, and the template of its default ranking."""

    indices: Sequence[str]
    analyzer: str
    request: Mapping[str, Any]


@dataclass(frozen=True)
class Statistics:
    """The collection's length in terms, its longest sentence, and cf of each term that a document has."""

    occurrences: int
    longest: int
    terms: Mapping[str, int]


@dataclass(frozen=True)
class Hit:
    """A sentence with its neighbours and its document's fields. `score` is that of `esr search`.

    `highlights` are the [start, end) of each match in `text`. `source_fields` are all fields, by name.
    """

    id: str
    score: float
    document_id: str
    text: str
    previous: str | None
    next: str | None
    title: str | None
    source: str | None
    date: str | None
    url: str | None
    highlights: Sequence[tuple[int, int]]
    source_fields: Mapping[str, Any]


def _fill(part: Any, slots: Mapping[str, Any]) -> Any:
    """The part of the template with its slots filled. Values are not searched for slots."""
    if isinstance(part, str):
        return slots.get(part, part)
    if isinstance(part, Mapping):
        return {key: _fill(value, slots) for key, value in part.items()}
    return [_fill(value, slots) for value in part] if isinstance(part, list) else part


def _filter_clauses(
    source: str | Iterable[str] | None,
    after: str | None,
    before: str | None,
    clauses: Iterable[Mapping[str, Any]],
) -> list[Mapping[str, Any]]:
    dates = {name: date for name, date in (("gte", after), ("lt", before)) if date}
    of_dates = [{"range": {"date": dates}}] if dates else []
    sources = [source] if isinstance(source, str) else source
    return [*of_dates, *([] if sources is None else [{"terms": {"source": list(sources)}}]), *clauses]


def build(
    request: Mapping[str, Any],
    counts: Mapping[str, int],
    statistics: Statistics,
    *,
    k: int = 10,
    source: str | Iterable[str] | None = None,
    after: str | None = None,
    before: str | None = None,
    filter: Iterable[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """Make the body for `_search`: what `esr query` prints. Raises EsrClientError if no document has a term.

    `request` is the template: `describe().request`, or what `esr query --as slots` prints. `counts` says how
    often the query has each term (`analyze`). `source` is one name or several, as they are written. `after`
    and `before` are dates such as 2017-03: `after` includes the date, `before` does not. `filter` are further
    clauses of Elasticsearch.
    """
    seen = {term: count for term, count in counts.items() if term in statistics.terms}
    if not seen:
        raise EsrClientError("no document contains a term of the query")
    total = statistics.occurrences
    clauses = []
    for term, count in seen.items():
        background = max(statistics.terms[term], 1) / max(total, 1)
        slots = {"$term": term, "$weight": count, "$background": background, "$occurrences": total}
        clauses.append(_fill(request["clause"], slots))
    query = sum(seen.values())
    # The server refuses scores below 0: the offset is the most that a sentence can lose for its length.
    params = request["body"]["query"]["script_score"]["script"]["params"]
    mu, (level, slope) = params["mu"], params["collection"]
    least = min(level + slope * beta for beta in ((mu / (statistics.longest + mu), 1) if mu else (0,)))
    slots = {
        "$clauses": clauses,
        "$filter": _filter_clauses(source, after, before, filter),
        "$query": query,
        "$k": k,
    }
    body: dict[str, Any] = _fill(request["body"], {**slots, "$offset": max(0.0, -query * math.log(least))})
    # A sentence without a term is no candidate, which templates that an older esr has stored do not say.
    body["query"]["script_score"]["query"]["bool"].setdefault("must_not", _WITHOUT_TERM)
    return body


_WITHOUT_TERM = [{"range": {"length": {"lt": 1}}}]


def score_shift(body: Mapping[str, Any]) -> float:
    """What to add to `_score` so that it is the score of `esr search`."""
    score = body["query"]["script_score"]
    params = [clause["script_score"]["script"]["params"] for clause in score["query"]["bool"]["should"]]
    shift = math.fsum(term["weight"] * math.log(term["background"]) for term in params)
    return shift - float(score["script"]["params"]["offset"])


def _complete(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """The answer of a search. Raises if a part is missing, which Elasticsearch calls a success."""
    if "error" in answer:
        raise EsrClientError(_reason(answer, f"status {answer.get('status')}"))
    if answer["timed_out"] or answer["_shards"]["failed"]:
        raise EsrClientError("a part of the index did not answer")
    return answer


def _reason(answer: Any, otherwise: str) -> str:
    """The server's reason in a failed answer, or `otherwise` if this gives none."""
    error = answer.get("error") if isinstance(answer, Mapping) else None
    if isinstance(error, Mapping):
        causes = [*(error.get("root_cause") or ()), error]
        error = next((known for cause in causes if (known := cause.get("reason") or cause.get("type"))), None)
    return str(error or otherwise)


def _decode(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return None


class _NoRedirect(HTTPRedirectHandler):
    """Follows no redirection: it would take the login to another server, and lose the bodies of requests."""

    def redirect_request(self, *_: Any) -> None:
        return None


_opener = build_opener(_NoRedirect)
_START, _END = "\ue000", "\ue001"
"""Characters of no language: they mark the matches."""


def _offsets(marked: str) -> Iterator[tuple[int, int]]:
    """The [start, end) of each match in the text, from the text with marks."""
    for number, match in enumerate(re.finditer(f"{_START}(.*?){_END}", marked, re.DOTALL)):
        start = match.start() - 2 * number
        yield start, start + len(match[1])


class Index:
    """An index behind an alias. Each method asks the server: override one to change what is asked."""

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        request: Mapping[str, Any] | None = None,
        timeout: float = 30.0,
    ) -> None:
        """Name the alias, such as http://localhost:9200/news. Nothing is asked yet.

        `headers` go with each request, such as {"Authorization": "ApiKey ..."}. `request` is a template that
        `esr query --as slots` printed, in place of the index's own. `timeout` is in seconds.
        """
        parts = re.fullmatch("(https?://[^/@]+(?:/[^@]+)?)/([^/@]+)/?", url)
        if not parts:
            raise EsrClientError("an index is named http(s)://host:port/alias, and a login stands in headers")
        self.server, self.alias = parts.groups()
        self.headers, self.request, self.timeout = dict(headers or {}), request, timeout

    def send(self, path: str, body: Any = None) -> dict[str, Any]:
        """Send a request, with a list as one line of JSON for each item, and return the decoded answer."""
        kind, text = "application/json", None if body is None else json.dumps(body)
        if isinstance(body, list):
            kind, text = "application/x-ndjson", "".join(f"{json.dumps(line)}\n" for line in body)
        headers = {"Content-Type": kind, **self.headers}
        where = f"{self.server}/{path}"
        failure = None
        try:
            asked = Request(where, None if text is None else text.encode(), headers)
            try:
                answer: Any = _opener.open(asked, timeout=self.timeout)
            except HTTPError as error:
                answer, failure = error, str(error)
            with answer:
                told = answer.read()
        except (OSError, HTTPException, ValueError) as error:
            raise EsrClientError(f"{failure or f'{self.server} cannot be reached'}: {error}") from error
        decoded = _decode(told)
        if failure is not None:
            raise EsrClientError(f"{where}: {_reason(decoded, failure)}")
        if not isinstance(decoded, dict):
            raise EsrClientError(f"{where}: the answer is not that of Elasticsearch or OpenSearch")
        return decoded

    def describe(self) -> Description:
        """What the index says of itself."""
        answer = self.send(f"{self.alias}/_mapping?filter_path=*.mappings._meta.esr")
        name = f"{self.server}/{self.alias}"
        mapped = (known.get("mappings") for known in answer.values() if isinstance(known, Mapping))
        stored = next((mappings["_meta"]["esr"] for mappings in mapped if mappings), None)
        if stored is None:
            raise EsrClientError(f"{name} is not an index that esr loaded")
        if stored["analyzer"] == "by-language":
            raise EsrClientError(f"{name} has an analyzer for each language: search it with esr")
        request = self.request or ("request" in stored and json.loads(stored["request"]))
        if not request:
            raise EsrClientError(
                f"{name} was loaded by an older esr, which stored no request: load it again, or give request"
            )
        if request["version"] != _VERSION:
            raise EsrClientError(
                f"{name} stores requests of version {request['version']}: use a newer esr_client.py"
            )
        return Description(sorted(answer), stored["analyzer"], request)

    def analyze(self, words: str, description: Description | None = None) -> dict[str, int]:
        """How often the words have each term, in their order. The server analyses them like its texts."""
        index = (description or self.describe()).indices[0]
        asked = {"doc": {"text": words}, "fields": ["text"], "offsets": False, "field_statistics": False}
        vectors = self.send(f"{index}/_termvectors", asked)["term_vectors"]
        terms: dict[str, Any] = vectors["text"]["terms"] if "text" in vectors else {}
        in_order = sorted(terms, key=lambda term: terms[term]["tokens"][0]["position"])
        return {term: terms[term]["term_freq"] for term in in_order}

    def statistics(self, terms: Iterable[str], description: Description | None = None) -> Statistics:
        """The numbers of the collection that scores need, and those of the terms."""
        known, terms = description or self.describe(), list(terms)
        documents = [re.sub("-esr-sentences$", "-esr-documents", name) for name in known.indices]
        of: dict[str, Any] = {"index": known.indices}
        all_indices = {"index": [*known.indices, *documents], "ignore_unavailable": True}
        searches = known.request["statistics"]
        asked: list[Any] = [of, searches["sentences"]]
        for term in terms:
            asked += [of, _fill(searches["occurrences"], {"$term": term})]
            asked += [all_indices, _fill(searches["seen"], {"$term": term})]
        collection, *answers = map(_complete, self.send("_msearch", asked)["responses"])
        numbers = {
            term: round(counted["aggregations"]["occurrences"]["value"])
            for term, counted, seen in zip(terms, answers[::2], answers[1::2], strict=True)
            if seen["hits"]["total"]["value"]
        }
        sums = collection["aggregations"]
        return Statistics(round(sums["occurrences"]["value"]), round(sums["longest"]["value"] or 0), numbers)

    def search(
        self,
        words: str,
        *,
        k: int = 10,
        source: str | Iterable[str] | None = None,
        after: str | None = None,
        before: str | None = None,
        filter: Iterable[Mapping[str, Any]] = (),
    ) -> list[Hit]:
        """The best sentences for these words, best first; see `build`. None if no document has a term."""
        known = self.describe()
        counts = self.analyze(words, known)
        statistics = self.statistics(counts, known)
        if not statistics.terms:
            return []
        body = build(
            known.request, counts, statistics, k=k, source=source, after=after, before=before, filter=filter
        )
        highlight = {
            "pre_tags": [_START],
            "post_tags": [_END],
            "number_of_fragments": 0,
            "fields": {"text": {}},
        }
        answer = _complete(self.send(f"{','.join(known.indices)}/_search", {**body, "highlight": highlight}))
        shift = score_shift(body)
        return [_hit(hit, shift) for hit in answer["hits"]["hits"]]


def _hit(hit: Mapping[str, Any], shift: float) -> Hit:
    known: Mapping[str, Any] = hit["_source"]
    (marked,) = hit.get("highlight", {}).get("text", [""])
    own = {
        "id": hit["_id"],
        "score": hit["_score"] + shift,
        "highlights": tuple(_offsets(marked)),
        "source_fields": known,
    }
    values: dict[str, Any] = {field.name: known.get(field.name) for field in fields(Hit)} | own
    return Hit(**values)
