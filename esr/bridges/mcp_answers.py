"""Answers of the tools of `esr mcp`: their schemas, and how they are fitted into a budget of characters.

An answer is JSON. Each sentence in it has its id, its exact text, a citation, and the fields of its article,
so that no title can pass for another source. `left_out` counts the items that exceed the budget.
"""

import json
from collections.abc import Sequence
from typing import Annotated, Any, NotRequired

from mcp.types import CallToolResult, TextContent
from pydantic import Field
from typing_extensions import TypedDict  # pydantic needs it before Python 3.12

import esr
from esr.plugin import UsageError
from esr.plugin.provisional import Article, Interval, cite, web_url

# Schemas


class Source(TypedDict):
    """An article that a sentence is from. Unknown fields are left out."""

    citation: Annotated[str, Field(description="One line with authors, title, source, day and address.")]
    title: NotRequired[str]
    authors: NotRequired[list[str]]
    date: NotRequired[Annotated[str, Field(description="ISO 8601, as the source wrote it.")]]
    source: NotRequired[Annotated[str, Field(description="Such as a newspaper.")]]
    url: NotRequired[Annotated[str, Field(description="An address of http or https.")]]


class Cut(TypedDict):
    """An item that is longer than the budget."""

    cut: NotRequired[Annotated[bool, Field(description="Neighbours and the ends of texts are left out.")]]


class FoundSentence(Source, Cut):
    """A sentence with its neighbours and its article."""

    id: Annotated[str, Field(description="Finds the sentence again.")]
    text: Annotated[str, Field(description="The sentence as it was printed: quote it as it is.")]
    before: NotRequired[Annotated[str, Field(description="The sentences before it.")]]
    after: NotRequired[Annotated[str, Field(description="The sentences after it.")]]
    document_id: str
    repeats: NotRequired[Annotated[int, Field(description="Later sentences that repeat it.")]]


class Answer(TypedDict):
    """An answer."""

    left_out: NotRequired[Annotated[int, Field(description="Items that the budget has no room for.")]]
    cut: NotRequired[bool]


class FoundSentences(Answer):
    """Sentences, best or newest first."""

    total: Annotated[int, Field(description="Sentences that the ranking considered, or that match.")]
    note: NotRequired[Annotated[str, Field(description="What is unknown or missing.")]]
    hits: list[FoundSentence]


class SentenceOfArticle(Cut):
    """A sentence of an article."""

    id: str
    text: str


class ArticlePart(Answer, Source):
    """A part of an article."""

    document_id: str
    total: Annotated[int, Field(description="Sentences of the article.")]
    start: Annotated[int, Field(description="Position of the first sentence that is shown, from 0.")]
    next: Annotated[int | None, Field(description="Start to continue from; null at the end.")]
    sentences: list[SentenceOfArticle]


class Peak(Source, Cut):
    """A period with more sentences than its neighbours, and its best sentence."""

    period: str
    count: int
    id: str
    text: str


class Timeline(Answer):
    """Counts of sentences with all words of a query."""

    interval: Interval
    total: Annotated[int, Field(description="Sentences with a date.")]
    undated: int
    counts: Annotated[dict[str, int], Field(description="By period, without empty periods.")]
    peaks: list[Peak]


class CountedName(TypedDict):
    """A name and the number of sentences with it."""

    name: str
    type: str
    sentences: int
    filter: Annotated[str, Field(description="Add it to a query.")]


class Names(Answer):
    """Names, most frequent first."""

    total: int
    names: list[CountedName]


class FoundQuotation(Source, Cut):
    """What somebody said, and the sentence that quotes it."""

    id: Annotated[str, Field(description="The id of the sentence.")]
    text: Annotated[str, Field(description="The quotation with its marks, as it was printed.")]
    speaker: NotRequired[Annotated[str, Field(description="As written; left out if unknown.")]]
    name: NotRequired[Annotated[str, Field(description="The speaker's full name in lower case, if certain.")]]
    all_words: NotRequired[
        Annotated[bool, Field(description="Whether the sentence has all words of the query; with a query.")]
    ]
    sentence: str
    document_id: str


class FoundQuotations(Answer):
    """Quotations, newest or best first."""

    total: Annotated[int, Field(description="Sentences with such quotations.")]
    quotations: list[FoundQuotation]


class CountedSource(TypedDict):
    """A source and its number of documents."""

    source: str
    documents: int


class Contents(Answer):
    """What an index holds."""

    documents: int
    sentences: int
    first: NotRequired[Annotated[str, Field(description="The oldest day of a document.")]]
    last: NotRequired[Annotated[str, Field(description="The newest day.")]]
    undated: Annotated[int, Field(description="Sentences without a date.")]
    years: NotRequired[Annotated[dict[str, int], Field(description="Sentences of each year.")]]
    languages: Annotated[dict[str, int], Field(description="Documents that declare each language.")]
    has_names: Annotated[bool, Field(description="Whether `names` answers.")]
    has_quotations: Annotated[bool, Field(description="Whether `quotes` answers.")]
    total: Annotated[int, Field(description="Sources.")]
    sources: Annotated[list[CountedSource], Field(description="Most documents first.")]


# Items


