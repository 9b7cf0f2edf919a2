"""The parts of the score of the second stage: signals, trees over them, and the term sets behind them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from esr.dependency.clique_search import ParsedSentences
from esr.dependency.cliques import SetFamily
from esr.dependency.dependence_signals import SIGNALS, best_sets, mrf_potentials
from esr.dependency.explanation import Relation, TermSet, find_best_set, find_relations
from esr.dependency.random_fields import MRF_FAMILIES
from esr.index.contract import Index
from esr.index.questions import MainEncoder, NearestIsExact, VectorOrigins
from esr.ranking.explanation.parts import Addition
from esr.ranking.explanation.sentence_tree import sentence_tree
from esr.ranking.prepared_query import PreparedQuery
from esr.ranking.query_kinds import find_kind
from esr.ranking.ranking import TREES, Origin
from esr.ranking.second_stage.meaning_signal import NAME, has_kinds
from esr.ranking.second_stage.query_encoder import encoder_name
from esr.ranking.second_stage.rerank_context import RerankContext
from esr.ranking.second_stage.reranker import Reranker
from esr.ranking.second_stage.signals import RankingSignal
from esr.registry import Value
from esr.text.document import ParseWord

ENCODER, TABLE = "encoder", "table"
"""What made a vector: the encoder itself, or a table that is fitted to its vectors."""


@dataclass(frozen=True, slots=True)
class SignalPart:
    """The contribution of one signal: its value (None if it has none), its weight, what it adds, and why.

    `sets` are the term sets behind the value, best first. `parts` are the summands of the value, by name.
    `bounded` is true if the sentence has more sets, or more choices of words for them, than were searched.
    `kind` is the kind of the query, if parameters depend on it, and `chosen` those that do.
    """

    origin: Origin
    value: float | None
    weight: float
    adds: float
    sets: tuple[TermSet | Relation, ...]
    bounded: bool
    parts: Mapping[str, float] = field(default_factory=dict)
    kind: str | None = None
    chosen: Mapping[str, Value] = field(default_factory=dict)

    def describe_kind(self) -> str:
        """The kind of the query and what it sets, for people; empty if it sets nothing."""
        chosen = ", ".join(f"{name} {value:g}" for name, value in self.chosen.items())
        return f"the kind of the query is {self.kind}, which sets {chosen}" if chosen else ""

    def as_dict(self) -> dict[str, Any]:
        return {
            "signal": self.origin.name,
            "value": self.value,
            "weight": self.weight,
            "adds": self.adds,
            "sets": tuple(term_set.as_dict() for term_set in self.sets),
            "bounded": self.bounded,
            "parts": dict(self.parts),
            "kind": self.kind,
            "chosen": dict(self.chosen),
        }


@dataclass(frozen=True, slots=True)
class SecondPart:
    """The second stage of one sentence: weight * first stage + signals + trees (None without trees).

    `parse` is the tree to draw, None if the sentence has no parse or its words cannot be recovered. `marked`
    has the positions of query words in the tree, `chosen` the positions of the words of the sets that scored.
    The nearest sentences are `approximate` if they come from an index or bits of vectors. `vector` says what
    made the sentence's vector, if a signal read it: ENCODER or TABLE.
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
    vector: str | None = None

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
            "vector": self.vector,
        }


def explain_second(
    prepared: PreparedQuery,
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
    index = prepared.index
    parts = tuple(_signal_part(signal, prepared, context, missing) for signal in reranker.signals)
    if reranker.last is not None and is_read:
        parts += (_signal_part(reranker.last, prepared, context, missing),)
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
        reranker.uses_vectors and not index.status(NearestIsExact()),
        _vector_origin(index, sentence_id) if reranker.uses_vectors else None,
    )


def _vector_origin(index: Index, sentence_id: str) -> str | None:
    """What made a sentence's vector, None if it has none."""
    encoder = index.status(MainEncoder())
    if encoder is None:
        return None
    (digest,) = index.read([sentence_id], VectorOrigins(encoder))
    return None if digest is None else TABLE if digest else ENCODER


def _signal_part(
    signal: RankingSignal, prepared: PreparedQuery, context: RerankContext, missing: Mapping[str, float]
) -> SignalPart:
    value = float(signal.values(context)[0])
    sets, truncated = _term_sets(signal, context.parses()) if signal.signal in SIGNALS else ((), False)
    value_or_none = None if math.isnan(value) else value
    origin = Origin("signal", signal.signal)
    adds = missing.get(signal.signal, float(signal.adds(context)[0]))
    parts: Mapping[str, float] = {}
    if signal.type.parts and value_or_none is not None:
        parts = {name: float(v[0]) for name, v in signal.type.parts(context, signal.settings()).items()}
    kind, chosen = _chosen_by_kind(signal.signal, prepared)
    return SignalPart(origin, value_or_none, signal.weight, adds, sets, truncated, parts, kind, chosen)


def _chosen_by_kind(name: str, prepared: PreparedQuery) -> tuple[str | None, Mapping[str, Value]]:
    """The kind of the query, if the signal of that name depends on it, and the parameters that it sets."""
    requested = next((signal.params for signal in prepared.requested.rerank if signal.signal == name), {})
    if name != NAME or not has_kinds(requested):
        return None, {}
    kind = find_kind(prepared.interpretation.ranked_text)
    weights = kind.weights_for(encoder_name(prepared.index))
    return kind.name, {name: weight for name, weight in weights.items() if name not in requested}


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
