"""Writes the figures of docs/learning.md: learning within a collection, and on two others.

    python -m benchmarks.learning COLLECTIONS --work FOLDER

The folders are those of `python -m benchmarks.results`, which makes the indexes. A call that was stopped goes
on where it was. Half an hour on one core. With --save FILE a ranking is learned on all collections, by the
learner that the figures support, if they support one.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import esr
from benchmarks.results import COLLECTIONS, prepared
from esr.evaluation import measures, qrels, topics
from esr.evaluation.comparison import Collection
from esr.evaluation.significance import SystemComparison, compare_systems, correct_p_values
from esr.evaluation.tuning.tasks import build_tasks
from esr.learning.learn import LearningOptions, learn
from esr.learning.learner import LEARNERS
from esr.learning.outcome import to_dict
from esr.learning.signal_table import SignalTable
from esr.learning.signals import list_signals
from esr.learning.topic_signals import DEPTH, RUN_DEPTH, TopicSignals, collect_signals
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher, UnsearchableQuery

TARGET = Path(__file__).resolve().parents[1] / "docs" / "learning.md"
BEGIN, END = "<!-- figures: python -m benchmarks.learning -->", "<!-- end of figures -->"
BASE = Ranking()
ABLATE = {"linear": "no", "lambdamart": "groups"}


class Laboratory:
    """The collections, what was gathered of them, and the figures that are known."""

    def __init__(self, places: Mapping[str, Collection], path: Path) -> None:
        self._places, self._path = places, path
        self._gathered: dict[str, list[TopicSignals]] = {}
        lines = path.read_text("utf-8").splitlines() if path.exists() else []
        self._known: dict[str, dict[str, Any]] = {each["key"]: each for each in map(json.loads, lines)}
        with esr.open(next(iter(places.values())).index) as searcher:
            self.signals = list_signals(searcher.index, BASE)

    def figures(self, way: str, learner: str, collection: str) -> dict[str, Any]:
        """What `within` or `left_out` finds, computed if it is not there."""
        key = f"{way} {learner} {collection}"
        if key not in self._known:
            found = getattr(self, way)(learner, collection)
            self._known[key] = {"key": key, **found}
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(self._known[key]) + "\n")
        return self._known[key]

    def topics(self, collection: str) -> list[TopicSignals]:
        if collection not in self._gathered:
            where = self._places[collection]
            judged = qrels.read(where.qrels)
            tasks = build_tasks(topics.read(where.topics), judged).ready
            with esr.open(where.index) as searcher:
                self._gathered[collection] = collect_signals(searcher, tasks, judged, BASE, self.signals)
        return self._gathered[collection]

    def learned_on(self, learner: str, collections: Sequence[str]) -> Ranking:
        table = SignalTable([topic for name in collections for topic in self.topics(name)], "AP")
        return LEARNERS[learner](table, self.signals, 0).ranking(BASE, DEPTH)

    def within(self, learner: str, collection: str) -> dict[str, Any]:
        """Five folds of a collection's topics."""
        wanted = LearningOptions(learner, "AP", 5, 0, DEPTH, ABLATE[learner])
        _, found = learn(self.topics(collection), self.signals, BASE, wanted, {})
        default, learned = (each.values["AP"] for each in found.results)
        return {"default": default, "learned": learned, "outcome": to_dict(found)}

    def left_out(self, learner: str, collection: str) -> dict[str, Any]:
        """Learned on the other collections, searched with in this one."""
        others = [name for name in self._places if name != collection]
        ranking = self.learned_on(learner, others)
        with esr.open(self._places[collection].index) as searcher:
            default, learned = (self._searched(searcher, collection, each) for each in (BASE, ranking))
        return {"default": default, "learned": learned, "ranking": ranking.as_dict()}

    def _searched(self, searcher: Searcher, collection: str, ranking: Ranking) -> dict[str, float]:
        run = {}
        for each in self.topics(collection):
            try:
                hits = searcher.search(each.query, RUN_DEPTH, ranking=ranking, records=False).hits
            except UnsearchableQuery:
                continue
            run[each.topic] = {hit.sentence_id: hit.score for hit in hits}
        judged = {each.topic: dict(each.judgements) for each in self.topics(collection)}
        return measures.evaluate(["AP"], judged, run)["AP"]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("collections", type=Path)
    options.add_argument("--work", type=Path, required=True)
    options.add_argument("--save", type=Path)
    given = options.parse_args()
    places = {name: prepared(given.collections / name, given.work) for name in COLLECTIONS}
    laboratory = Laboratory(places, given.work / "learning.jsonl")
    left_out, within = (_figures(laboratory, way) for way in ("left_out", "within"))
    supported = [learner for learner in LEARNERS if _supported(_compared(left_out, learner))]
    text = TARGET.read_text("utf-8")
    before, rest = text.split(BEGIN, 1)
    lines = [BEGIN, "", *_page(left_out, within, supported), "", END]
    TARGET.write_text(before + "\n".join(lines) + rest.split(END, 1)[1], "utf-8")
    if given.save and supported:
        best = max(supported, key=lambda learner: sum(c.difference for c in _compared(left_out, learner)))
        ranking = laboratory.learned_on(best, COLLECTIONS)
        given.save.write_text(json.dumps(ranking.as_dict()) + "\n", "utf-8")


