"""Write the figures of docs/learning.md: learning within a collection, and on the two others.

    python -m benchmarks.studies.learning COLLECTIONS --work FOLDER

The folders are those of `python -m benchmarks.studies.results`, which builds the indexes. An interrupted call
resumes. Takes half an hour on one core. With --save FILE a ranking is learned on all collections by the
learner with the greatest gain, if the figures support any learner.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.studies.results import COLLECTIONS, prepare_collection
from esr.lab import measures
from esr.lab.comparison import Collection
from esr.lab.judgements import read_qrels
from esr.lab.learn import LearningOptions, learn, to_dict
from esr.lab.learners import LEARNERS
from esr.lab.significance import SystemComparison, compare_systems, correct_p_values
from esr.lab.training_data import (
    RUN_DEPTH,
    SIGNAL_DEPTH,
    SignalTable,
    TopicSignals,
    collect_signals,
    list_signals,
)
from esr.lab.tuner import build_tasks
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher, UnsearchableQuery, open_searcher
from esr.topics.topic_files import read_topics

TARGET = Path(__file__).resolve().parents[2] / "docs" / "learning.md"
BEGIN, END = "<!-- figures: python -m benchmarks.studies.learning -->", "<!-- end of figures -->"
BASE = Ranking()
ABLATE = {"linear": "no", "lambdamart": "groups"}
Figures = Mapping[tuple[str, str], Mapping[str, Any]]
"""Results by learner and collection."""


class LearningExperiment:
    """Learns on the collections. Results are stored in a file and not computed twice."""

    def __init__(self, collections: Mapping[str, Collection], path: Path) -> None:
        self._collections, self._path = collections, path
        self._topics: dict[str, list[TopicSignals]] = {}
        lines = path.read_text("utf-8").splitlines() if path.exists() else []
        results: list[dict[str, Any]] = list(map(json.loads, lines))
        self._results = {result["key"]: result for result in results}
        with open_searcher(next(iter(collections.values())).index) as searcher:
            self.signals = list_signals(searcher.index, BASE)

    def within(self, learner: str, collection: str) -> dict[str, Any]:
        """The result of learning and testing in five folds of the collection's topics."""
        return self._cached(f"within {learner} {collection}", lambda: self._within(learner, collection))

    def left_out(self, learner: str, collection: str) -> dict[str, Any]:
        """The result of learning on the other collections and testing on this one."""
        return self._cached(f"left_out {learner} {collection}", lambda: self._left_out(learner, collection))

    def learn_on(self, learner: str, collections: Sequence[str]) -> Ranking:
        table = SignalTable([topic for name in collections for topic in self._collect(name)], "AP")
        return LEARNERS[learner](table, self.signals, 0).ranking(BASE, SIGNAL_DEPTH)

    def _cached(self, key: str, compute: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        if key not in self._results:
            self._results[key] = {"key": key, **compute()}
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(self._results[key]) + "\n")
        return self._results[key]

    def _within(self, learner: str, collection: str) -> dict[str, Any]:
        options = LearningOptions(learner, "AP", 5, 0, SIGNAL_DEPTH, ABLATE[learner])
        _, outcome = learn(self._collect(collection), self.signals, BASE, options, {})
        default, learned = (result.values["AP"] for result in outcome.results)
        return {"default": default, "learned": learned, "outcome": to_dict(outcome)}

    def _left_out(self, learner: str, collection: str) -> dict[str, Any]:
        ranking = self.learn_on(learner, [name for name in self._collections if name != collection])
        with open_searcher(self._collections[collection].index) as searcher:
            default = self._evaluate(searcher, collection, BASE)
            learned = self._evaluate(searcher, collection, ranking)
        return {"default": default, "learned": learned, "ranking": ranking.as_dict()}

    def _collect(self, name: str) -> list[TopicSignals]:
        if name not in self._topics:
            collection = self._collections[name]
            judgements = read_qrels(collection.qrels)
            tasks = build_tasks(read_topics(collection.topics), judgements).ready
            with open_searcher(collection.index) as searcher:
                self._topics[name] = collect_signals(searcher, tasks, judgements, BASE, self.signals)
        return self._topics[name]

    def _evaluate(self, searcher: Searcher, collection: str, ranking: Ranking) -> dict[str, float]:
        run = {}
        for topic in self._collect(collection):
            try:
                hits = searcher.search(
                    topic.query, RUN_DEPTH, ranking=ranking, records=False, literal=True
                ).hits
            except UnsearchableQuery:
                continue
            run[topic.topic] = {hit.sentence_id: hit.score for hit in hits}
        judgements = {topic.topic: dict(topic.judgements) for topic in self._collect(collection)}
        return measures.evaluate(["AP"], judgements, run)["AP"]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("collections", type=Path)
    options.add_argument("--work", type=Path, required=True)
    options.add_argument("--save", type=Path)
    arguments = options.parse_args()
    collections = {
        name: prepare_collection(arguments.collections / name, arguments.work) for name in COLLECTIONS
    }
    experiment = LearningExperiment(collections, arguments.work / "learning.jsonl")
    left_out, within = _figures(experiment.left_out), _figures(experiment.within)
    supported = [learner for learner in LEARNERS if _is_supported(_compare(left_out, learner))]
    text = TARGET.read_text("utf-8")
    before, rest = text.split(BEGIN, 1)
    lines = [BEGIN, "", *_render(left_out, within, supported), "", END]
    TARGET.write_text(before + "\n".join(lines) + rest.split(END, 1)[1], "utf-8")
    if arguments.save and supported:
        best = max(supported, key=lambda learner: sum(c.difference for c in _compare(left_out, learner)))
        ranking = experiment.learn_on(best, COLLECTIONS)
        arguments.save.write_text(json.dumps(ranking.as_dict()) + "\n", "utf-8")


