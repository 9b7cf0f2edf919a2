"""Handlers of the API's operations: each turns the arguments of a request into the data of its answer.

The docstring of each handler is its description in the API. The token of the next page holds a digest of the
index's state: continuing a ranking after the index has changed is an error.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from flask import Response
from msgspec import to_builtins
from msgspec.structs import replace

from esr import models
from esr.arguments.cursor import Cursor, read_cursor, write_cursor
from esr.arguments.tables.rankings import VERSUS
from esr.arguments.types import Schema
from esr.corpus.concordance import MAX_SENTENCES
from esr.corpus.names_and_quotes import build_network
from esr.dependency.dependence_signals import SIGNALS
from esr.errors import UsageError
from esr.evidence.reuse import find_reuse
from esr.features import FEATURES
from esr.following.holdings import describe_holdings
from esr.index.contract import Index
from esr.index.filters import FACET_FIELDS
from esr.index.names import entity_key, parse_name_filter
from esr.index.questions import ContentMark, Names, NamesWithPrefix, Summary, Values
from esr.models.forms import FORMS
from esr.models.priors import PRIORS
from esr.plans.plan import CANDIDATES, CollectionStatistics
from esr.query import in_language, literal
from esr.ranking import boosts
from esr.ranking.answers import analysis_dict, answer_dict, single
from esr.ranking.completions import complete as complete_query
from esr.ranking.prepared_query import Answer
from esr.ranking.query_report import report_query
from esr.ranking.ranking import DefaultRanking, resume_ranking
from esr.ranking.requests import raw_request
from esr.ranking.searcher import Searcher
from esr.text.scripts import text_direction
from webui.answers import checks, counts, downloads, hit_writer, lists, similar_sentences
from webui.answers.claims import read_evidence
from webui.answers.corpus import (
    read_collocations,
    read_contrast,
    read_frequencies,
    read_keyness,
    read_name_page,
    read_names,
    read_part,
    read_quotations,
    read_statements,
)
from webui.answers.downloads import INCOMPLETE_HEADER, SKIPPED_HEADER
from webui.answers.explanations import compare_rankings, explain_sentence, score_document
from webui.api.operation import (
    RANKING,
    Call,
    filter_arguments,
    filters_schema,
    json_response,
    read_body,
    read_ranking,
    search_arguments,
    search_schema,
)
from webui.arguments.rankings import parse_ranking
from webui.arguments.request import (
    Arguments,
    SearchRequest,
    check_query,
    parse_filters,
    parse_search,
    parse_shape,
    parse_similar,
    parse_timeline,
)
from webui.running.gate import start_beside
from webui.running.problems import (
    IndexChanged,
    RequestError,
    UnknownId,
    blame_argument,
    describe_error,
    problem_dict,
)
from webui.running.rate_limit import count_queries
from webui.running.settings import Settings

# Pages of a ranking

_NUMBERS = sorted({*CollectionStatistics.__struct_fields__} - {"bounds"})


@dataclass(frozen=True)
class Page:
    """A page of a ranking, from `offset` on.

    `state`: the index state of the page it continues, or None. `ranking`: the name of its default ranking.
    """

    offset: int
    k: int
    state: str | None
    ranking: str = ""


def read_page(arguments: Arguments, settings: Settings, k: int) -> Page:
    """The page that a request asks for. Raises RequestError."""
    maximum, text = settings.max_depth, arguments.first("cursor")
    if not text:
        page = Page(arguments.value("offset"), k, None)
    elif "offset" in arguments:
        raise RequestError("give offset or cursor, not both", "cursor")
    else:
        page = _read_cursor(text, k)
        if page.offset < maximum:  # the last page has what is left
            page = Page(page.offset, min(k, maximum - page.offset), page.state, page.ranking)
    if page.offset + page.k > maximum:
        field = "cursor" if text else "offset"
        raise RequestError(
            f"offset + k is {page.offset + k:,}: at most {maximum:,} is allowed, so narrow the search", field
        )
    return page


def _read_cursor(text: str, k: int) -> Page:
    if cursor := read_cursor(text):
        return Page(cursor.offset, k, cursor.state, cursor.ranking)
    raise RequestError("argument 'cursor' must be the 'next' of the page before, unchanged", "cursor")


def index_state(searcher: Searcher) -> str:
    """A digest of the collection's mark and of its statistics, which every load changes."""
    index = searcher.index
    collection = index.statistics([]).collection
    return _digest(index.status(ContentMark()), tuple(getattr(collection, name) for name in _NUMBERS))


