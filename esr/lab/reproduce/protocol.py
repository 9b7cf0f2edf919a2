"""The protocol of the experiments. What the papers leave open are the options of `Protocol`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from esr.lab import measures
from esr.plugin.provisional import CandidateRule, Ranking, Value, get_model

MAIN = "2002"
"""The training year of the papers' main tables."""
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
RECALL_MEASURES = tuple(f"IPrec@{tenth / 10}" for tenth in range(11))
TOP_MEASURES = ("P@5", "P@10", "P@15", "P@20", "P@30")
"""The fourth paper reports P@k without the value of k."""
EVALUATED = tuple(dict.fromkeys((*MEASURES, *TOP_MEASURES, *RECALL_MEASURES)))
OBJECTIVE = "AP"
TOP = 100


@dataclass(frozen=True)
class Protocol:
    """The open questions of the papers' protocol. `grid` has values to try instead of the papers'.

    With `enrich`, esr computes features, names and parses if the data has no annotations.
    """

    ranked: str = "matching"
    statistics: str = "year"
    depth: int = 1000
    grid: Mapping[str, Sequence[Value]] = field(default_factory=dict)
    enrich: bool = False

    def candidates(self, model: str) -> CandidateRule:
        """The candidate rule of a model, within the documents of a topic."""
        if self.ranked == "context":
            return "all" if get_model(model).contexts else "matching"
        return "all" if self.ranked == "all" else "matching"

    def lines(self) -> list[str]:
        """The choices in words, for the head of a report."""
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
            "features, names and parses: as the folder has them"
            + (", and where it has none as `esr enrich` computes them (`--enrich`)" if self.enrich else ""),
            "features are added to tfisf with a weight tuned on the training year, curves without one; a "
            "value that training lacks adds the log-odds of smoothed counts of nothing",
            "TDSR: the reading exp unless the name says another, equal scores in the order of the collection",
            "the Markov random field: grids of lambda_SR and lambda_PR 0 to 1 by 0.2, alpha and beta 0.1, "
            "0.5 and 1; single terms weigh 0.8",
            "relevant sentences that the archive lacks count as missed, as in trec_eval",
            "significance: paired two-sided t-test over topics, without correction for multiple tests",
        ]


@dataclass(frozen=True)
class TrainedSystem:
    """A system's best setting on a year, its mean figure there, and the number of settings tried."""

    ranking: Ranking
    figure: float
    tried: int


@dataclass(frozen=True)
class SystemFigures:
    """A setting's figures on a year: by measure and topic, their means, and the mean length of its top."""

    values: measures.Values
    means: Mapping[str, float]
    top_length: float
