"""Plain tfisf under each interpretation of the protocol, to see which gives the published 0.308 and 0.215."""

from __future__ import annotations

from pathlib import Path

from esr.evaluation import measures
from esr.evaluation.reproduce import indexes
from esr.evaluation.reproduce.protocol import STATISTICS, Protocol
from esr.evaluation.reproduce.year import Year
from esr.evaluation.reproduce.year_experiment import YearExperiment
from esr.ranking.ranking import Ranking

POOLED = "matching, all topics' sentences together, year"


def measure(year: Year, work: Path, depth: int) -> dict[str, float]:
    """AP of tfisf by interpretation: which sentences are ranked, and the scope of statistics."""
    figures = {}
    for statistics in STATISTICS:
        with indexes.open_indexes(year, work, statistics) as topic_indexes:
            experiment = YearExperiment(year, topic_indexes, Protocol(statistics=statistics, depth=depth))
            for rule in ("matching", "all"):
                tested = experiment.test(Ranking("tfisf", candidates=rule))
                figures[f"{rule}, {statistics}"] = tested.means["AP"]
            if statistics == "year":
                run = experiment.run(Ranking("tfisf", candidates="matching"), restricted=False)
                values = measures.evaluate(["AP"], year.qrels, run)["AP"]
                figures[POOLED] = measures.mean("AP", values.values())
    return figures
