"""A score and its parts, as a table for people and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from esr.dependency.explanation import TermSet, text_tree
from esr.plans.plan import Plan
from esr.ranking.explanation.parts import (
    Addition,
    BoostPart,
    FeaturePart,
    PriorPart,
    TermPart,
    finite_or_none,
)
from esr.ranking.explanation.second_stage import SecondPart
from esr.ranking.ranking import LENGTH, Origin
from esr.registry import Value


@dataclass(frozen=True, slots=True)
class Explanation:
    """A score and its parts: terms, the length term of a smoothed model, priors, features, boosts.

    With a second stage, these add up to the first-stage score `first`, and `second` has the rest. `chosen`
    has the parameters of the model that depend on the kind of the query.
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
    chosen: Mapping[str, Value]

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
            "score": finite_or_none(self.score),
            "first": finite_or_none(self.first),
            "terms": [part.as_dict() for part in self.terms],
            "length": self.length,
            "priors": [
                {
                    "name": part.origin.name,
                    "value": part.value,
                    "weight": part.weight,
                    "adds": finite_or_none(part.adds),
                }
                for part in self.priors
            ],
            "features": [part.as_dict() for part in self.features],
            "boosts": [part.as_dict() for part in self.boosts],
            "boosted": self.boosted,
            "second": self.second and self.second.as_dict(),
            "unseen": list(self.unseen),
            "plan": self.plan.as_dict(),
            "chosen": dict(self.chosen),
        }


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
    if explanation.chosen:
        chosen = ", ".join(f"{name} {value:g}" for name, value in explanation.chosen.items())
        notes.append(f"model: the kind of the query sets {chosen}")
    if stage is not None:
        parts.append(("first stage", f"{stage.weight:.4g}", "", stage.weight * explanation.first))
        for p in stage.signals:
            parts.append((f"signal {p.origin.name}", f"{p.weight:.4g}", _format_value(p.value), p.adds))
            notes += [f"{p.origin.name}: {_format_parts(p.parts)}"] * bool(p.parts)
            notes += [f"{p.origin.name}: {p.describe_kind()}"] * bool(p.chosen)
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
    if stage.vector is not None:
        lines.append(f"The vector of the sentence was made by the {stage.vector}.")
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
