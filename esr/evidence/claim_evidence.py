"""The evidence for a claim: sentences that say so, that say otherwise, and others near it.

The ranking finds candidates. They are sorted into groups by the share of the claim in them and by the rules
of esr/evidence/contrast.py, and copies are folded into the text that appeared first. Nothing here decides
whether the claim is true.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from esr.evidence.choices import EVIDENCE
from esr.evidence.contrast import (
    Contrast,
    DifferingPart,
    find_contrasts,
    find_differences,
    read_statement,
    says_all,
)
from esr.plugin.provisional import (
    DEFAULT_RANKING,
    ENTAILMENT_VARIABLE,
    CopyGroup,
    EngineIndex,
    Filters,
    Name,
    Names,
    ParsedQuery,
    PreparedQuery,
    Quote,
    Quotes,
    Ranking,
    Records,
    Searcher,
    SentenceRecord,
    Table,
    choose_ranking,
    date_key,
    find_form,
    find_overlaps,
    group_repeats,
    is_pronoun,
    literal_query,
    load_cross_encoder,
    questions,
    rarity,
    require_record,
    shorten_name,
    to_columns,
)

Group = Literal["says_so", "says_otherwise", "near"]
GROUPS: Mapping[Group, str] = {"says_so": "Says so", "says_otherwise": "Says otherwise", "near": "Near it"}
"""The groups of evidence by name, each with its heading."""
CANDIDATES = 100
"""How many sentences of the ranking are read."""
LEAST: Mapping[Group, float] = {"says_so": 0.6, "says_otherwise": 0.5, "near": 0.3}
"""The least share of the claim in a sentence of each group and its title, by the rarity of its terms."""
_COPY = 0.8
"""The least share of a sentence in an earlier one that makes it a copy."""
_IN_SENTENCE = 0.5
"""How much of this share is in the sentence itself."""


class Opinion(Struct, frozen=True):
    """What a cross-encoder says of a claim and texts: a number for each, greater where it supports the claim.

    `name` is that of the model. `is_entailment`: a number below 0 contradicts the claim. A text that the
    model had no time for has the number NaN.
    """

    name: str
    is_entailment: bool
    score: Callable[[str, Sequence[str]], Sequence[float]]


class Copy(Struct, frozen=True):
    """A later sentence that says the same in nearly the same words."""

    sentence_id: str
    document_id: str
    text: str
    source: str | None
    date: str | None
    url: str | None


class EvidenceSentence(Struct, frozen=True):
    """A sentence about a claim, the first of its copies.

    `share` is the share of the claim in it, from 0 to 1. `speaker` is who says it in quotation marks, with
    `certainty` "certain" or "probable". `contrasts` say how it differs from the claim, each by a rule, and
    `differences` are its numbers, dates and names that the claim does not have. `sources` is the number of
    sources that print it or a copy. `opinion` is the number of a cross-encoder, None without one.
    """

    sentence_id: str
    document_id: str
    text: str
    title: str | None
    source: str | None
    date: str | None
    url: str | None
    language: str | None
    share: float
    speaker: str | None
    certainty: str | None
    contrasts: Sequence[Contrast]
    differences: Sequence[DifferingPart]
    copies: Sequence[Copy]
    sources: int
    opinion: float | None = None


class PointValue(Struct, frozen=True):
    """What texts say instead of a part of the claim, and their sources."""

    text: str
    sources: Sequence[str]


class Point(Struct, frozen=True):
    """A part of the claim, and what texts say instead of it."""

    claimed: str
    values: Sequence[PointValue]


_REPLACING = frozenset(("number", "date", "name", "opposite"))
"""The rules whose contrasts replace a part of the claim."""


class ClaimEvidence(Table, Struct, frozen=True):
    """The sentences about a claim in three groups.

    `sentences` counts them with their copies, `texts` without, `sources` the sources that print them. `read`
    is the number of sentences of the ranking that were compared with the claim. `unseen` are words of the
    claim that no document has. `opinion_by` is the name of the cross-encoder whose opinions the texts have,
    None without one; `is_entailment` says whether its numbers below 0 contradict the claim. `no_meaning` says
    why the sentences were found by words alone although the index has vectors, or is None.
    """

    claim: str
    says_so: Sequence[EvidenceSentence]
    says_otherwise: Sequence[EvidenceSentence]
    near: Sequence[EvidenceSentence]
    sentences: int
    texts: int
    sources: int
    read: int
    unseen: Sequence[str]
    opinion_by: str | None = None
    is_entailment: bool = False
    no_meaning: str | None = None

    def groups(self) -> Mapping[Group, Sequence[EvidenceSentence]]:
        """The groups by their names in GROUPS."""
        return {name: getattr(self, name) for name in GROUPS}

    def points(self) -> list[Point]:
        """The parts of the claim that texts replace by others, with what they say instead."""
        points: dict[str, dict[str, dict[str, None]]] = {}
        for text in self.says_otherwise:
            for contrast in text.contrasts:
                if contrast.rule in _REPLACING:
                    values = points.setdefault(contrast.claimed, {})
                    values.setdefault(contrast.text, {}).update(dict.fromkeys(sorted(_sources_of(text))))
        return [
            Point(claimed, [PointValue(value, list(sources)) for value, sources in values.items()])
            for claimed, values in points.items()
        ]

    def as_dict(self) -> dict[str, Any]:
        """Return the evidence as JSON."""
        data: dict[str, Any] = to_builtins(self)
        return data

    def rows(self) -> list[dict[str, Any]]:
        """A row for each text, with its group and the names of the rules that it differs by."""
        return [
            {
                "group": group,
                **{name: getattr(text, name) for name in _COLUMNS},
                "rules": ", ".join(dict.fromkeys(contrast.rule for contrast in text.contrasts)),
                "copies": len(text.copies),
            }
            for group, texts in self.groups().items()
            for text in texts
        ]

    def columns(self) -> dict[str, list[Any]]:
        """Return a table with a row for each text."""
        return to_columns(("group", *_COLUMNS, "rules", "copies"), self.rows())


_COLUMNS = (
    *("sentence_id", "document_id", "text", "title", "source", "date", "url"),
    *("share", "speaker", "certainty", "sources", "opinion"),
)


def find_evidence(
    searcher: Searcher,
    claim: str | ParsedQuery,
    filters: Filters,
    *,
    ranking: Ranking | None = None,
    k: int = EVIDENCE,
    order: str = "best",
    opinion: Opinion | None = None,
) -> ClaimEvidence:
    """The evidence for a claim, at most k texts in each group.

    The claim is a text, or a query of words. Without a `ranking`, candidates are those of a search.
    Raises UsageError for a claim without words.
    """
    snapshot = searcher.snapshot()
    query = literal_query(claim) if isinstance(claim, str) else claim
    claim = query.text
    prepared = snapshot.prepare(query, choose_ranking(ranking or DEFAULT_RANKING, snapshot.index))
    answer = prepared.search(CANDIDATES, filters)
    records = [require_record(hit) for hit in answer.hits]
    compared = _Comparison(prepared, claim)
    groups: dict[Group, list[EvidenceSentence]] = {name: [] for name in GROUPS}
    for record in records:
        if placed := compared.place(record):
            group, text = placed
            groups[group].append(text)
    index = prepared.index
    copies = _read_copies(index, [text.sentence_id for texts in groups.values() for text in texts])
    folded = {name: _fold(index, texts, copies)[:k] for name, texts in groups.items()}
    if copies and not filters:
        folded = _add_stored_copies(index, compared, folded, copies)
    chosen = [text for texts in folded.values() for text in texts]
    speakers = _find_speakers(index, chosen)
    opinions: Sequence[float] = [math.nan] * len(chosen)
    if opinion and chosen:
        opinions = opinion.score(claim, [text.text for text in chosen])
    completed = {
        text.sentence_id: replace(
            text,
            speaker=speaker,
            certainty=certainty,
            opinion=None if math.isnan(number) else number,
        )
        for text, (speaker, certainty), number in zip(chosen, speakers, opinions, strict=True)
    }
    shown = {
        name: _sort([completed[text.sentence_id] for text in texts], order) for name, texts in folded.items()
    }
    return ClaimEvidence(
        claim,
        shown["says_so"],
        shown["says_otherwise"],
        shown["near"],
        sum(1 + len(text.copies) for text in chosen),
        len(chosen),
        len({source for text in chosen for source in _sources_of(text)}),
        len(records),
        answer.unseen,
        opinion.name if opinion else None,
        bool(opinion and opinion.is_entailment),
        answer.no_meaning,
    )


def open_opinion(cross_encoder: str | None = None, seconds: float = math.inf) -> Opinion | None:
    """What a cross-encoder says, `hf:OWNER/NAME`, an address or a folder, within so many seconds.

    Without a name, it is that of the variable ESR_ENTAILMENT; None without either. Raises EsrError.
    """
    name = cross_encoder or os.environ.get(ENTAILMENT_VARIABLE)
    if not name:
        return None
    encoder = load_cross_encoder(name)
    return Opinion(
        shorten_name(name),
        encoder.is_entailment,
        lambda claim, texts: encoder.scores(claim, texts, seconds).tolist(),
    )


class _Comparison:
    """Compares sentences with a claim."""

    def __init__(self, prepared: PreparedQuery, claim: str) -> None:
        self._claim = claim
        self._analyzer = prepared.index.analyzer
        self._terms = frozenset(self._analyzer.terms(claim))
        self._weights = _weigh(prepared.index, self._terms)
        self._total = math.fsum(self._weights.values()) or 1.0

    def place(self, record: SentenceRecord) -> tuple[Group, EvidenceSentence] | None:
        """The group of a sentence, and what it says; None if too little of the claim is in it."""
        share, alone = self._share(f"{record.text} {record.title or ''}"), self._share(record.text)
        claim, sentence = (read_statement(text, record.language) for text in (self._claim, record.text))
        contrasts = find_contrasts(claim, sentence)
        likely: Group = "near"
        if contrasts:
            likely = "says_otherwise"
        elif says_all(claim, sentence):
            likely = "says_so"
        for group in (likely, "near"):
            if share >= LEAST[group] and alone >= LEAST[group] * _IN_SENTENCE:
                differences = find_differences(claim, sentence)
                return group, _describe(record, round(share, 4), contrasts, differences)
        return None

    def _share(self, text: str) -> float:
        """The share of the claim's terms in a text, by their rarity."""
        shared = self._terms.intersection(self._analyzer.terms(text))
        return math.fsum(self._weights[term] for term in sorted(shared)) / self._total


