"""Names as data: a list with counts, one name, the network of names that occur together, and quotations.

Names are those that `esr enrich` has found, with their short forms resolved. Association is the
log-likelihood of Dunning (1993), as for collocations, over sentences or documents instead of words. Edges of
the network have logDice (Rychlý 2008), which depends on no other names. docs/formulas.md has the formulas.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct, structs, to_builtins
from msgspec.structs import replace

from esr.corpus.choices import COMPANIONS, MAX_NETWORK, NAMES, QUOTATIONS, SENTENCES
from esr.corpus.collocations import log_dice, log_likelihood
from esr.plugin import NotFound, UsageError, provisional
from esr.plugin.provisional import (
    NO_FILTERS,
    AllOf,
    Answer,
    ByDay,
    ByField,
    ByName,
    Condition,
    DayCounts,
    Filters,
    HasEntity,
    HasQuote,
    Hit,
    Hits,
    Name,
    NameForms,
    NameKey,
    Names,
    NameUnit,
    ParsedQuery,
    PreparedQuery,
    Quote,
    Quotes,
    Ranking,
    SaidBy,
    Searcher,
    SearchResult,
    SentenceRecord,
    Table,
    UnsearchableQuery,
    all_of,
    count_periods,
    find_form,
    find_meant,
    find_unknown_filters,
    hit_dict,
    name_key,
    name_of,
    parse_name_filter,
    questions,
    remove_non_xml,
    require_record,
    resolve_speaker,
    to_columns,
)
from esr.plugin.provisional import EngineIndex as Index
from esr.plugin.provisional import literal_query as literal

_CANDIDATES = 1_000
"""Number of a name's most frequent companions, among which those of the greatest association are found."""
_MAX_SOURCES = 100
_ABOUT = Ranking(priors={"importance": 0.1})


class ListedName(Struct, frozen=True):
    """A name of a list. `count` is the number of selected sentences with the name."""

    name: str
    key: str
    type: str
    count: int


class Companion(Struct, frozen=True):
    """A name that occurs `together` times with another one, its total `count`, and their association."""

    name: str
    type: str
    together: int
    count: int
    association: float


class NamePage(Struct, frozen=True):
    """The data of an index about a name.

    `forms` and `sources` map to numbers of sentences, most frequent first, and `months` to those of each
    month, in UTC. `first` and `last` are the dates of its oldest and newest dated document. `in_sentences`
    and `in_documents` are the names that occur with it, greatest association first. `best` has sentences
    about it, and `said` its newest quotations. `ids` come from documents or the table of aliases. `others`
    are other names that the text may mean.
    """

    name: str
    key: str
    type: str
    sentences: int
    documents: int
    first: str | None
    last: str | None
    forms: Mapping[str, int]
    sources: Mapping[str, int]
    months: Mapping[str, int]
    in_sentences: Sequence[Companion]
    in_documents: Sequence[Companion]
    best: Sequence[Hit]
    said: Sequence[Quotation]
    ids: Sequence[str]
    others: Sequence[str]

    def as_dict(self) -> dict[str, Any]:
        """Return the page as JSON."""
        fields = structs.asdict(self)
        of_structs = ("in_sentences", "in_documents", "said")
        lists = {name: [structs.asdict(item) for item in fields[name]] for name in of_structs}
        return {**fields, **lists, "best": [hit_dict(hit) for hit in self.best]}


class Edge(Struct, frozen=True):
    """Two names of a network, by their keys, the sentences with both, and logDice."""

    one: str
    other: str
    sentences: int
    log_dice: float