@lru_cache
def _digest(mark: str, values: tuple[int, ...]) -> str:
    state = mark, list(zip(_NUMBERS, values, strict=True))
    return hashlib.sha256(repr(state).encode()).hexdigest()[:16]


def check_state(page: Page, state: str) -> None:
    """Raise IndexChanged if the page continues one of another index state."""
    if page.state not in (None, state):
        raise IndexChanged(
            "the index has changed since the page before: request the first page again", "cursor"
        )


# Handlers


def search(call: Call) -> dict[str, Any]:
    """Rank the sentences for a query."""
    return _search(call, parse_search(call.arguments), call.arguments)


def search_body(call: Call) -> dict[str, Any]:
    """Rank the sentences for a query that is sent as JSON."""
    body = read_body(search_schema(call.settings))
    arguments = search_arguments(body, call.settings)
    return _search(call, replace(parse_search(arguments), ranking=read_ranking(call, body)), arguments)


def _search(call: Call, search: SearchRequest, arguments: Arguments) -> dict[str, Any]:
    """Repeats are folded and neighbours joined as on the page.

    If sentences are grouped, `k` and `offset` count documents.
    """
    page, shape = read_page(arguments, call.settings, search.k), parse_shape(arguments)
    end = page.offset + page.k
    snapshot = call.searcher.snapshot()
    state = index_state(snapshot)
    check_state(page, state)
    search = replace(search, ranking=resume_ranking(search.ranking, page.ranking, snapshot.index))
    prepared = lists.prepare_search(snapshot, search, call.settings)
    used = prepared.ranking.name if isinstance(prepared.ranking, DefaultRanking) else ""
    report = start_beside(snapshot.index, lambda: report_query(prepared, search.filters))
    answer, entries, has_more = lists.rank_and_arrange(prepared, search, end, call.settings)
    # A page is short if little is new or the budget is small. The next one begins after its last entry.
    listed = [entry.passages for entry in entries[page.offset : end]]
    writer = hit_writer.HitWriter(prepared.index, shape, prepared.counts, call.arguments.first("index"))
    written = writer.write_entries(listed)
    end = page.offset + len(written)
    has_more = (has_more or len(written) < len(listed)) and page.offset < end < call.settings.max_depth
    return {
        **answer_dict(replace(answer, hits=[]), report()),
        "hits": [hit for hits in written for hit in hits],
        "documents": len(entries) if search.arrangement.group else None,
        "offset": page.offset,
        "next": write_cursor(Cursor(end, state, used)) if has_more else None,
    }


def similar(call: Call) -> dict[str, Any]:
    """Rank the sentences that say the same as a sentence, or continue it."""
    request, shape = parse_similar(call.arguments), parse_shape(call.arguments)
    result = similar_sentences.find_similar(call.searcher, request)
    writer = hit_writer.HitWriter(result.index, shape, result.terms, call.arguments.first("index"))
    passages = single([hit] for hit in result.answer.hits)
    written = writer.write_entries([[passage] for passage in passages], is_list=False)
    answer = answer_dict(replace(result.answer, hits=[]))
    return {**answer, "hits": [hit for (hit,) in written], "terms": list(result.terms)}


def timeline(call: Call) -> dict[str, Any]:
    """Count the sentences with all words of a query by day, week, month or year."""
    request = parse_timeline(call.arguments)
    return counts.make_timeline(call.searcher, request, call.settings, request.peaks).as_dict()


def facets(call: Call) -> dict[str, Any]:
    """Count the sentences with a word of the query by source, month, attributes and names."""
    search = parse_search(call.arguments)
    size = call.arguments.value("size")
    fields = call.arguments.values_of("field") or tuple(FACET_FIELDS)
    snapshot = call.searcher.snapshot()
    check_query(snapshot, search.parsed, call.settings)
    with blame_argument(None):
        prepared = search.prepare(snapshot)
        counted = counts.count_values(prepared.index, prepared.matching, search.filters, size, fields)
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