def _describe(
    record: SentenceRecord,
    share: float,
    contrasts: Sequence[Contrast],
    differences: Sequence[DifferingPart],
) -> EvidenceSentence:
    return EvidenceSentence(
        record.sentence_id,
        record.document_id,
        record.text,
        record.title,
        record.source,
        record.date,
        record.url,
        record.language,
        share,
        None,
        None,
        contrasts,
        differences,
        (),
        1,
    )


def _weigh(index: EngineIndex, terms: Collection[str]) -> Mapping[str, float]:
    """log( (N + 1) / (0.5 + sf(t)) ) of each term."""
    size = index.statistics(()).collection.sentences
    holders = index.vocabulary(questions.TermHolders(list(terms)))
    return {term: rarity(size, min(holders.get(term, 0), size)) for term in terms}


def _read_copies(index: EngineIndex, ids: Sequence[str]) -> Mapping[str, CopyGroup | None] | None:
    """The stored groups of copies by sentence; None if copies were not looked for in the index."""
    if not index.status(questions.HasCopies()):
        return None
    return dict(zip(ids, index.read(list(ids), questions.Copies()), strict=True)) if ids else {}


def _fold(
    index: EngineIndex, texts: Sequence[EvidenceSentence], copies: Mapping[str, CopyGroup | None] | None
) -> list[EvidenceSentence]:
    """The texts, each copy folded into the one that appeared first, in the order of the best of each.

    Copies are those of the index, or without any, texts of which an earlier one has most terms.
    """
    places = {text.sentence_id: place for place, text in enumerate(texts)}
    by_time = sorted(texts, key=_appearance)
    groups: list[list[EvidenceSentence]]
    if copies is None:
        terms = [frozenset(index.analyzer.terms(text.text)) for text in by_time]
        overlaps = find_overlaps(terms, lambda needed: _weigh(index, needed))
        groups = [[by_time[place] for place in group] for group in group_repeats(overlaps, _COPY)]
    else:
        by_first: dict[str, list[EvidenceSentence]] = {}
        for text in by_time:
            group = copies[text.sentence_id]
            by_first.setdefault(group.first.sentence_id if group else text.sentence_id, []).append(text)
        groups = list(by_first.values())
    groups.sort(key=lambda group: min(places[text.sentence_id] for text in group))
    return [_join(group) for group in groups]


