"""Term dependence as numbers of sentences, one a signal: what a second stage adds to a ranking.

    index.parses ─ Parsed ─▶ signal ─▶ scores

TDSR is the best set's strength, an MRF the sum of its two potentials of term sets. Its first potential, of
single terms, is the first stage's score.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from esr.dependency import mrf, tdsr
from esr.dependency.cliques import Array, CliqueEvidence, Sets, clique_evidence
from esr.dependency.codec import decode
from esr.dependency.trees import Flags, Forest
from esr.parameter import Parameter, Value, described
from esr.registry import Registry

Settings = Mapping[str, Value]


@dataclass
class Parsed:
    """n sentences for a query: their parses, the query's terms in order, and what was computed once.

    `counts` gives, for m sentences by their places, each term's occurrences in the texts, of shape (T, m).
    """

    forest: Forest
    terms: Sequence[str]
    counts: Callable[[Sequence[int]], Array]
    _known: dict[Any, Any] = field(default_factory=dict)

    @staticmethod
    def of(
        blobs: Sequence[bytes | None], terms: Sequence[str], counts: Callable[[Sequence[int]], Array]
    ) -> Parsed:
        """From stored parses, None for a sentence without one. Raises IndexUnusable for a damaged one."""
        return Parsed(decode(blobs), tuple(dict.fromkeys(terms)), counts)

    def evidence(self, sets: Sets) -> CliqueEvidence:
        return cast(
            CliqueEvidence, self.once(("sets", sets), lambda: clique_evidence(self.forest, self.terms, sets))
        )

    def counted(self) -> Array:
        """(T, n): occurrences in the texts, of sentences whose parse has no query term; 0 for others."""

        def count() -> Array:
            found = np.zeros((len(self.terms), len(self.forest)))
            places = np.flatnonzero(~self._in_parse()).tolist()
            if places:
                found[:, places] = self.counts(places)
            return found

        return cast(Array, self.once("counts", count))

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """Computed the first time, remembered then: tuning asks again with other weights."""
        if key not in self._known:
            self._known[key] = make()
        return self._known[key]

    def _in_parse(self) -> Flags:
        return self.evidence("adjacent").in_parse


@dataclass(frozen=True)
class Signal:
    """A number of each sentence for a query. `scores` has shape (n,).

    Every parameter is looked at but those of the first stage, which a model of the same name has beside.
    """

    name: str
    description: str
    source: str
    parameters: tuple[Parameter, ...]
    scores: Callable[[Parsed, Settings], Array]

    def as_dict(self) -> dict[str, Any]:
        return described(self)


SIGNALS: Registry[Signal] = Registry("signal")


def found_tdsr(parsed: Parsed, settings: Settings) -> tdsr.Tdsr:
    """Scores and sizes of the best sets."""
    sets = cast(Sets, settings["sets"])
    nearest = parsed.once(("nearest", sets), lambda: tdsr.nearest(parsed.evidence(sets), parsed.counted()))
    return tdsr.scores(nearest, float(settings["alpha"]), float(settings["beta"]), str(settings["form"]))


def found_potentials(name: str, parsed: Parsed, settings: Settings) -> mrf.Potentials:
    """Both potentials of an MRF's term sets."""
    readings = tuple(settings[p] for p in ("proximity", "max_dis", "h_SR", "h_PR", "sr_on_ud"))
    evidence = parsed.evidence(mrf.MODELS[name] or "adjacent")
    return cast(
        mrf.Potentials,
        parsed.once((name, readings), lambda: mrf.potentials(name, evidence, settings)),
    )


def _mrf(name: str) -> Callable[[Parsed, Settings], Array]:
    def scores(parsed: Parsed, settings: Settings) -> Array:
        found = found_potentials(name, parsed, settings)
        alpha, beta, form = float(settings["alpha"]), float(settings["beta"]), str(settings["form"])
        return np.asarray(
            float(settings["lambda_SR"]) * found.syntactic.total(alpha, beta, form)
            + float(settings["lambda_PR"]) * found.proximity.total(alpha, beta, form)
        )

    return scores


_OF_FIRST_STAGE = {"lambda_I", "f_I", "mu", "lambda"}

TDSR = SIGNALS.register(
    Signal(
        "tdsr",
        "the strength of the sentence's best set of query terms in its dependency tree",
        "Cai, Bu, Chen & Liu 2007; docs/formulas.md, section C",
        tuple(p for p in tdsr.PARAMETERS if p.name != "ties"),
        lambda parsed, settings: found_tdsr(parsed, settings).scores,
    )
)
for _name, _what in (
    ("mrf_sdm", "pairs of neighbouring query terms"),
    ("mrf_fdm", "all sets of query terms"),
):
    SIGNALS.register(
        Signal(
            _name,
            f"syntactic relation and proximity of {_what} in the dependency tree",
            "Cai, Chen, Liu, Bu & Huang 2007; docs/formulas.md, section D",
            tuple(p for p in mrf.PARAMETERS if p.name not in _OF_FIRST_STAGE),
            _mrf(_name),
        )
    )

SHORT: Mapping[str, str] = mrf.ALIASES
"""Signals' names by their short ones."""