def concordance(call: Call) -> dict[str, Any]:
    """List the occurrences of a word, a phrase or a prefix, each with the text on both sides."""
    search, k = parse_search(call.arguments), call.arguments.value("k")
    snapshot = call.searcher.snapshot()
    state, offset = index_state(snapshot), 0
    if text := call.arguments.first("cursor"):
        page = _read_cursor(text, k)
        check_state(page, state)
        offset = page.offset
    result = lists.list_occurrences(
        snapshot, search, call.arguments, call.settings, k + 1, MAX_SENTENCES, offset
    )
    return {
        **replace(result, lines=result.lines[:k]).as_dict(),
        "next": write_cursor(Cursor(offset + k, state)) if len(result.lines) > k else None,
    }


def collocations(call: Call) -> dict[str, Any]:
    """List the words that occur near a word or phrase more often than their frequency explains."""
    return read_collocations(call.searcher, call.arguments, call.settings).as_dict()


def quotes(call: Call) -> dict[str, Any]:
    """List what a speaker said, or anyone: the newest quotations, or the best for a query."""
    k = call.arguments.value("k")
    return read_quotations(call.searcher, call.arguments, call.settings, k).as_dict()


def check(call: Call) -> dict[str, Any]:
    """Check quotations: whether sentences have them exactly or nearly, who said them, and where first."""
    text, index_name = call.arguments.first("text"), call.arguments.first("index")
    return checks.write_check(call.searcher, checks.check_text(call.searcher, text), index_name)


def check_schema(settings: Settings) -> Schema:
    """The JSON Schema of a text to check."""
    return {
        "type": "object",
        "required": ["text"],
        "additionalProperties": False,
        "properties": {
            "text": {
                "type": "string",
                "minLength": 1,
                "maxLength": settings.text_chars,
                "description": "a quotation, a text with several in quotation marks, or a draft",
            },
            "draft": {
                "type": "boolean",
                "default": False,
                "description": "check all sentences, numbers and names of the text too",
            },
        },
    }


def check_body(call: Call) -> dict[str, Any]:
    """Check the quotations of a text, or all of a draft, however long it is."""
    body, index_name = read_body(check_schema(call.settings)), call.arguments.first("index")
    if body.get("draft", False):
        return checks.write_check(call.searcher, checks.check_draft(call.searcher, body["text"]), index_name)
    return checks.write_check(call.searcher, checks.check_text(call.searcher, body["text"]), index_name)


def names(call: Call) -> dict[str, Any]:
    """List the names of an index or of the sentences for a query, the most frequent first."""
    _, listed = read_names(call.searcher, call.arguments, call.settings)
    return {"names": [to_builtins(name) for name in listed]}


def network(call: Call) -> dict[str, Any]:
    """Get which names occur together in sentences."""
    selection, listed = read_names(call.searcher, call.arguments, call.settings)
    return build_network(selection, listed, least=call.arguments.value("least")).as_dict()


def name(call: Call) -> dict[str, Any]:
    """Get what an index has about a name: counts, dates, forms, sources, names with it, sentences."""
    return read_name_page(call.searcher, call.arguments).as_dict()


def contrast(call: Call) -> dict[str, Any]:
    """List the words that occur near a word or phrase more often in a part of its sentences."""
    part, against = (
        read_part(call.searcher, call.arguments, call.settings, name) for name in ("part", "against")
    )
    assert part is not None  # the argument is required
    return read_contrast(call.searcher, call.arguments, call.settings, part, against).as_dict()


def statements(call: Call) -> dict[str, Any]:
    """List what somebody said over time, with similar statements joined and changes of wording marked."""
    k = call.arguments.value("k")
    return read_statements(call.searcher, call.arguments, call.settings, k).as_dict()


def evidence(call: Call) -> dict[str, Any]:
    """List what says so, what says otherwise and what is near a claim, with copies folded. No verdict."""
    return read_evidence(call.searcher, call.arguments, call.settings).as_dict()


def collection(call: Call) -> dict[str, Any]:
    """Get what the collection has: sources by period, undated documents, languages, copies, enrichment."""
    return describe_holdings(call.searcher).as_dict()


def reuse(call: Call) -> dict[str, Any]:
    """Count the sentences that each source printed after another, also edited: who takes from whom."""
    filters = parse_filters(call.arguments)
    return find_reuse(call.searcher, filters, least=call.arguments.value("least")).as_dict()


def frequencies(call: Call) -> dict[str, Any]:
    """Count the occurrences of words and phrases by period or source, also per million words."""
    return read_frequencies(call.searcher, call.arguments, call.settings).as_dict()


def keyness(call: Call) -> dict[str, Any]:
    """List the words that are more frequent in a part of the collection than in another."""
    return read_keyness(call.searcher, call.arguments, call.settings).as_dict()


