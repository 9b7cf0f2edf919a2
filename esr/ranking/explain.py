"""Explains scores: splits the score of a sentence into parts that add up to it.

`explain` gives the parts of one sentence's score in both stages, with the dependency tree behind signals of
term dependence. Every part carries its origin.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any, NamedTuple, cast

import numpy as np
from msgspec.structs import replace

from esr.dependency.cliques import CliqueEvidence, ParsedSentences, SetFamily
from esr.dependency.dependence_signals import MRF_FAMILIES, SIGNALS, best_sets, mrf_potentials
from esr.dependency.explanation import Relation, TermSet, find_best_set, find_relations, text_tree
from esr.errors import UsageError
from esr.index.contract import Index
from esr.index.filters import NO_FILTERS, Filters
from esr.index.language import chosen_language, languages_of
from esr.models.static_scores import Adjustment
from esr.plans.evaluate import Evidence, apply_static_score, score_sentences, split_scores
from esr.plans.plan import Plan
from esr.ranking.boosts import weights_by_boost
from esr.ranking.prepared_query import PreparedQuery
from esr.ranking.ranking import LENGTH, TREES, Origin
from esr.ranking.rerank_context import RerankContext, load_parses
from esr.ranking.reranker import Reranker
from esr.ranking.signals import RankingSignal
from esr.text.document import ParseWord


class Addition(NamedTuple):
    """A number that is added to the score, and its origin."""

    origin: Origin
    adds: float


@dataclass(frozen=True, slots=True)
class FieldPart:
    """The contribution of a field to a term: the term's count, the field's length, and what they add."""

    origin: Origin
    count: int
    length: int
    adds: float

    def as_dict(self) -> dict[str, Any]:
        return {"count": self.count, "length": self.length, "adds": self.adds}


@dataclass(frozen=True, slots=True)
class TermPart:
    """The contribution of a term: its weight, p(t|C) (mixtures only), its fields, and the background's part.

    `boosts` maps each boost to the part of the weight that it gives.
    """

    origin: Origin
    weight: float
    probability: float | None
    fields: Sequence[FieldPart]
    background: float
    boosts: Mapping[str, float]

    @property
    def adds(self) -> float:
        return self.background + sum(part.adds for part in self.fields)

    @property
    def additions(self) -> list[Addition]:
        """One addition for each field, then one for the collection."""
        collection = Addition(Origin("collection", "collection", self.origin.name), self.background)
        return [*(Addition(part.origin, part.adds) for part in self.fields), collection]

    def as_dict(self) -> dict[str, Any]:
        return {
            "term": self.origin.name,
            "weight": self.weight,
            "probability": self.probability,
            "fields": {part.origin.name: part.as_dict() for part in self.fields},
            "background": self.background,
            "adds": self.adds,
            "boosts": dict(self.boosts),
        }


@dataclass(frozen=True, slots=True)
class PriorPart:
    """The contribution of one prior: the stored value, its weight, and what they add."""

    origin: Origin
    value: float
    weight: float
    adds: float


@dataclass(frozen=True, slots=True)
class FeaturePart:
    """The contribution of one feature: its value (None if unknown), its adjustment, and what they add."""

    origin: Origin
    value: float | None
    adjustment: Adjustment
    adds: float

    @property
    def params(self) -> dict[str, float]:
        """The parameters of the adjustment's form."""
        full = self.adjustment.as_dict()
        return {name: value for name, value in full.items() if name not in ("feature", "form", "curve")}

    def as_dict(self) -> dict[str, Any]:
        feature, form = self.adjustment.feature, self.adjustment.form
        return {"feature": feature, "value": self.value, "form": form, **self.params, "adds": self.adds}


@dataclass(frozen=True, slots=True)
class BoostPart:
    """A boost's step on a feature: the value (None if unknown), the weight, and what they add."""

    origin: Origin
    value: float | None
    weight: float
    adds: float

    def as_dict(self) -> dict[str, Any]:
        boost, feature = self.origin.name, self.origin.detail
        return {
            "boost": boost,
            "feature": feature,
            "value": self.value,
            "weight": self.weight,
            "adds": self.adds,
        }