class NameNetwork(Struct, frozen=True):
    """Names and the pairs of them that occur together in sentences, the most frequent first."""

    names: Sequence[ListedName]
    edges: Sequence[Edge]

    def as_dict(self) -> dict[str, Any]:
        """`{"names": [{"name", "key", "type", "count"}], "edges": [{"one", "other", "sentences", ...}]}`"""
        return {name: [structs.asdict(item) for item in getattr(self, name)] for name in ("names", "edges")}

    def to_rows(self) -> list[tuple[str, str, str, int, float]]:
        """Return the edges as rows of a table for Gephi, with the columns EDGE_COLUMNS."""
        forms = {name.key: name.name for name in self.names}
        return [(forms[e.one], forms[e.other], "Undirected", e.sentences, e.log_dice) for e in self.edges]

    def to_graphml(self) -> str:
        """Return GraphML for Gephi and networkx.

        Nodes have `label`, `type` and `count`, edges `weight` and `log_dice`.
        """
        from xml.etree.ElementTree import Element, SubElement, indent, tostring  # only this function needs it

        root = Element("graphml", xmlns="http://graphml.graphdrawing.org/xmlns")
        for key, (of, kind) in _GRAPHML_KEYS.items():
            SubElement(root, "key", {"id": key, "for": of, "attr.name": key, "attr.type": kind})
        graph = SubElement(root, "graph", edgedefault="undirected")

        def add(kind: str, ends: dict[str, str], values: Mapping[str, object]) -> None:
            element = SubElement(graph, kind, ends)
            for key, value in values.items():
                SubElement(element, "data", key=key).text = remove_non_xml(str(value))

        ids = {name.key: f"n{number}" for number, name in enumerate(self.names)}
        for name in self.names:
            values = {"label": name.name, "type": name.type, "count": name.count}
            add("node", {"id": ids[name.key]}, values)
        for edge in self.edges:
            ends = {"source": ids[edge.one], "target": ids[edge.other]}
            add("edge", ends, {"weight": edge.sentences, "log_dice": edge.log_dice})
        indent(root, " ")
        return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'


EDGE_COLUMNS = ("Source", "Target", "Type", "Weight", "LogDice")
_GRAPHML_KEYS = {
    **{"label": ("node", "string"), "type": ("node", "string"), "count": ("node", "int")},
    **{"weight": ("edge", "int"), "log_dice": ("edge", "double")},
}


class Selection(Struct, frozen=True):
    """The sentences of an index in which names are counted: those that pass the filters and the condition."""

    index: Index
    filters: Filters
    condition: Condition | None


def select(searcher: Searcher, query: str | ParsedQuery, filters: Filters) -> Selection:
    """The sentences with all words of a query that pass the filters; all that pass them for an empty text."""
    snapshot = searcher.snapshot()
    if isinstance(query, str) and not query.strip():
        return Selection(snapshot.index, filters, None)
    prepared = snapshot.prepare(query, Ranking())
    return Selection(prepared.index, filters, prepared.all_words)


def list_names(
    selection: Selection, *, type: str | None = None, prefix: str = "", k: int = NAMES
) -> list[ListedName]:
    """The k most frequent names of the selection.

    `type` selects names to which the collection gives this type in most sentences, or in a fair share of
    them. `prefix` is the beginning of the name or of another form of it.
    """
    index, size = selection.index, k
    while True:
        condition = selection.condition
        counts = index.count([condition], selection.filters, ByName(size, prefix=prefix))[0]
        names = _find(index, counts)
        listed = [ListedName(n.form, n.key, n.type, counts[n.key]) for n in names if n.has_type(type)]
        if len(listed) >= k or len(counts) < size:
            return listed[:k]
        size *= 8


def _find(index: Index, keys: Collection[str]) -> list[Name]:
    names = index.vocabulary(Names(list(keys)))
    return [names[key] for key in keys if key in names]