_OF_ALL_TYPES = 10
"""Names to read for each requested name if only one type is requested."""


def values(call: Call) -> dict[str, Any]:
    """List the values of a field or the names that begin as the text does, the most frequent first."""
    field, size = call.arguments.value("field"), call.arguments.value("size")
    prefix = call.arguments.first("prefix")
    index = call.searcher.snapshot().index
    listed = _names(index, prefix, size) if field == "entity" else _values(index, field, prefix, size)
    return {"values": listed}


def _values(index: Index, field: str, prefix: str, size: int) -> list[dict[str, Any]]:
    values = index.vocabulary(Values(field)).with_prefix(prefix, size)
    return [{"value": value.form, "type": None, "count": value.documents} for value in values]


def _names(index: Index, prefix: str, size: int) -> list[dict[str, Any]]:
    """Names as a filter takes them: with their type if the prefix has one."""
    begun = parse_name_filter(prefix)
    keys = index.vocabulary(NamesWithPrefix(begun.key, size if begun.type is None else size * _OF_ALL_TYPES))
    names = [name for name in index.vocabulary(Names(keys)).values() if name.has_type(begun.type)]
    return [
        {
            "value": entity_key(begun.type, name.form) if begun.type else name.form,
            "type": name.type,
            "count": name.sentences,
        }
        for name in names[:size]
    ]


def complete(call: Call) -> dict[str, Any]:
    """Complete the last word of a query: words, names and values of fields, the most frequent first."""
    text, limit = call.arguments.first("q"), call.arguments.value("limit")
    completions = complete_query(call.searcher.snapshot(), text, limit) if text else ()
    return {"completions": [completion._asdict() for completion in completions]}


def document(call: Call) -> dict[str, Any]:
    """Get a document, with the scores of its sentences for a query."""
    search = parse_search(call.arguments)
    return _document(call.searcher, call.arguments.first("id"), search, call.settings)


def documents(call: Call) -> dict[str, Any]:
    """Get several documents, with the scores of their sentences for a query."""
    search, ids = parse_search(call.arguments), list(dict.fromkeys(call.arguments["id"]))
    if len(ids) > call.settings.max_k:
        raise RequestError(f"there are {len(ids)} ids: at most {call.settings.max_k} are allowed", "id")
    snapshot, documents_found, missing = call.searcher.snapshot(), [], []
    for id in ids:
        try:
            documents_found.append(_document(snapshot, id, search, call.settings))
        except UnknownId:
            missing.append(id)
    return {"documents": documents_found, "missing": missing}


def _document(searcher: Searcher, id: str, search: SearchRequest, settings: Settings) -> dict[str, Any]:
    scored = score_document(searcher, id, search, settings)
    data: dict[str, Any] = to_builtins(scored.document) | {
        "direction": text_direction(scored.document.language)
    }
    for sentence in scored.sentences:
        sentence_data = data["sentences"][sentence.position]
        del sentence_data["parse"], sentence_data["quotes"]
        sentence_data |= {"score": sentence.score, "hit": sentence.is_hit}
    return data


def explain(call: Call) -> dict[str, Any]:
    """Explain the score of a sentence by its parts, which add up to it."""
    search = parse_search(call.arguments)
    return explain_sentence(call.searcher, search, call.arguments.first("id"), call.settings).as_dict()


def compare(call: Call) -> dict[str, Any]:
    """Compare the answers of two rankings to one query."""
    search = parse_search(call.arguments)
    versus = parse_ranking(call.arguments, VERSUS)
    return compare_rankings(call.searcher, search, versus, call.settings).as_dict()


def query(call: Call) -> dict[str, Any]:
    """Get a search as a request for Elasticsearch itself; an index folder has none."""
    search = parse_search(call.arguments)
    standalone = call.arguments.value("standalone")
    snapshot = call.searcher.snapshot()
    check_query(snapshot, search.parsed, call.settings)
    with blame_argument(None):
        prepared = search.prepare(snapshot)
        return raw_request(prepared, search.k, filters=search.filters, standalone=standalone)


def analyze(call: Call) -> dict[str, Any]:
    """Get the terms that an index's analyzer makes of a text, with the positions of their words."""
    text = call.arguments.first("text")
    query = in_language(literal(text), call.arguments.value("query_language"))
    with blame_argument("query_language"):
        return analysis_dict(call.searcher.for_query(query).index.analyzer, text)