def _join(group: Sequence[EvidenceSentence]) -> EvidenceSentence:
    first, *others = group
    joined = replace(first, copies=list(map(_as_copy, others)))
    return replace(joined, sources=max(1, len(_sources_of(joined))))


def _add_stored_copies(
    index: EngineIndex,
    compared: _Comparison,
    folded: Mapping[Group, Sequence[EvidenceSentence]],
    copies: Mapping[str, CopyGroup | None],
) -> dict[Group, list[EvidenceSentence]]:
    """The texts with all copies that the index has stored, also those that the ranking did not reach."""
    stored = [copies[text.sentence_id] for texts in folded.values() for text in texts]
    known = {id for texts in folded.values() for text in texts for id in _ids_of(text)}
    wanted = {
        appearance.sentence_id: None
        for group in stored
        if group is not None
        for appearance in group.appearances
        if appearance.sentence_id not in known
    }
    records = {record.sentence_id: record for record in index.read(list(wanted), Records())} if wanted else {}
    extended: dict[Group, list[EvidenceSentence]] = {}
    for name, texts in folded.items():
        extended[name] = []
        for text in texts:
            group = copies[text.sentence_id]
            others = (
                [records.pop(appearance.sentence_id, None) for appearance in group.appearances]
                if group
                else []
            )
            extended[name].append(_extend(compared, name, text, [record for record in others if record]))
    return extended