def read_name(
    searcher: Searcher, text: str, *, companions: int = COMPANIONS, sentences: int = SENTENCES
) -> NamePage:
    """The page of a name, given by a text such as "Michael Flynn" or "person:Flynn".

    It has at most `sentences` sentences about the name, and as many quotations. If the text may mean several
    names, the page is that of the name with this exact form, or else of the most frequent one. Raises
    NotFound if the index has no such name.
    """
    snapshot = searcher.snapshot()
    index, wanted = snapshot.index, parse_name_filter(text)
    names = [name for name in find_meant(index, wanted.key) if name.has_type(wanted.type)]
    if not names:
        unknown = find_unknown_filters(index, Filters(entities=(text,)))
        raise NotFound(unknown[0].message if unknown else f"unknown name {text!r}")
    exact = next((name for name in names if wanted.key in name.keys), None)
    name = exact or min(names, key=lambda name: (-name.sentences, name.key))
    mentions, alone = HasEntity((NameKey(name.key),)), Filters(entities=(NameKey(name.key),))
    (count,) = index.count([mentions], NO_FILTERS)
    (in_documents,) = index.count([None], NO_FILTERS, ByName(1, "documents", keys=[name.key]))
    documents = in_documents.get(name.key, 0)
    oldest, newest = (
        index.select(mentions, 1, NO_FILTERS, Hits(), oldest_first=o).hits for o in (True, False)
    )
    (by_source,) = index.count([None], alone, ByField(["source"], _MAX_SOURCES))
    return NamePage(
        name.form,
        name.key,
        name.type,
        count,
        documents,
        _read_date(oldest),
        _read_date(newest),
        index.vocabulary(NameForms(name.key)),
        dict(by_source["source"]),
        _count_months(index.count([mentions], NO_FILTERS, ByDay())[0]),
        _find_companions(index, name, count, "sentences", companions),
        _find_companions(index, name, documents, "documents", companions),
        _find_best(snapshot, name, alone, mentions, sentences),
        _find_quotations(snapshot, name, sentences),
        name.ids,
        [other.form for other in names if other.key != name.key],
    )


def _read_date(hits: Sequence[Hit]) -> str | None:
    record = hits[0].record if hits else None
    return record.date if record else None


def _count_months(days: DayCounts) -> dict[str, int]:
    return {name_of(month, "month"): n for month, n in sorted(count_periods(days, "month").items())}


def _find_companions(index: Index, name: Name, count: int, unit: NameUnit, k: int) -> list[Companion]:
    """The k names of the greatest positive association with a name that `count` units mention."""
    with_name = Filters(entities=(NameKey(name.key),))
    together = dict(index.count([None], with_name, ByName(_CANDIDATES + 1, unit))[0])
    together.pop(name.key, None)
    counts: Mapping[str, int] = {}
    if together:
        (counts,) = index.count([None], NO_FILTERS, ByName(len(together), unit, keys=list(together)))
    keys = [key for key in together if key in counts]
    near, frequency = (np.array([of[key] for key in keys], float) for of in (together, counts))
    collection = index.statistics(()).collection
    size = collection.sentences if unit == "sentences" else collection.documents
    with np.errstate(divide="ignore", invalid="ignore"):  # a cell is 0 if a name is in all documents
        association = log_likelihood(near, float(count), frequency, float(size))
    of_keys = dict(zip(keys, association.tolist(), strict=True))
    best = sorted((key for key in keys if of_keys[key] > 0), key=lambda key: (-of_keys[key], key))[:k]
    return [
        Companion(other.form, other.type, together[other.key], counts[other.key], of_keys[other.key])
        for other in _find(index, best)
    ]


def _find_best(searcher: Searcher, name: Name, alone: Filters, mentions: Condition, k: int) -> Sequence[Hit]:
    """The best k sentences for the name by the ranking with the prior `importance`, or else the newest."""
    if not k:
        return []
    try:
        return searcher.search(literal(name.form), k, ranking=_ABOUT, filters=alone).hits
    except UnsearchableQuery:
        return searcher.index.select(mentions, k, NO_FILTERS, Hits()).hits


def _find_quotations(searcher: Searcher, name: Name, k: int) -> Sequence[Quotation]:
    return find_quotations(searcher, NameKey(name.key), None, NO_FILTERS, k=k).quotations if k else []


def build_network(selection: Selection, names: Sequence[ListedName], *, least: int = 1) -> NameNetwork:
    """The network of names, with the pairs that are together in at least `least` sentences of a selection."""
    index, filters, condition = structs.astuple(selection)
    if len(names) > MAX_NETWORK:
        raise UsageError(f"a network has at most {MAX_NETWORK} names, not {len(names)}")
    counts, edges = {name.key: name.count for name in names}, []
    for number, name in enumerate(names):
        rest = [other.key for other in names[number + 1 :]]
        has_name = HasEntity((NameKey(name.key),))
        both = has_name if condition is None else AllOf((has_name, condition))
        neighbours = index.count([both], filters, ByName(len(rest), keys=rest))[0] if rest else {}
        for other, together in neighbours.items():
            if together >= least:
                dice = float(log_dice(together, counts[name.key], counts[other]))
                edges.append(Edge(name.key, other, together, dice))
    return NameNetwork(names, sorted(edges, key=lambda edge: (-edge.sentences, edge.one, edge.other)))