# Dependency trees of sentences


@dataclass(frozen=True, slots=True)
class TermDistance:
    """Two query terms, the positions of their nearest words in the tree, and the links between the words."""

    terms: tuple[str, str]
    words: tuple[int, int]
    distance: int


@dataclass(frozen=True, slots=True)
class SentenceTree:
    """The tree of a sentence, with the query's words marked in it.

    `words` is None if the words cannot be recovered; `marked` has the positions of query words. `apart` has
    all pairs of query terms in the same tree, nearest first.
    """

    words: tuple[ParseWord, ...] | None
    marked: tuple[int, ...]
    apart: tuple[TermDistance, ...]

    def as_dict(self) -> dict[str, Any]:
        words = None if self.words is None else [word._asdict() for word in self.words]
        apart = [asdict(pair) for pair in self.apart]
        return {"words": words, "marked": list(self.marked), "apart": apart}


def sentence_tree(
    index: Index, terms: Sequence[str], sentence_id: str, sentence: ParsedSentences | None = None
) -> SentenceTree | None:
    """Return the tree of a sentence for a query's terms, or None if the sentence has no parse.

    `sentence` is the sentence's parse, if already loaded. Raises UsageError for an unknown id.
    """
    sentence = sentence or load_parses(index, terms, [sentence_id])
    if not len(sentence.forest.heads):
        return None
    heads = [max(head, -1) for head in (sentence.forest.heads - sentence.forest.starts[0]).tolist()]
    marked = sorted(set(sentence.evidence("adjacent").occurrences.nodes.tolist()))
    return SentenceTree(
        _words(index, sentence_id, heads), tuple(marked), tuple(_term_distances(sentence.evidence("subsets")))
    )


def _term_distances(evidence: CliqueEvidence) -> list[TermDistance]:
    distances = []
    for pairs in evidence.cliques:
        if pairs.size == 2:
            choices_of_sets = np.split(np.arange(len(pairs.sets)), pairs.first_choices[1:])
            for number, choices in enumerate(choices_of_sets):
                nearest = choices[pairs.distances[choices].argmin()]
                term_a, term_b = (evidence.terms[term] for term in pairs.terms[:, number])
                word_a, word_b = evidence.occurrences.nodes[pairs.members[:, nearest]].tolist()
                links = round(float(pairs.distances[nearest]))
                distances.append(TermDistance((term_a, term_b), (word_a, word_b), links))
    return sorted(distances, key=lambda pair: pair.distance)


def _words(index: Index, sentence_id: str, heads: Sequence[int]) -> tuple[ParseWord, ...] | None:
    """Recover the words of the stored tree, from a parse in the document or with spaCy's tokenizer.

    Returns None if their number differs from that of the heads.
    """
    (record,) = index.sentences([sentence_id])
    own_parse = index.document(record.document_id).sentences[record.position].parse
    words = [word.word for word in own_parse] if own_parse is not None else _tokenizer()(record.text)
    if len(words) != len(heads):
        return None
    return tuple(ParseWord(word, head) for word, head in zip(words, heads, strict=True))


@cache
def _tokenizer() -> Callable[[str], list[str]]:
    """A function that splits a text like spaCy's English models, or returns no words without spaCy."""
    try:
        import spacy
    except ImportError:
        return lambda text: []
    tokenizer = spacy.blank("en").make_doc
    return lambda text: [token.text for token in tokenizer(text)]


# The second stage


@dataclass(frozen=True, slots=True)
class SignalPart:
    """The contribution of one signal: its value (None if it has none), its weight, what it adds, and why.

    `sets` are the term sets behind the value, best first. `parts` are the summands of the value, by name.
    `bounded` is true if the sentence has more sets, or more choices of words for them, than were searched.
    """

    origin: Origin
    value: float | None
    weight: float
    adds: float
    sets: tuple[TermSet | Relation, ...]
    bounded: bool
    parts: Mapping[str, float] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        return {
            "signal": self.origin.name,
            "value": self.value,
            "weight": self.weight,
            "adds": self.adds,
            "sets": tuple(each.as_dict() for each in self.sets),
            "bounded": self.bounded,
            "parts": dict(self.parts),
        }


