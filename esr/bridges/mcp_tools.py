"""The tools of `esr mcp`: functions that search one index.

The tables of arguments have the types, ranges, defaults and meanings of their parameters, and
`esr.bridges.mcp_schemas` their answers. docs/mcp-tools.md is generated from both.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, Literal, cast

from mcp.types import CallToolResult
from pydantic import Field

import esr
from esr.bridges.mcp_alerts import AlertTools
from esr.bridges.mcp_budget import choose_window, fit, size
from esr.bridges.mcp_dossiers import DossierTools
from esr.bridges.mcp_items import (
    describe_article,
    describe_checked,
    describe_evidence,
    describe_quotation,
    describe_sentence,
    list_hits,
)
from esr.bridges.mcp_remote import RemoteServer
from esr.bridges.mcp_schemas import (
    ArticlePart,
    CheckedDraft,
    CheckedQuotations,
    Contents,
    FoundEvidence,
    FoundQuotations,
    FoundReuse,
    FoundSentences,
    Names,
    Timeline,
)
from esr.plugin import NotFound, UsageError
from esr.plugin.provisional import (
    NO_FILTERS,
    ArgumentRow,
    HasQuote,
    Interval,
    Ranking,
    SearchOptions,
    UsualLimits,
    count_periods,
    name_of,
    questions,
    require_record,
    tool_arguments,
    write_value,
)

Texts = list[str] | str | bool | None
Tool = Callable[..., CallToolResult]


class Tools:
    """The tools for an index. They raise EsrError. Only their calls use the index.

    `ranking` orders the sentences of all searches.
    """

    def __init__(self, index: esr.Index, ranking: Ranking) -> None:
        self._index = index
        self._ranking = ranking

    def search(
        self,
        query: str,
        k: int,
        sort: str,
        per_document: int | None,
        window: int,
        budget: int,
        **filters: Texts,
    ) -> Annotated[CallToolResult, FoundSentences]:
        """Find sentences of news for a query, each with its neighbours, its id and a citation."""
        options = _options(filters, self._ranking)
        if sort != "score":
            if per_document is not None:
                raise UsageError("per_document is for the order score: leave it out, or sort")
            newest = self._index.newest(query, k, oldest_first=sort == "oldest", **options)
            return list_hits(newest, window, budget)
        hits = self._index.search(query, k, fold=True, per_document=per_document, **options)
        return list_hits(hits, window, budget)

    def document(self, id: str, start: int | None, budget: int) -> Annotated[CallToolResult, ArticlePart]:
        """Read an article, or the text around one of its sentences. `next` is the start to continue from."""
        position = 0
        try:
            article = self._index.document(id)
        except NotFound:
            try:
                (record,) = self._index.searcher.index.read([id], questions.Records())
            except NotFound:
                raise NotFound(f"there is no document or sentence {id!r}: take an id of an answer") from None
            article, position = self._index.document(record.document_id), record.position
        sentences = [{"id": sentence.id, "text": sentence.text} for sentence in article.sentences]
        total = len(sentences)
        if start is not None and start >= total > 0:
            raise UsageError(f"document {article.id!r} has {total} sentences: start is from 0 to {total - 1}")
        answer: dict[str, Any] = {
            "document_id": article.id,
            **describe_article(article.id, article),
            "total": total,
        }
        room = budget - size({**answer, "start": total, "next": total, "sentences": []})
        first, end = choose_window([size(sentence) + 1 for sentence in sentences], start, position, room)
        answer |= {"start": first, "next": end if end < total else None}
        return fit(answer, "sentences", sentences[first:end], budget)

    def timeline(
        self, query: str, interval: Interval | None, peaks: int, budget: int, **filters: Texts
    ) -> Annotated[CallToolResult, Timeline]:
        """Count the sentences with all words of a query by day, week, month or year, and show the peaks."""
        options = _options(filters, self._ranking)
        timeline = self._index.timeline(query, interval=interval, peaks=peaks, **options)
        (series,) = timeline.series
        counts = {p: n for p, n in zip(timeline.periods, series.counts, strict=True) if n}
        numbers = {"total": series.total, "undated": series.undated, "counts": counts}
        answer = {"interval": timeline.interval, **numbers}
        if size(answer) > budget // 2:
            raise UsageError(
                f"{len(counts):,} periods need a budget of {2 * size(answer):,}: raise it, take a coarser "
                "interval, or limit the dates"
            )
        items = []
        for peak in series.peaks:
            best = require_record(peak.hit)
            items.append(
                {
                    "period": peak.period,
                    "count": peak.count,
                    "id": best.sentence_id,
                    "text": best.text,
                    **describe_article(best.document_id, best),
                }
            )
        return fit(answer, "peaks", items, budget)

    def similar(
        self, id: str, k: int, own_document: bool, window: int, budget: int, **filters: Texts
    ) -> Annotated[CallToolResult, FoundSentences]:
        """Find sentences that say the same as a sentence, or continue it: what others report of it."""
        options = _options(filters, self._ranking)
        return list_hits(self._index.similar(id, k, own_document=own_document, **options), window, budget)

    def names(
        self,
        query: str | None,
        prefix: str | None,
        type: str | None,
        k: int,
        budget: int,
        **filters: Texts,
    ) -> Annotated[CallToolResult, Names]:
        """List persons, places and organizations, most frequent first; `filter` is for queries."""
        if not self._index.searcher.snapshot().index.vocabulary(questions.NamesWithPrefix("", 1)):
            raise UsageError("the index has no names: esr enrich finds them")
        listed = self._index.names(query or "", k, type=type, prefix=prefix or "", **_options(filters))
        items = [
            {"name": n.name, "type": n.type, "sentences": n.count, "filter": _write_filter(n.type, n.name)}
            for n in listed
        ]
        return fit({"total": len(items)}, "names", items, budget)

    def quotes(
        self, speaker: str | None, query: str | None, k: int, budget: int, **filters: Texts
    ) -> Annotated[CallToolResult, FoundQuotations]:
        """Find what somebody said, in quotation marks, each with the sentence, its id and a citation."""
        options = _options(filters, self._ranking)
        quotes = self._index.quotes(speaker, k, about=query, **options)
        items = [describe_quotation(quotation) for quotation in quotes.quotations]
        return fit({"total": quotes.sentences}, "quotations", items, budget)

    def check(self, text: str, budget: int) -> Annotated[CallToolResult, CheckedQuotations]:
        """Check whether quotations were printed exactly or nearly so, who said them, and where first."""
        quotations = self._index.check(text).quotations
        room = budget // min(len(quotations), 4)
        items = [describe_checked(quotation, room) for quotation in quotations]
        return fit({"total": len(items)}, "quotations", items, budget)

    def evidence(
        self, claim: str, k: int, order: str, budget: int, **filters: Texts
    ) -> Annotated[CallToolResult, FoundEvidence]:
        """Find the sentences that say a claim, that say otherwise by a named rule, and others near it."""
        ranking = None if self._ranking == Ranking() else self._ranking
        options = _options(filters, ranking)
        listed = self._index.evidence(claim, k, order=order, **options)
        items = [describe_evidence(group, text) for group, texts in listed.groups().items() for text in texts]
        counts: dict[str, Any] = {"total": listed.sentences, "texts": listed.texts, "sources": listed.sources}
        if listed.opinion_by is not None:
            counts["opinion_by"] = listed.opinion_by
        return fit(counts, "evidence", items, budget)

    def check_draft(self, text: str, budget: int) -> Annotated[CallToolResult, CheckedDraft]:
        """Check a draft: its quotations, the evidence for each sentence, its numbers and misspelt names."""
        draft = self._index.check_draft(text)
        items = [describe_sentence(sentence) for sentence in draft.sentences]
        head = {
            "total": len(items),
            "quotations": [describe_checked(quotation, 0) for quotation in draft.quotations],
            "names": [
                {
                    "text": name.text,
                    "sentences": name.sentences,
                    "nearest": [{"name": near.name, "sentences": near.sentences} for near in name.nearest],
                }
                for name in draft.names
                if name.nearest or not name.sentences
            ],
        }
        if size(head) > budget // 2:
            raise UsageError(f"the quotations and names need a budget of {2 * size(head):,}: raise it")
        return fit(head, "sentences", items, budget)

    def reuse(
        self, k: int, least: int, budget: int, **filters: Texts
    ) -> Annotated[CallToolResult, FoundReuse]:
        """Count who takes from whom: sentences that stood in one source first, and later in another."""
        pairs = self._index.reuse(least=least, **_options(filters)).pairs
        items = [{"origin": p.origin, "taker": p.taker, "sentences": p.sentences} for p in pairs[:k]]
        return fit({"total": len(pairs)}, "pairs", items, budget)

    def contents(self, k: int, budget: int) -> Annotated[CallToolResult, Contents]:
        """List what the index holds: its sources, dates and languages, and how much of each."""
        index = self._index.searcher.snapshot().index
        status = index.status(questions.Summary())
        (days,) = index.count([None], NO_FILTERS, questions.ByDay())
        years = {name_of(year, "year"): n for year, n in sorted(count_periods(days, "year").items())}
        sources = index.vocabulary(questions.Values("source"))
        (quoted,) = index.count([HasQuote()], NO_FILTERS)
        head = {
            **{name: status[name] for name in ("documents", "sentences")},
            **({"first": name_of(min(days), "day"), "last": name_of(max(days), "day")} if days else {}),
            "undated": status["sentences"] - sum(days.values()),
            "years": years,
            "languages": {code: n for code, n in index.status(questions.Languages()).items() if code},
            "has_names": bool(index.vocabulary(questions.NamesWithPrefix("", 1))),
            "has_quotations": bool(quoted),
            "total": len(sources),
        }
        items = [{"source": value.form, "documents": value.documents} for value in sources.with_prefix("", k)]
        return fit(head, "sources", items, budget)


def _write_filter(type: str, name: str) -> str:
    """The part of a query for a name, in quotation marks that the name does not have."""
    field = f"{type}:"
    return field + (write_value(field, name) or f'"{name}"')


def _options(filters: Mapping[str, Any], ranking: Ranking | None = None) -> SearchOptions:
    return cast(SearchOptions, {**filters, "ranking": ranking})


def build_remote_tools(server: RemoteServer) -> tuple[list[Tool], list[Tool]]:
    """The tools for the dossiers and alerts of a server: those that only read, and those that write."""
    dossiers, alerts = DossierTools(server), AlertTools(server)
    reading: tuple[Tool, ...] = (dossiers.dossiers, dossiers.dossier, alerts.alerts, alerts.alert_preview)
    writing: tuple[Tool, ...] = (dossiers.add_to_dossier, alerts.alert_create, alerts.alert_pause)
    return list(map(_describe_parameters, reading)), list(map(_describe_parameters, writing))


def build_tools(index: esr.Index, ranking: Ranking) -> list[Tool]:
    """The tools as functions whose parameters are those of the tables of arguments."""
    tools = Tools(index, ranking)
    methods = (
        tools.search,
        tools.document,
        tools.timeline,
        tools.similar,
        tools.names,
        tools.quotes,
        tools.check,
        tools.check_draft,
        tools.evidence,
        tools.reuse,
        tools.contents,
    )
    return [_describe_parameters(method) for method in methods]


def _describe_parameters(method: Tool) -> Tool:
    """A method as a function whose signature has the types, ranges and defaults of the tables."""
    signature = inspect.signature(method)

    def call(**arguments: Any) -> CallToolResult:
        return method(**arguments)

    call.__name__, call.__doc__ = method.__name__, method.__doc__
    parameters = [*_read_parameters(method.__name__, signature)]
    vars(call)["__signature__"] = signature.replace(parameters=parameters)
    return call


def _read_parameters(tool: str, signature: inspect.Signature) -> Iterator[inspect.Parameter]:
    rows = tool_arguments(tool)
    for parameter in signature.parameters.values():
        if parameter.kind is not parameter.VAR_KEYWORD:
            yield _to_parameter(parameter.name, rows[parameter.name])
            continue
        for name, row in rows.items():
            if row.group in ("filter", "condition"):
                yield _to_parameter(name, row)


def _to_parameter(name: str, row: ArgumentRow) -> inspect.Parameter:
    default = inspect.Parameter.empty if row.is_required else row.type.default(UsualLimits)
    annotation = Annotated[_read_type(row), Field(description=row.sentence())]  # type: ignore[valid-type]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _read_type(row: ArgumentRow) -> Any:
    """The type of an argument, with its range, as pydantic reads it."""
    schema = row.type.schema(UsualLimits)
    kind: Any = {"int": int, "float": float, "bool": bool}.get(row.type.annotation(), str)
    if kind is int:
        kind = Annotated[int, Field(ge=schema["minimum"], le=schema["maximum"])]
    elif kind is float:
        kind = Annotated[float, Field(ge=schema.get("minimum"), le=schema.get("maximum"))]
    elif kind is str and "enum" in schema:
        kind = Literal[tuple(schema["enum"])]
    if row.is_repeatable:
        return list[kind] | kind if row.is_required else list[kind] | kind | None
    has_none = not row.is_required and row.type.default(UsualLimits) is None
    return kind | None if has_none else kind