# Quotations

ONLY_SOME_WORDS = "From here on, also sentences with only some of the words, and others near them"
"""What lists of quotations say before the first one whose sentence lacks words of the query."""


class Quotation(Struct, frozen=True):
    """A quotation in a sentence. `text` has its marks; `start` and `end` are its characters in `sentence`.

    `speaker` is as written in or near the sentence. `name` is the key of the speaker's name, if known, and
    `certainty` how surely: "certain", "probable", or None in older enrichments and without a name.
    `previous` is the text of the previous sentence. `all_words`: whether the sentence has all words of the
    query, or only some of them, with others near it; None without a query.
    """

    text: str
    speaker: str | None
    name: str | None
    cue: str | None
    sentence_id: str
    document_id: str
    sentence: str
    start: int
    end: int
    title: str | None
    source: str | None
    date: str | None
    url: str | None
    previous: str | None
    certainty: str | None = None
    all_words: bool | None = None

    @property
    def is_probable(self) -> bool:
        """Whether the speaker is only probable."""
        return self.certainty == "probable"


class Quotations(Table, Struct, frozen=True):
    """The quotations found, in order. `sentences` counts all sentences that match."""

    quotations: list[Quotation]
    sentences: int

    @property
    def first_incomplete(self) -> int | None:
        """The index of the first quotation whose sentence has only some words of the query, if any."""
        return next((n for n, quotation in enumerate(self.quotations) if quotation.all_words is False), None)

    def as_dict(self) -> dict[str, Any]:
        """Return the quotations as JSON."""
        data: dict[str, Any] = to_builtins(self)
        return data

    def columns(self) -> dict[str, list[Any]]:
        """Return a table with a row for each quotation."""
        return to_columns(
            Quotation.__struct_fields__, [structs.asdict(quotation) for quotation in self.quotations]
        )


def find_quotations(
    searcher: Searcher,
    speaker: str | None,
    about: ParsedQuery | None,
    filters: Filters,
    *,
    ranking: Ranking | None = None,
    k: int = QUOTATIONS,
) -> Quotations:
    """The first k quotations of a speaker, or of anyone if None.

    With a query `about`, they are in its candidates, best first by the ranking; otherwise newest first.
    """
    searcher = searcher.snapshot()
    index = searcher.index
    condition = _said_by(speaker)
    prepared = None
    if about is not None:
        prepared = searcher.prepare(about, ranking or Ranking())
        query_conditions = [] if prepared.plan.condition is None else [prepared.plan.condition]
        prepared = replace(
            prepared, plan=replace(prepared.plan, condition=all_of([condition, *query_conditions]))
        )
    size = k
    while True:
        answer: SearchResult | Answer
        answer = (
            prepared.search(size, filters) if prepared else index.select(condition, size, filters, Hits())
        )
        records = list(map(require_record, answer.hits))
        stored = index.read([record.sentence_id for record in records], Quotes())
        is_own = _recognize(index, speaker)
        quotations = [
            _quotation(record, quote)
            for record, quotes in zip(records, stored, strict=True)
            for quote in quotes
            if is_own(quote)
        ]
        if len(quotations) >= k or len(records) < size:
            if prepared:
                complete = _find_complete(prepared, condition, size, filters)
                quotations = [
                    replace(quotation, all_words=quotation.sentence_id in complete)
                    for quotation in quotations[:k]
                ]
            return Quotations(quotations[:k], answer.total)
        size *= 4


