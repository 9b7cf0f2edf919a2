"""Explains what the second stage adds to a sentence: its signals, and their term sets in its tree."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from esr.dependency import mrf
from esr.dependency.cliques import SetFamily
from esr.dependency.explain import Relation, TermSet, find_best_set, find_relations
from esr.dependency.parsed_sentences import ParsedSentences
from esr.dependency.signals import SIGNALS, best_sets, mrf_potentials
from esr.documents import ParseWord
from esr.engines.index import Index
from esr.ranking.explain_parts import Addition
from esr.ranking.origin import TREES, Origin
from esr.ranking.ranking_signal import RankingSignal
from esr.ranking.rerank_context import RerankContext
from esr.ranking.reranker import Reranker
from esr.ranking.sentence_tree import sentence_tree


@dataclass(frozen=True, slots=True)
class SignalPart:
    """One signal: its value (None where it has none), its weight, what that adds, and what made it: the term
    sets, the best first, or `parts` of the value by what they are of.

    `bounded`: the sentence has more sets, or ways to choose their words, than are looked at.
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
    """The second stage for one sentence: weight * first stage + signals + trees (None: there are none).

    `parse` is the tree to draw, None if the sentence was not parsed or its words cannot be told; `marked` are
    the positions of query words in it, `chosen` those of the sets that scored.
    """

    score: float
    weight: float
    signals: tuple[SignalPart, ...]
    trees: float | None
    parsed: bool
    parse: tuple[ParseWord, ...] | None
    marked: tuple[int, ...]
    chosen: tuple[int, ...]

    @property
    def lacks_parse(self) -> bool:
        """Whether a signal would need a parse that is not stored."""
        return not self.parsed and any(part.origin.name in SIGNALS for part in self.signals)

    @property
    def additions(self) -> list[Addition]:
        """What the signals and the trees add."""
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
        }


def explain_second(
    index: Index,
    context: RerankContext,
    sentence_id: str,
    reranker: Reranker,
    first: float,
    tree_score: float | None,
    missing: Mapping[str, float],
) -> SecondPart:
    """The parts of a sentence's new score, without tie breaking, which depends on the other sentences.

    `context` is that of this sentence; `tree_score` is what trees add to it, if there are any; `missing` has
    what signals add that it has no value of, and that are not 0.
    """
    parts = tuple(_signal_part(signal, context, missing) for signal in reranker.signals)
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
    """The term sets behind a signal of term dependence, and whether limits left out others."""
    name, settings = signal.signal, signal.settings()
    sets: tuple[TermSet | Relation, ...]
    if name in mrf.MODELS:
        evidence = sentence.evidence(mrf.MODELS[name] or "adjacent")
        sets = tuple(find_relations(evidence, mrf_potentials(name, sentence, settings), settings, 0))
    else:
        evidence = sentence.evidence(cast(SetFamily, settings["sets"]))
        best = find_best_set(evidence, best_sets(sentence, settings), 0, sentence.text_counts())
        sets = () if best is None else (best,)
    return sets, bool(evidence.truncated[0])