@dataclass(frozen=True, slots=True)
class SecondPart:
    """The second stage of one sentence: weight * first stage + signals + trees (None without trees).

    `parse` is the tree to draw, None if the sentence has no parse or its words cannot be recovered. `marked`
    has the positions of query words in the tree, `chosen` the positions of the words of the sets that scored.
    The nearest sentences are `approximate` if they come from an index or bits of vectors.
    """

    score: float
    weight: float
    signals: tuple[SignalPart, ...]
    trees: float | None
    parsed: bool
    parse: tuple[ParseWord, ...] | None
    marked: tuple[int, ...]
    chosen: tuple[int, ...]
    approximate: bool = False

    @property
    def lacks_parse(self) -> bool:
        """Whether a signal needs a parse and none is stored."""
        return not self.parsed and any(part.origin.name in SIGNALS for part in self.signals)

    @property
    def additions(self) -> list[Addition]:
        """One addition for each signal, and one for the trees."""
        signals = [Addition(part.origin, part.adds) for part in self.signals]
        return signals if self.trees is None else [*signals, Addition(TREES, self.trees)]

    def as_dict(self) -> dict[str, Any]:
        return {
            "score": self.score,
            "weight": self.weight,
            "signals": [part.as_dict() for part in self.signals],
            "trees": self.trees,
            "parsed": self.parsed,
            "parse": None if self.parse is None else [word._asdict() for word in self.parse],
            "marked": list(self.marked),
            "chosen": list(self.chosen),
            "approximate": self.approximate,
        }


def explain_second(
    index: Index,
    context: RerankContext,
    sentence_id: str,
    reranker: Reranker,
    first: float,
    tree_score: float | None,
    missing: Mapping[str, float],
    is_read: bool = True,
) -> SecondPart:
    """Split a sentence's second-stage score, without tie breaking, which depends on the other sentences.

    `context` is that of this sentence alone. `tree_score` is what the trees add, None without trees.
    `missing` maps each signal without a value for this sentence to what it adds instead, if that is not 0.
    `is_read`: whether the last signal was computed for the sentence.
    """
    parts = tuple(_signal_part(signal, context, missing) for signal in reranker.signals)
    if reranker.last is not None and is_read:
        parts += (_signal_part(reranker.last, context, missing),)
    elif reranker.last is not None:
        origin = Origin("signal", reranker.last.signal)
        parts += (SignalPart(origin, None, reranker.last.weight, 0.0, (), False),)
    tree = sentence_tree(index, tuple(context.counts), sentence_id, context.parses())
    return SecondPart(
        reranker.first_weight * first + sum(part.adds for part in parts) + (tree_score or 0.0),
        reranker.first_weight,
        parts,
        tree_score,
        tree is not None,
        None if tree is None else tree.words,
        () if tree is None else tree.marked,
        tuple(sorted({word for part in parts for best in part.sets[:1] for word in best.words})),
        reranker.uses_vectors and not index.nearest_is_exact(),
    )


def _signal_part(signal: RankingSignal, context: RerankContext, missing: Mapping[str, float]) -> SignalPart:
    value = float(signal.values(context)[0])
    sets, truncated = _term_sets(signal, context.parses()) if signal.signal in SIGNALS else ((), False)
    value_or_none = None if math.isnan(value) else value
    origin = Origin("signal", signal.signal)
    adds = missing.get(signal.signal, float(signal.adds(context)[0]))
    parts: Mapping[str, float] = {}
    if signal.type.parts and value_or_none is not None:
        parts = {name: float(v[0]) for name, v in signal.type.parts(context, signal.settings()).items()}
    return SignalPart(origin, value_or_none, signal.weight, adds, sets, truncated, parts)


def _term_sets(
    signal: RankingSignal, sentence: ParsedSentences
) -> tuple[tuple[TermSet | Relation, ...], bool]:
    """Return the term sets behind a signal of term dependence, and whether limits left some out."""
    name, settings = signal.signal, signal.settings()
    sets: tuple[TermSet | Relation, ...]
    if name in MRF_FAMILIES:
        evidence = sentence.evidence(MRF_FAMILIES[name] or "adjacent")
        sets = tuple(find_relations(evidence, mrf_potentials(name, sentence, settings), settings, 0))
    else:
        evidence = sentence.evidence(cast(SetFamily, settings["sets"]))
        best = find_best_set(evidence, best_sets(sentence, settings), 0, sentence.text_counts())
        sets = () if best is None else (best,)
    return sets, bool(evidence.truncated[0])