def _find_complete(prepared: PreparedQuery, condition: Condition, size: int, filters: Filters) -> set[str]:
    """The ids of the sentences with all words of a query among its first `size` that quote a speaker.

    By the same scores, they are among the first `size` of those with all words.
    """
    reranker = prepared.ranking.reranker()
    plan = replace(prepared.plan, condition=AllOf((condition, prepared.all_words)))
    k = size if reranker is None else max(size, reranker.depth)
    return {hit.sentence_id for hit in replace(prepared, plan=plan).search_first_stage(k, filters).hits}


def _said_by(speaker: str | None) -> Condition:
    """Sentences with a quotation that is certainly or probably the speaker's, or anyone's if None."""
    return HasQuote() if speaker is None else SaidBy((speaker,), probable=True)


def count_quoted(searcher: Searcher, speaker: str | None, about: ParsedQuery, filters: Filters) -> int:
    """The number of sentences with all words of a query that quote a speaker, or anyone if None."""
    prepared = searcher.prepare(about, Ranking())
    (number,) = prepared.index.count([AllOf((_said_by(speaker), prepared.all_words))], filters)
    return number


def speaker_key(quotation: Quotation) -> str:
    """The key of a speaker: of its name if that is certain, or else of the speaker as written."""
    return quotation.name or name_key(quotation.speaker or "")


def leave_out_pronouns(index: Index, quotations: Sequence[Quotation]) -> list[Quotation]:
    """The quotations that say who speaks: by a name, or by more than a pronoun of a language of the index."""
    languages = list(index.status(questions.Languages())) or [None]
    return [
        quotation
        for quotation in quotations
        if quotation.name
        or not any(provisional.is_pronoun(quotation.speaker or "", language) for language in languages)
    ]


def find_speakers(index: Index, quotations: Sequence[Quotation]) -> Mapping[str, Name]:
    """The names of the index that speak, by `speaker_key`."""
    return index.vocabulary(Names(list(dict.fromkeys(filter(None, map(speaker_key, quotations))))))


def call_speakers(names: Mapping[str, Name], quotations: Sequence[Quotation]) -> dict[str, str]:
    """The labels of speakers with a known name, by its key: the form in the index or in a quotation.

    `names` are those of `find_speakers`.
    """
    speakers: dict[str, list[str]] = {}
    for quotation in quotations:
        if quotation.name:
            speakers.setdefault(quotation.name, []).append(quotation.speaker or "")
    return {
        key: names[key].form if key in names else find_form(key, written) for key, written in speakers.items()
    }


def name_speaker(quotation: Quotation, called: Mapping[str, str]) -> str | None:
    """The name in `called` of the speaker; None if it is unknown, or in the speaker as written."""
    name = called.get(quotation.name or "", "")
    return name if name not in (quotation.speaker or "") else None


def check_names(index: Index) -> None:
    """Raise UsageError if an index has no names at all."""
    if not index.count([None], NO_FILTERS, ByName(1))[0]:
        raise UsageError(f"{index.where} has no names: find them with esr enrich")


def check_quotations(index: Index) -> None:
    """Raise UsageError if an index has no quotations at all."""
    if not any(index.count([HasQuote()], NO_FILTERS)):
        raise UsageError(f"{index.where} has no quotations: find them with esr enrich --only quotes")


def _recognize(index: Index, speaker: str | None) -> Callable[[Quote], bool]:
    """A test whether a quotation is the speaker's, by its resolved name, or else by the speaker as written.

    A sentence may also quote others. "Flynn" is not Michael Flynn if the document has another Flynn. If
    `speaker` is the key of a name, only the resolved name counts.
    """
    if speaker is None:
        return lambda quote: True
    written = None if isinstance(speaker, NameKey) else name_key(speaker)
    keys = {*map(name_key, resolve_speaker(index, speaker))}
    return lambda quote: (
        name_key(quote.name or quote.speaker or "") in keys or name_key(quote.speaker or "") == written
    )


def _quotation(record: SentenceRecord, quote: Quote) -> Quotation:
    return Quotation(
        record.text[quote.start : quote.end],
        quote.speaker,
        quote.name,
        quote.cue,
        record.sentence_id,
        record.document_id,
        record.text,
        quote.start,
        quote.end,
        record.title,
        record.source,
        record.date,
        record.url,
        record.previous,
        quote.certainty,
    )
