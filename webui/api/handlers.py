"""Handlers of the API's operations: each turns the arguments of a request into the data of its answer.

`operations.py` says what each operation is for. Pages of one ranking must fit together, so the token of the
next page holds a digest of the index's state; continuing after the index has changed is an error.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from msgspec import to_builtins

from esr import models
from esr.dependency.signals import SIGNALS
from esr.errors import unknown
from esr.features import FEATURES
from esr.following.timeline import MAX_PEAKS, PEAKS
from esr.index.contract import Index
from esr.index.filters import FACET_FIELDS, can_be_counted
from esr.index.names import entity_key, parse_name_filter
from esr.models import priors
from esr.models.forms import FORMS
from esr.plans.plan import CANDIDATES, CollectionStatistics
from esr.ranking import boosts
from esr.ranking.answers import analysis_dict, answer_dict
from esr.ranking.query_report import complete as complete_query
from esr.ranking.query_report import report_query
from esr.ranking.searcher import Searcher, raw_request
from esr.text.document import ATTRIBUTES, META, is_attribute, text_direction
from webui.answers.explanations import compare_rankings, explain_sentence, score_document
from webui.answers.lists import count_values, find_for_request, make_timeline, rank_and_arrange
from webui.api.operation import Call
from webui.arguments.query_string import VERSUS, parse_count
from webui.arguments.rankings import parse_ranking
from webui.arguments.request import check_query, parse_search, parse_timeline
from webui.running.request_errors import IndexChanged, RequestError, blame_argument

# Pages of a ranking

_NUMBERS = sorted({*CollectionStatistics.__struct_fields__} - {"bounds"})
_TOKEN = re.compile(r"([0-9]{1,6})\.([0-9a-f]{16})")


@dataclass(frozen=True)
class Page:
    """The page of a request, from `offset` on. `state`: the index state of the page it continues, or None."""

    offset: int
    k: int
    state: str | None


def read_page(call: Call, k: int) -> Page:
    """The page that a request asks for. Raises RequestError."""
    maximum = call.settings.max_depth
    after, offset = call.first("after"), call.first("offset")
    if after is None:
        page = Page(parse_count("offset", offset, 0, maximum - 1, minimum=0), k, None)
    elif offset is not None:
        raise RequestError("give offset or after, not both", "after")
    else:
        begin, state = _parse_token(after)
        page = Page(begin, k, state)
    if page.offset + k > maximum:
        field = "offset" if after is None else "after"
        raise RequestError(
            f"offset + k is {page.offset + k:,}: at most {maximum:,} is allowed, so narrow the search", field
        )
    return page


def page_token(offset: int, state: str) -> str:
    """The token that requests the page from `offset` on, valid while the index is in this state."""
    return base64.urlsafe_b64encode(f"{offset}.{state}".encode()).decode().rstrip("=")


def index_state(searcher: Searcher) -> str:
    """A digest of the collection's statistics, which another load changes."""
    collection = searcher.index.statistics([]).collection
    return _digest(tuple(getattr(collection, name) for name in _NUMBERS))


@lru_cache
def _digest(values: tuple[int, ...]) -> str:
    numbers = list(zip(_NUMBERS, values, strict=True))
    return hashlib.sha256(repr(numbers).encode()).hexdigest()[:16]


def check_state(page: Page, state: str) -> None:
    """Raise IndexChanged if the page continues one of another index state."""
    if page.state not in (None, state):
        raise IndexChanged(
            "the index has changed since the page before: request the first page again", "after"
        )


def _parse_token(token: str) -> tuple[int, str]:
    try:
        text = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode()
    except (ValueError, binascii.Error):
        text = ""
    match = _TOKEN.fullmatch(text)
    if match is None:
        raise RequestError("argument 'after' must be the 'next' of the page before, unchanged", "after")
    return int(match[1]), match[2]


# Handlers


def search(call: Call) -> dict[str, Any]:
    """Repeats are folded and neighbours joined as on the page.

    If sentences are grouped, `k` and `offset` count documents.
    """
    search = parse_search(call.arguments, call.settings)
    page = read_page(call, search.k)
    end = page.offset + page.k
    snapshot = call.searcher.snapshot()
    state = index_state(snapshot)
    check_state(page, state)
    answer, prepared, entries, has_more = rank_and_arrange(snapshot, search, end, call.settings)
    # A page is short where little is new. The next one begins after its last entry.
    end = min(end, len(entries))
    listed = [passage for entry in entries[page.offset : end] for passage in entry.passages]
    return {
        **answer_dict(answer, report_query(prepared, search.filters), listed),
        "documents": len(entries) if search.arrangement.group else None,
        "offset": page.offset,
        "next": page_token(end, state) if has_more and page.offset < end < call.settings.max_depth else None,
    }


def similar(call: Call) -> dict[str, Any]:
    found = find_for_request(call.searcher, call.arguments, call.settings)
    return {**answer_dict(found.answer), "terms": list(found.terms)}


def timeline(call: Call) -> dict[str, Any]:
    request = parse_timeline(call.arguments, call.settings)
    peaks = parse_count("peaks", call.first("peaks"), PEAKS, MAX_PEAKS, 0)
    return make_timeline(call.searcher, request, call.settings, peaks).as_dict()


DEFAULT_FACETS, MAX_FACETS = 10, 1_000