# Whole explanations


@dataclass(frozen=True, slots=True)
class Explanation:
    """A score and its parts: terms, the length term of a smoothed model, priors, features, boosts.

    With a second stage, these add up to the first-stage score `first`, and `second` has the rest.
    """

    sentence_id: str
    score: float
    first: float
    terms: Sequence[TermPart]
    length: float
    priors: Sequence[PriorPart]
    features: Sequence[FeaturePart]
    boosts: Sequence[BoostPart]
    second: SecondPart | None
    unseen: tuple[str, ...]
    plan: Plan

    @property
    def rows(self) -> list[tuple[Origin, list[Addition]]]:
        """All additions to the first-stage score: several for a term, one for anything else."""
        rows = [(part.origin, part.additions) for part in self.terms]
        if self.length:
            rows.append((LENGTH, [Addition(LENGTH, self.length)]))
        static_scores: list[PriorPart | FeaturePart | BoostPart] = [
            *self.priors,
            *self.features,
            *self.boosts,
        ]
        return rows + [(part.origin, [Addition(part.origin, part.adds)]) for part in static_scores]

    @property
    def boosted(self) -> dict[str, float]:
        """The total that each boost adds, by its share of the terms' weights and by its steps."""
        totals: dict[str, float] = {}
        for term in self.terms:
            for name, weight in term.boosts.items():
                totals[name] = totals.get(name, 0.0) + term.adds * weight / term.weight
        for step in self.boosts:
            totals[step.origin.name] = totals.get(step.origin.name, 0.0) + step.adds
        return totals

    def __str__(self) -> str:
        """The parts as a table, as `esr explain` prints it."""
        return _format(self)

    def as_dict(self) -> dict[str, Any]:
        return {
            "sentence_id": self.sentence_id,
            "score": _finite_or_none(self.score),
            "first": _finite_or_none(self.first),
            "terms": [part.as_dict() for part in self.terms],
            "length": self.length,
            "priors": [
                {
                    "name": part.origin.name,
                    "value": part.value,
                    "weight": part.weight,
                    "adds": _finite_or_none(part.adds),
                }
                for part in self.priors
            ],
            "features": [part.as_dict() for part in self.features],
            "boosts": [part.as_dict() for part in self.boosts],
            "boosted": self.boosted,
            "second": self.second and self.second.as_dict(),
            "unseen": list(self.unseen),
            "plan": self.plan.as_dict(),
        }


def explain(prepared: PreparedQuery, sentence_id: str, filters: Filters = NO_FILTERS) -> Explanation:
    """Split a sentence's score for a prepared query into its parts. Raises UsageError for an unknown id.

    `filters` are those of the search: some parts depend on the other sentences that are reranked.
    """
    index, plan, unseen = prepared.index, prepared.plan, prepared.unseen
    language, _ = chosen_language(index)
    (other,) = languages_of(index, [sentence_id])
    if other != language:
        raise UsageError(
            f"sentence {sentence_id!r} is in the language {other}, and the query in {language}: "
            "name the language of the query with --query-language"
        )
    columns = [static_score.column for static_score in plan.static_scores]
    evidence = index.evidence([term.term for term in plan.terms], [sentence_id], columns)
    second, reranker = None, prepared.ranking.reranker()
    terms: list[TermPart] = []
    priors: list[PriorPart] = []
    features: list[FeaturePart] = []
    steps: list[BoostPart] = []
    length = first = 0.0
    if prepared.has_candidates:
        terms, length = _term_parts(prepared, evidence)
        priors, features, steps = _static_score_parts(prepared, evidence)
        first = float(score_sentences(plan, evidence)[0])
    if reranker is not None and (plan.terms or reranker.uses_vectors):
        context = prepared.rerank_context([sentence_id], reranker.columns)
        tree_score, missing = _list_effects(prepared, sentence_id, reranker, context, filters)
        is_read = reranker.last is not None and sentence_id in _read_by_last(prepared, reranker, filters)
        second = explain_second(index, context, sentence_id, reranker, first, tree_score, missing, is_read)
    score = first if second is None else second.score
    return Explanation(
        sentence_id, score, first, terms, length, priors, features, steps, second, unseen, plan
    )


