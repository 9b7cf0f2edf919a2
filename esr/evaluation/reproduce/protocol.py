"""The open questions of the papers' protocol as options, and the choices in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from esr import models
from esr.parameter import Value
from esr.plans.plan import CandidateRule

MAIN = "2002"
"""The year that the papers' main tables are trained on."""
RANKED = {
    "matching": "sentences with at least one query term, for every system",
    "context": "every sentence for models with a context, matching ones for the others",
    "all": "every sentence, for every system",
}
STATISTICS = {
    "year": "computed from all documents of the year",
    "topic": "computed from the documents of each topic",
}
MEASURES = ("P@10", "AP", "RPrec")
OBJECTIVE = "AP"
TOP = 100


@dataclass(frozen=True)
class Protocol:
    """`grid` has values to try instead of the papers'."""

    ranked: str = "matching"
    statistics: str = "year"
    depth: int = 1000
    grid: Mapping[str, Sequence[Value]] = field(default_factory=dict)

    def candidates(self, model: str) -> CandidateRule:
        """Which sentences of the topic's documents a model ranks."""
        if self.ranked == "context":
            return "all" if models.get(model).contexts else "matching"
        return "all" if self.ranked == "all" else "matching"

    def lines(self) -> list[str]:
        """The choices, for the head of a report."""
        grid = "; ".join(f"{name} {', '.join(map(str, values))}" for name, values in self.grid.items())
        return [
            f"ranked of a topic's own documents: {RANKED[self.ranked]} (`--ranked {self.ranked}`; open)",
            f"statistics are {STATISTICS[self.statistics]} (`--statistics {self.statistics}`; open)",
            f"a ranking ends after {self.depth:,} sentences (`--depth {self.depth}`; open)",
            "queries are the topics' titles; stop words are Snowball's (the papers do not name theirs); "
            "no stemming",
            f"tuned for {OBJECTIVE} on the training year (the papers do not name their objective); "
            "ties go to the first setting",
            f"grids: the papers', except {grid}" if grid else "grids: the papers' (docs/formulas.md, A.14)",
            "3MM is the flat form, p(s|d) comes from the whole document and is not divided by length",
            "surrounding sentences: the previous and the next one in the same document",
            "BM25f has the k1 of the tuned BM25 and b_context 0.75; idfdoc counts both N and sf in documents",
            f"average length: terms of the best {TOP} sentences, averaged over a topic, then over topics",
            "relevant sentences that the archive lacks count as missed, as in trec_eval",
            "significance: paired two-sided t-test over topics, without correction for multiple tests",
        ]