def facets(call: Call) -> dict[str, Any]:
    search = parse_search(call.arguments, call.settings)
    size = parse_count("size", call.first("size"), DEFAULT_FACETS, MAX_FACETS)
    fields = call.arguments.get("field", FACET_FIELDS)
    with blame_argument("field"):
        for field in fields:
            if not can_be_counted(field):
                raise unknown("field", field, FACET_FIELDS)
    snapshot = call.searcher.snapshot()
    check_query(snapshot, search.parsed, call.settings)
    with blame_argument(None):
        prepared = search.prepare(snapshot)
        counted = count_values(prepared, search.filters, size, list(dict.fromkeys(fields)))
    return {
        "facets": [
            {
                "field": of_field.field,
                "values": [{"value": value, "count": count} for value, count in of_field.values],
                "more": of_field.has_more,
            }
            for of_field in counted
        ]
    }


LISTED_FIELDS = ("source", *ATTRIBUTES, META, "entity")
DEFAULT_VALUES, MAX_VALUES = 10, 100
_OF_ALL_TYPES = 10
"""Names to read for each requested name if only one type is wanted."""


def values(call: Call) -> dict[str, Any]:
    field, prefix = call.first("field") or "", call.first("prefix") or ""
    size = parse_count("size", call.first("size"), DEFAULT_VALUES, MAX_VALUES)
    with blame_argument("field"):
        if field not in LISTED_FIELDS and not is_attribute(field):
            raise unknown("field", field, LISTED_FIELDS)
    index = call.searcher.snapshot().index
    listed = _names(index, prefix, size) if field == "entity" else _values(index, field, prefix, size)
    return {"values": listed}


def _values(index: Index, field: str, prefix: str, size: int) -> list[dict[str, Any]]:
    values = index.values(field).with_prefix(prefix, size)
    return [{"value": value.form, "type": None, "count": value.documents} for value in values]


def _names(index: Index, prefix: str, size: int) -> list[dict[str, Any]]:
    """Names as a filter takes them: with a type if the prefix has one."""
    begun = parse_name_filter(prefix)
    keys = index.name_keys(begun.key, size if begun.type is None else size * _OF_ALL_TYPES)
    names = [name for name in index.find_names(keys).values() if name.has_type(begun.type)]
    return [
        {
            "value": entity_key(begun.type, name.form) if begun.type else name.form,
            "type": name.type,
            "count": name.sentences,
        }
        for name in names[:size]
    ]


DEFAULT_COMPLETIONS, MAX_COMPLETIONS = 8, 20


def complete(call: Call) -> dict[str, Any]:
    text = call.first("q")
    limit = parse_count("limit", call.first("limit"), DEFAULT_COMPLETIONS, MAX_COMPLETIONS)
    completions = complete_query(call.searcher.snapshot(), text, limit) if text else ()
    return {"completions": [completion._asdict() for completion in completions]}


def document(call: Call) -> dict[str, Any]:
    search = parse_search(call.arguments, call.settings)
    scored = score_document(call.searcher, call.first("id") or "", search, call.settings)
    data: dict[str, Any] = to_builtins(scored.document) | {
        "direction": text_direction(scored.document.language)
    }
    for sentence in scored.sentences:
        sentence_data = data["sentences"][sentence.position]
        del sentence_data["parse"]
        sentence_data |= {"score": sentence.score, "hit": sentence.is_hit}
    return data


def explain(call: Call) -> dict[str, Any]:
    search = parse_search(call.arguments, call.settings)
    return explain_sentence(call.searcher, search, call.first("id") or "", call.settings).as_dict()


def compare(call: Call) -> dict[str, Any]:
    search = parse_search(call.arguments, call.settings)
    versus = parse_ranking(call.arguments, VERSUS)
    return compare_rankings(call.searcher, search, versus, call.settings).as_dict()


def query(call: Call) -> dict[str, Any]:
    search = parse_search(call.arguments, call.settings)
    standalone = call.first("standalone") or "false"
    if standalone not in ("true", "false"):
        raise RequestError(f"argument 'standalone' must be true or false, not {standalone!r}", "standalone")
    snapshot = call.searcher.snapshot()
    check_query(snapshot, search.parsed, call.settings)
    with blame_argument(None):
        prepared = search.prepare(snapshot)
        return raw_request(prepared, search.k, filters=search.filters, standalone=standalone == "true")


def analyze(call: Call) -> dict[str, Any]:
    return analysis_dict(call.searcher.index.analyzer, call.first("text") or "")


HIDDEN = frozenset({"where", "indices"})
"""Keys of internal addresses and names, which clients need not know."""


def status(call: Call) -> dict[str, Any]:
    facts = call.searcher.index.status()
    return {name: value for name, value in facts.items() if name not in HIDDEN}


def catalogue(call: Call) -> dict[str, Any]:
    return {
        "default": models.DEFAULT.name,
        "models": [model.as_dict() for model in models.MODELS.values()],
        "contexts": dict(models.CONTEXTS),
        "candidates": dict(CANDIDATES),
        "priors": [prior.as_dict() for prior in priors.PRIORS.values()],
        "features": [feature.as_dict() for feature in FEATURES.values()],
        "forms": [form.as_dict() for form in FORMS.values()],
        "boosts": [boost.as_dict() for boost in boosts.BOOSTS.values()],
        "signals": [signal.as_dict() for signal in SIGNALS.values()],
    }