def _read_by_last(prepared: PreparedQuery, reranker: Reranker, filters: Filters) -> set[str]:
    """The ids of the best sentences, for which the last signal was computed."""
    answer = prepared.search(reranker.last_depth, filters, records=False)
    return {hit.sentence_id for hit in answer.hits[: len(answer.hits) - (answer.unread or 0)]}


def _term_parts(prepared: PreparedQuery, evidence: Evidence) -> tuple[list[TermPart], float]:
    """Return the parts of the plan's terms, and what the length adds."""
    plan, ranking = prepared.plan, prepared.ranking
    unboosted = replace(ranking, boosts={}).plan(prepared.counts, prepared.statistics)
    boosted = weights_by_boost(ranking.boosts, prepared.expansions, plan.terms, unboosted.terms)
    split = split_scores(plan, evidence)
    terms = [
        TermPart(
            Origin("term", term.term),
            term.weight,
            term.background or None,
            [
                FieldPart(
                    Origin("field", name, term.term),
                    int(evidence.counts[name][row, 0]),
                    int(evidence.lengths[name][0]),
                    float(adds[row, 0]),
                )
                for name, adds in split.fields.items()
            ],
            float(split.background[row, 0]),
            boosted.get(term.term, {}),
        )
        for row, term in enumerate(plan.terms)
    ]
    return terms, float(split.length[0])


def _static_score_parts(
    prepared: PreparedQuery, evidence: Evidence
) -> tuple[list[PriorPart], list[FeaturePart], list[BoostPart]]:
    adjustments = {(a.feature, a.form): a for a in prepared.ranking.features}
    priors: list[PriorPart] = []
    features: list[FeaturePart] = []
    steps: list[BoostPart] = []
    for origin, static_score in prepared.static_scores():
        column = evidence.columns[static_score.column]
        value, adds = float(column[0]), float(apply_static_score(static_score, column)[0])
        value_or_none = None if math.isnan(value) else value
        if origin.kind == "prior":
            priors.append(PriorPart(origin, value, static_score.weight, adds))
        elif origin.kind == "feature":
            adjustment = adjustments[origin.name, origin.detail]
            features.append(FeaturePart(origin, value_or_none, adjustment, adds))
        else:
            steps.append(BoostPart(origin, value_or_none, static_score.weight, adds))
    return priors, features, steps


def _list_effects(
    prepared: PreparedQuery,
    sentence_id: str,
    reranker: Reranker,
    alone: RerankContext,
    filters: Filters,
) -> tuple[float | None, dict[str, float]]:
    """Compute what depends on all reranked sentences: what trees add, and what replaces missing values.

    A signal without a value for this sentence may add its mean over the others. `alone` is the context of
    this sentence by itself.
    """
    signals = [s for s in reranker.signals if s.type.uses_vectors and math.isnan(s.values(alone)[0])]
    if reranker.trees is None and not signals:
        return None, {}
    result = prepared.search_first_stage(reranker.depth, filters)
    candidates = prepared.add_candidates(result, reranker, filters)
    ids = list(dict.fromkeys([*candidates.top.ids, sentence_id]))
    context, place = prepared.rerank_context(ids, reranker.columns), ids.index(sentence_id)
    all_places = np.arange(len(ids))
    by_words = all_places[: candidates.by_words]
    trees = None if reranker.trees is None else float(reranker.trees.adds(context, all_places)[place])
    adds = {signal.signal: signal.adds(context, all_places, by_words)[place] for signal in signals}
    return trees, {name: float(added) for name, added in adds.items()}


def _finite_or_none(value: float) -> float | None:
    """The number for JSON: None for the infinite score of a sentence that cannot be scored."""
    return value if math.isfinite(value) else None


# Explanations as text