def describe_article(document_id: str, article: Article) -> dict[str, Any]:
    """The citation of an article and its known fields. An address that is not of the web is left out."""
    fields = {
        "title": article.title,
        "authors": list(article.authors),
        "date": article.date,
        "source": article.source,
        "url": web_url(article.url),
    }
    return {
        "citation": cite(document_id, article),
        **{name: value for name, value in fields.items() if value},
    }


def describe_hit(hit: esr.Hit, window: int) -> dict[str, Any]:
    """A hit as JSON data, with `window` sentences on each side."""
    texts = hit.window(window)
    at = min(hit.position, window)
    return {
        "id": hit.id,
        "text": hit.text,
        **describe_article(hit.document_id, hit),
        **{name: " ".join(of) for name, of in (("before", texts[:at]), ("after", texts[at + 1 :])) if of},
        "document_id": hit.document_id,
        **({"repeats": len(hit.folded)} if hit.folded else {}),
    }


def describe_quotation(quotation: esr.Quotation) -> dict[str, Any]:
    """A quotation as JSON data."""
    spoken = {"speaker": quotation.speaker, "name": quotation.name}
    return {
        "id": quotation.sentence_id,
        "text": quotation.text,
        **{name: value for name, value in spoken.items() if value},
        **({} if quotation.all_words is None else {"all_words": quotation.all_words}),
        "sentence": quotation.sentence,
        **describe_article(quotation.document_id, _Quoted(quotation)),
        "document_id": quotation.document_id,
    }


class _Quoted:
    """The article of a quotation, whose authors are unknown."""

    authors: tuple[str, ...] = ()

    def __init__(self, quotation: esr.Quotation) -> None:
        self.title, self.date = quotation.title, quotation.date
        self.source, self.url = quotation.source, quotation.url


def list_hits(hits: esr.Hits, window: int, budget: int) -> CallToolResult:
    """The hits that fit into the budget, the total, and a note on the query."""
    notes = [value.message for value in hits.unknown_filters]
    if hits.unseen:
        notes.append(f"no article has the words: {', '.join(hits.unseen)}")
    if hits.incomplete:
        notes.append(f"the answer is incomplete: {hits.incomplete}")
    head = {"total": hits.total, **({"note": "; ".join(notes)} if notes else {})}
    return fit(head, "hits", [describe_hit(hit, window) for hit in hits], budget)


# Budgets


def size(data: Any) -> int:
    """The number of characters of data as JSON."""
    return len(_to_json(data))


def _to_json(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def fit(answer: dict[str, Any], key: str, items: Sequence[dict[str, Any]], budget: int) -> CallToolResult:
    """The answer with as many items as fit into the budget; the first is cut if it alone is too long.

    `budget` is in characters of JSON. Raises UsageError if the ids of an answer exceed it.
    """
    answer = cut(answer, budget // 2)
    kept: list[dict[str, Any]] = []
    room = budget - size({**answer, key: [], "left_out": len(items)})
    for item in items:
        if not kept:
            item = cut(item, room)
        room -= size(item) + 1
        if kept and room < -1:
            break
        kept.append(item)
    answer[key] = kept
    if len(kept) < len(items):
        answer["left_out"] = len(items) - len(kept)
    # An id may hold half of a surrogate pair, which UTF-8 cannot encode.
    text = _to_json(answer).encode("utf-8", "replace").decode()
    if len(text) > budget:
        raise UsageError(f"the ids in the answer need a budget of {len(text):,}: raise it")
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=json.loads(text))


_NEIGHBOURS = ("before", "after")
_CUT = ("text", "sentence", "citation", "note", "title", "source")
"""The keys whose texts may be cut."""
_DROPPED = ("authors", "url", "years")
"""The keys that are left out where cut texts do not suffice: a part of an address would be a wrong one."""


def cut(item: dict[str, Any], room: int) -> dict[str, Any]:
    """The item within `room` characters: without neighbours, then with its longest texts cut and marked.

    Ids are never cut, so an item with long ids may exceed `room`.
    """
    if size(item) <= room:
        return item
    item = {name: value for name, value in item.items() if name not in _NEIGHBOURS} | {"cut": True}
    _cut_texts(item, room)
    for name in _DROPPED:
        if size(item) > room:
            item.pop(name, None)
    return item


def _cut_texts(item: dict[str, Any], room: int) -> None:
    while (excess := size(item) - room) > 0:
        longest = max(_CUT, key=lambda name: len(item.get(name, "")))
        length = len(item.get(longest, ""))
        if length < 4:
            break
        item[longest] = item[longest][: max(length - excess - 1, length // 2)] + "…"


def choose_window(sizes: Sequence[int], start: int | None, at: int, room: int) -> tuple[int, int]:
    """The range of sentences that fits into `room`: from `start` on, or around the sentence `at`.

    It has at least one sentence. `sizes` are in characters.
    """
    first = at if start is None else start
    end = min(first + 1, len(sizes))
    room -= sum(sizes[first:end])
    grown = True
    while grown:
        grown = False
        if end < len(sizes) and sizes[end] <= room:
            room, end, grown = room - sizes[end], end + 1, True
        if start is None and first and sizes[first - 1] <= room:
            room, first, grown = room - sizes[first - 1], first - 1, True
    return first, end