def _figures(compute: Callable[[str, str], dict[str, Any]]) -> Figures:
    return {
        (learner, collection): compute(learner, collection)
        for learner in ("lambdamart", "linear")
        for collection in COLLECTIONS
    }


def _compare(figures: Figures, learner: str) -> list[SystemComparison]:
    """A learner against the default on every collection, corrected for the number of collections."""
    results = [figures[learner, collection] for collection in COLLECTIONS]
    return correct_p_values([compare_systems(result["learned"], result["default"]) for result in results])


def _is_supported(comparisons: Sequence[SystemComparison]) -> bool:
    """Whether a learner is better on every collection, and significantly on at least one."""
    return all(c.difference > 0 for c in comparisons) and any(c.mark for c in comparisons)


def _render(left_out: Figures, within: Figures, supported: Sequence[str]) -> list[str]:
    if supported:
        verdict = f"Better than the default on every collection: {', '.join(supported)}."
    else:
        verdict = (
            "No learner is better than the default on every held-out collection, so there is **no learned "
            "default ranking**."
        )
    return [
        *("Learned on two collections and tested on the third:", "", *_table(left_out), "", verdict, ""),
        *("Learned and tested within a collection, in five folds:", "", *_table(within), ""),
        *("The change of LambdaMART's AP in five folds without each group of signals:", ""),
        *_ablation(within),
    ]


def _table(figures: Figures) -> list[str]:
    defaults = [figures["linear", name]["default"].values() for name in COLLECTIONS]
    lines = [*_head("learner"), "| default | " + " | ".join(f"{_mean(v):.4f}" for v in defaults) + " |"]
    for learner in LEARNERS:
        cells = []
        for name, comparison in zip(COLLECTIONS, _compare(figures, learner), strict=True):
            mean = _mean(figures[learner, name]["learned"].values())
            mark = comparison.mark.replace("*", "\\*")
            cells.append(f"{mean:.4f} ({comparison.difference:+.4f}{mark})")
        lines.append(f"| {learner} | " + " | ".join(cells) + " |")
    return lines


def _ablation(within: Figures) -> list[str]:
    lines = _head("without")
    by_collection = [within["lambdamart", name]["outcome"]["ablation"] for name in COLLECTIONS]
    for ablations in zip(*by_collection, strict=True):
        cells = []
        for ablation in ablations:
            p = ablation["lost"]["t_test_holm"]
            mark = "\\*\\*" if p < 0.01 else "\\*" if p < 0.05 else ""
            cells.append(f"{-ablation['lost']['difference']:+.4f}{mark}")
        lines.append(f"| {ablations[0]['without']} | " + " | ".join(cells) + " |")
    return lines


def _head(title: str) -> list[str]:
    return [f"| {title} | " + " | ".join(COLLECTIONS) + " |", "| --- |" + " ---: |" * len(COLLECTIONS)]


def _mean(values: Any) -> float:
    return float(sum(values) / len(values))


if __name__ == "__main__":
    main()