def _format(explanation: Explanation) -> str:
    rows = [_head(explanation), *_term_rows(explanation)]
    blank = [""] * (len(rows[0]) - 2)
    if explanation.length:
        rows.append(["length term", *blank, f"{explanation.length:+.4f}"])
    parts = [
        *(
            (f"prior {p.origin.name}", f"{p.weight:.4g}", f"{p.value:.4g}", p.adds)
            for p in explanation.priors
        ),
        *(
            (f"feature {p.origin.name}", _format_form(p), _format_value(p.value), p.adds)
            for p in explanation.features
        ),
        *(
            (f"{p.origin.name} {p.origin.detail}", f"{p.weight:.4g}", _format_value(p.value), p.adds)
            for p in explanation.boosts
        ),
    ]
    stage, notes = explanation.second, list[str]()
    if stage is not None:
        parts.append(("first stage", f"{stage.weight:.4g}", "", stage.weight * explanation.first))
        for p in stage.signals:
            parts.append((f"signal {p.origin.name}", f"{p.weight:.4g}", _format_value(p.value), p.adds))
            notes += [f"{p.origin.name}: {_format_parts(p.parts)}"] * bool(p.parts)
    rows += [[name, weight, value, *blank[2:], f"{adds:+.4f}"] for name, weight, value, adds in parts]
    if stage is not None and stage.trees is not None:
        rows.append(["trees", *blank, f"{stage.trees:+.4f}"])
    rows.append(["score", *blank, f"{explanation.score:.4f}"])
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]
    lines += notes
    if explanation.boosted:
        boosts = ", ".join(f"{name} {adds:+.4f}" for name, adds in explanation.boosted.items())
        lines.append(f"Boosts: {boosts}.")
    unseen = f"\nIn no document: {', '.join(explanation.unseen)}." if explanation.unseen else ""
    return "\n".join(lines) + unseen + (_format_second_stage(stage) if stage else "")


def _head(explanation: Explanation) -> list[str]:
    fields = [part.origin.name for part in explanation.terms[0].fields] if explanation.terms else []
    return ["term", "weight", "p(t|C)", *(f"in {name}" for name in fields), "collection", "adds"]


def _term_rows(explanation: Explanation) -> list[list[str]]:
    return [
        [
            part.origin.name + (f" ({', '.join(part.boosts)})" if part.boosts else ""),
            f"{part.weight:.4g}",
            "" if part.probability is None else f"{part.probability:.3g}",
            *(f"{f.count}/{f.length} {f.adds:+.4f}" for f in part.fields),
            f"{part.background:+.4f}",
            f"{part.adds:+.4f}",
        ]
        for part in explanation.terms
    ]


def _format_second_stage(stage: SecondPart) -> str:
    """The sets of terms that scored, and the parse tree that contains them."""
    if stage.lacks_parse:
        return "\nThe sentence has no parse."
    lines = []
    for part in stage.signals:
        for s in part.sets:
            kind = "" if isinstance(s, TermSet) else f" {s.potential}, height {s.height:g},"
            value = s.strength if isinstance(s, TermSet) else s.value
            terms = " + ".join(s.terms)
            lines.append(f"{part.origin.name}:{kind} {terms}, distance {s.distance:g}: {value:.4f}")
        if part.bounded:
            lines.append(f"{part.origin.name}: not all sets of query terms were scored, there are too many")
    if stage.approximate:
        lines.append(
            "The nearest by vector come from an index or bits of vectors, which may miss a few of them."
        )
    text = "".join(f"\n{line}" for line in lines)
    if stage.parse is None:
        return text
    return f"{text}\n\n{text_tree(stage.parse, stage.marked, stage.chosen).rstrip()}"


def _format_parts(parts: Mapping[str, float]) -> str:
    """The addends of a signal's value."""
    return ", ".join(f"{name} {value:+.4f}" for name, value in parts.items())


def _format_form(part: FeaturePart) -> str:
    """A feature's form and its parameters: the weight first, without its name."""
    params = [f"{value:.4g}" if name == "w" else f"{name}={value:g}" for name, value in part.params.items()]
    return " ".join([part.adjustment.form, *params])


def _format_value(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.4g}"
