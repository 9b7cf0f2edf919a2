"""Plain tfisf under each reading of the protocol: which one gives the published 0.308 and 0.215?"""

from __future__ import annotations

from pathlib import Path

from esr.evaluation.reproduce import indexes
from esr.evaluation.reproduce.laboratory import Laboratory
from esr.evaluation.reproduce.protocol import STATISTICS, Protocol
from esr.evaluation.reproduce.year import Year
from esr.ranking.ranking import Ranking

TOGETHER = "matching, all topics' sentences together, year"


def measure(year: Year, work: Path, depth: int) -> dict[str, float]:
    """AP of tfisf by reading: the sentences that are ranked, and the scope of the statistics."""
    from esr.evaluation import measures

    found = {}
    for statistics in STATISTICS:
        with indexes.opened(year, work, statistics) as parts:
            laboratory = Laboratory(year, parts, Protocol(statistics=statistics, depth=depth))
            for rule in ("matching", "all"):
                tested = laboratory.test(Ranking("tfisf", candidates=rule))
                found[f"{rule}, {statistics}"] = tested.means["AP"]
            if statistics == "year":
                run = laboratory.run(Ranking("tfisf", candidates="matching"), restricted=False)
                values = measures.evaluate(["AP"], year.qrels, run)["AP"]
                found[TOGETHER] = measures.mean("AP", values.values())
    return found