def _figures(laboratory: Laboratory, way: str) -> dict[tuple[str, str], dict[str, Any]]:
    return {
        (learner, collection): laboratory.figures(way, learner, collection)
        for learner in ("lambdamart", "linear")
        for collection in COLLECTIONS
    }


def _compared(figures: Mapping[tuple[str, str], Mapping[str, Any]], learner: str) -> list[SystemComparison]:
    """A learner against the default on every collection, corrected over these."""
    cells = [figures[learner, collection] for collection in COLLECTIONS]
    return correct_p_values([compare_systems(cell["learned"], cell["default"]) for cell in cells])


def _supported(found: Sequence[SystemComparison]) -> bool:
    """Better everywhere, surely so somewhere."""
    return all(each.difference > 0 for each in found) and any(each.mark for each in found)


def _page(left_out: Any, within: Any, supported: Sequence[str]) -> list[str]:
    lines = ["Learned on two collections, searched with in the third:", "", *_table(left_out)]
    if supported:
        lines += ["", f"Better than the default on every collection: {', '.join(supported)}."]
    else:
        lines += [
            "",
            "No learner is better than the default on every collection that it has not seen. So there is "
            "**no learned default ranking**.",
        ]
    lines += ["", "Learned and tested within a collection, in five folds:", "", *_table(within)]
    lines += [
        "",
        "What LambdaMART loses in five folds without each group of signals:",
        "",
        *_ablation(within),
    ]
    return lines


def _table(figures: Any) -> list[str]:
    lines = ["| learner | " + " | ".join(COLLECTIONS) + " |", "| --- |" + " ---: |" * len(COLLECTIONS)]
    default = [figures["linear", name]["default"].values() for name in COLLECTIONS]
    lines.append("| default | " + " | ".join(f"{sum(v) / len(v):.4f}" for v in default) + " |")
    for learner in LEARNERS:
        cells = []
        for name, found in zip(COLLECTIONS, _compared(figures, learner), strict=True):
            values = figures[learner, name]["learned"].values()
            mark = found.mark.replace("*", "\\*")
            cells.append(f"{sum(values) / len(values):.4f} ({found.difference:+.4f}{mark})")
        lines.append(f"| {learner} | " + " | ".join(cells) + " |")
    return lines


def _ablation(within: Any) -> list[str]:
    lines = ["| without | " + " | ".join(COLLECTIONS) + " |", "| --- |" + " ---: |" * len(COLLECTIONS)]
    lost = [within["lambdamart", name]["outcome"]["ablation"] for name in COLLECTIONS]
    for each in zip(*lost, strict=True):
        cells = []
        for found in each:
            p = found["lost"]["t_test_holm"]
            mark = "\\*\\*" if p < 0.01 else "\\*" if p < 0.05 else ""
            cells.append(f"{-found['lost']['difference']:+.4f}{mark}")
        lines.append(f"| {each[0]['without']} | " + " | ".join(cells) + " |")
    return lines


if __name__ == "__main__":
    main()