def _extend(
    compared: _Comparison, name: Group, text: EvidenceSentence, records: Sequence[SentenceRecord]
) -> EvidenceSentence:
    """A text with these copies. The first of them replaces it where it says the same of the claim."""
    if not records:
        return text
    added = [_describe(record, 0.0, (), ()) for record in records]
    earliest = min(range(len(added)), key=lambda place: _appearance(added[place]))
    placed = compared.place(records[earliest])
    is_earlier = _appearance(added[earliest]) < _appearance(text)
    if is_earlier and placed and placed[0] == name:
        text, added[earliest] = replace(placed[1], copies=text.copies), text
    copies = sorted((*text.copies, *map(_as_copy, added)), key=_appearance)
    extended = replace(text, copies=copies)
    return replace(extended, sources=max(1, len(_sources_of(extended))))


def _ids_of(text: EvidenceSentence) -> list[str]:
    return [text.sentence_id, *(copy.sentence_id for copy in text.copies)]


def _as_copy(text: EvidenceSentence) -> Copy:
    return Copy(text.sentence_id, text.document_id, text.text, text.source, text.date, text.url)


def _sources_of(text: EvidenceSentence) -> set[str]:
    return {source for source in (text.source, *(copy.source for copy in text.copies)) if source}


def _appearance(text: EvidenceSentence | Copy) -> tuple[bool, int, str]:
    """Sorts by date, those without a date last."""
    return *date_key(text.date), text.sentence_id


def _sort(texts: Iterable[EvidenceSentence], order: str) -> list[EvidenceSentence]:
    return sorted(texts, key=_appearance) if order == "oldest" else list(texts)


def _find_speakers(
    index: EngineIndex, texts: Sequence[EvidenceSentence]
) -> list[tuple[str | None, str | None]]:
    """Of each sentence, who speaks in its longest quotation with a speaker, and how surely."""
    if not texts:
        return []
    stored = index.read([text.sentence_id for text in texts], Quotes())
    quotes_said = [_choose_quote(quotes, text.language) for quotes, text in zip(stored, texts, strict=True)]
    keys = list(dict.fromkeys(quote.name for quote in quotes_said if quote and quote.name))
    names = index.vocabulary(Names(keys)) if keys else {}
    return [
        (None, None)
        if quote is None
        else (
            _call_speaker(quote, names),
            quote.certainty or "probable",
        )
        for quote in quotes_said
    ]


def _call_speaker(quote: Quote, names: Mapping[str, Name]) -> str | None:
    if not quote.name:
        return quote.speaker
    return names[quote.name].form if quote.name in names else find_form(quote.name, [quote.speaker or ""])


def _choose_quote(quotes: Sequence[Quote], language: str | None) -> Quote | None:
    """The longest quotation with a speaker. A pronoun that stands for no known name is none."""
    spoken = [
        quote for quote in quotes if quote.name or (quote.speaker and not is_pronoun(quote.speaker, language))
    ]
    return max(spoken, key=lambda quote: (quote.end - quote.start, -quote.start), default=None)