HIDDEN = frozenset({"where", "indices", "server", "lacks"})
"""Keys of internal addresses, names and versions, which clients need not know."""


def status(call: Call) -> dict[str, Any]:
    """Describe what an index holds."""
    facts = call.searcher.index.status(Summary())
    return {name: value for name, value in facts.items() if name not in HIDDEN}


def catalogue(call: Call) -> dict[str, Any]:
    """List models, contexts, priors, features, forms, boosts and signals, with their parameters."""
    return {
        "default": models.DEFAULT.name,
        "models": [model.as_dict() for model in models.MODELS.values()],
        "contexts": dict(models.CONTEXTS),
        "candidates": dict(CANDIDATES),
        "priors": [prior.as_dict() for prior in PRIORS.values()],
        "features": [feature.as_dict() for feature in FEATURES.values()],
        "forms": [form.as_dict() for form in FORMS.values()],
        "boosts": [boost.as_dict() for boost in boosts.BOOSTS.values()],
        "signals": [signal.as_dict() for signal in SIGNALS.values()],
    }


# Several queries at once. An error in one query is the answer to that query; an error in the arguments that
# all queries share rejects the batch.

_WORD = "^[!-~]{1,64}$"


def body_schema(settings: Settings) -> Schema:
    """The JSON Schema of a body."""
    query = {
        "type": "object",
        "required": ["id", "query"],
        "additionalProperties": False,
        "properties": {
            "id": {"type": "string", "pattern": _WORD, "description": "a word that identifies the query"},
            "query": {
                "type": "string",
                "maxLength": settings.query_chars,
                "description": "words, or the query language",
            },
        },
    }
    return {
        "type": "object",
        "required": ["queries"],
        "additionalProperties": False,
        "properties": {
            "queries": {
                "type": "array",
                "minItems": 1,
                "maxItems": settings.batch_queries,
                "items": query,
                "description": "the queries, each with its own id",
            },
            "literal": {
                "type": "boolean",
                "default": False,
                "description": "read all of each query as words, without any syntax",
            },
            "k": {
                "type": "integer",
                "minimum": 1,
                "maximum": settings.batch_k,
                "default": settings.default_k,
                "description": "sentences for each query",
            },
            "ranking": RANKING,
            "filters": filters_schema(settings),
            "format": {
                "enum": ["json", "run", "csv"],
                "default": "json",
                "description": "of the answer; of a run and of CSV, the header "
                f"{SKIPPED_HEADER} names the queries that could not be searched for, and {INCOMPLETE_HEADER} "
                "those whose answers are incomplete; the last column of CSV says what is missing",
            },
            "tag": {"type": "string", "pattern": _WORD, "default": "esr", "description": "the run's name"},
        },
    }


RUN, CSV = "text/plain", "text/csv"
AnswerOrError = Answer | UsageError


def batch(call: Call) -> Response:
    """Answer several queries at once, as JSON, as a TREC run or as CSV."""
    body = read_body(body_schema(call.settings))
    queries: dict[str, str] = {query["id"]: query["query"] for query in body["queries"]}
    count_queries(len(body["queries"]))
    if len(queries) < len(body["queries"]):
        raise RequestError("two queries have the same id: give each its own id", "queries")
    ranking = read_ranking(call, body)
    filters = parse_filters(filter_arguments(body, call.settings))
    search = SearchRequest("", ranking, filters, is_literal=body.get("literal", False), with_furniture=True)
    k, format = body.get("k", call.settings.default_k), body.get("format", "json")
    answers, skipped = lists.answer_queries(
        call.searcher, search, queries, k, call.settings, call.visit.redact, records=format != "run"
    )
    if format == "json":
        fields = {name: f"queries.{number}.query" for number, name in enumerate(queries)}
        errors = {name: RequestError(reason, fields[name]) for name, reason in skipped.items()}
        results: dict[str, AnswerOrError] = {**answers, **errors}
        return json_response({"answers": [_as_dict(name, results[name]) for name in queries]})
    if format == "run":
        return downloads.queries_run(answers, body.get("tag", downloads.TAG), skipped)
    return downloads.queries_csv(queries, answers, skipped)


def _as_dict(name: str, result: AnswerOrError) -> dict[str, Any]:
    if isinstance(result, UsageError):
        return {"id": name, "error": problem_dict(describe_error(result))}
    return {"id": name, **answer_dict(result)}
