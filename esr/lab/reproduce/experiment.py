"""The complete experiment: from a folder of raw files to all results and verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from esr.lab import measures
from esr.lab.curves import Estimates
from esr.lab.reproduce.annotations import NAMES, OPINIONS
from esr.lab.reproduce.claims import TARGETS
from esr.lab.reproduce.experiment_results import Example, ExperimentResults, Promotion
from esr.lab.reproduce.pooled_years import CROSSED, Pooled, cross, measure_pooled
from esr.lab.reproduce.protocol import STATISTICS, Protocol, SystemFigures, TrainedSystem
from esr.lab.reproduce.raw_files import find_raw_files
from esr.lab.reproduce.second_task import measure_second_task
from esr.lab.reproduce.systems import BOTH_YEARS, SUBJECTIVE, SYSTEMS, name_with_prior
from esr.lab.reproduce.targets import Verdict, judge
from esr.lab.reproduce.year import Year, load, measure_year
from esr.lab.reproduce.year_experiment import (
    YearExperiment,
    build_index,
    open_grid,
    open_indexes,
    open_result_store,
    read_feature,
)
from esr.plugin import Document, Sentence, UsageError
from esr.plugin.provisional import Ranking, Scores, open_searcher, unknown

POOLED = "matching, all topics' sentences together, year"


def measure_interpretations(year: Year, work: Path, protocol: Protocol) -> dict[str, float]:
    """AP of plain tfisf under each interpretation of the protocol.

    Interpretations differ in which sentences are ranked and in the scope of statistics. The published values
    are 0.308 and 0.215.
    """
    figures = {}
    for statistics in STATISTICS:
        reading = Protocol(statistics=statistics, depth=protocol.depth, enrich=protocol.enrich)
        with open_indexes(year, work, reading) as topic_indexes:
            experiment = YearExperiment(year, topic_indexes, reading, open_result_store(year, work, reading))
            for rule in ("matching", "all"):
                tested = experiment.test(Ranking("tfisf", candidates=rule))
                figures[f"{rule}, {statistics}"] = tested.means["AP"]
            if statistics == "year":
                run = experiment.run(Ranking("tfisf", candidates="matching"), restricted=False)
                values = measures.evaluate(["AP"], year.qrels, run)["AP"]
                figures[POOLED] = measures.mean("AP", values.values())
    return figures


ALL = "all"
Tick = Callable[[str], None]
Trained = dict[str, dict[str, TrainedSystem]]
Tested = dict[tuple[str, str], dict[str, SystemFigures]]


def run(
    data: Path, work: Path, train: str, protocol: Protocol, tick: Tick = lambda step: None
) -> ExperimentResults:
    """Unpack and load the data, train on one year or on each, and test on the others.

    Raises InputError for broken data, and UsageError for a training year without data.
    """
    _check_grid(protocol)
    available = find_raw_files(data)
    names = [files.year for files in available.years]
    training_years = names if train == ALL else [train]
    if not set(training_years) <= set(names):
        raise UsageError(f"cannot train on {train}: {data} has no file of it, only of {', '.join(names)}")
    years = {}
    for files in available.years:
        tick(f"reading {files.year}")
        year = load(files, work, available.annotations)
        if protocol.enrich and not year.named_titles:
            year = replace(year, named_titles=find_names(year, work))
        years[files.year] = year
    kinds = {topic: kind for year in years.values() for topic, kind in year.kinds.items()}
    years_results = _train_and_test(years, training_years, work, protocol, tick)
    pooled = years_results.pooled
    if train == ALL:
        pooled = pooled | measure_pooled(years, available.aquaint, work, protocol, tick)
    by_interpretation = {}
    for name, year in years.items():
        tick(f"interpretations of {name}")
        by_interpretation[name] = measure_interpretations(year, work, protocol)
    second_task = {}
    for name, year in years.items():
        tick(f"what is new in {name}")
        if (figures := measure_second_task(year)) is not None:
            second_task[name] = figures
    return ExperimentResults(
        protocol,
        available.absent,
        {name: measure_year(year) for name, year in years.items()},
        {name: year.findings for name, year in years.items()},
        years_results.trained,
        years_results.tested,
        by_interpretation,
        second_task,
        pooled,
        years_results.curves,
        kinds,
        years_results.examples,
        years_results.promotions,
    )


class _YearsResults(NamedTuple):
    trained: Trained
    tested: Tested
    pooled: Pooled
    curves: dict[tuple[str, str, str], Estimates]
    examples: dict[str, list[Example]]
    promotions: dict[tuple[str, str], list[Promotion]]


def _train_and_test(
    years: Mapping[str, Year], training_years: Sequence[str], work: Path, protocol: Protocol, tick: Tick
) -> _YearsResults:
    with ExitStack() as stack:
        experiments = {}
        for name, year in years.items():
            tick(f"indexing {name}")
            topic_indexes = stack.enter_context(open_indexes(year, work, protocol))
            stored_results = open_result_store(year, work, protocol)
            experiments[name] = YearExperiment(year, topic_indexes, protocol, stored_results)
        trained = {
            name: experiments[name].train(SYSTEMS, lambda system, year=name: tick(f"{year}: {system}"))  # type: ignore[misc]
            for name in training_years
        }
        tested: Tested = {}
        for source in training_years:
            for target in (name for name in years if name != source):
                systems = tested[source, target] = {}
                for system, trained_system in trained[source].items():
                    if experiments[target].can_run(SYSTEMS[system]):
                        tick(f"{source} on {target}: {system}")
                        systems[system] = experiments[target].test(trained_system.ranking)
        tick("curves and examples")
        pooled: Pooled = {}
        if set(BOTH_YEARS) <= set(training_years):
            pooled[CROSSED, "topic"] = cross(experiments, trained)
        return _YearsResults(
            trained,
            tested,
            pooled,
            dict(_iterate_curves(experiments, trained)),
            _find_examples(experiments, trained),
            dict(_iterate_promotions(experiments, trained, tested)),
        )


def _check_grid(protocol: Protocol) -> None:
    """Raise UsageError for a parameter that no system tunes."""
    tuned = {
        name.rpartition(".")[2]
        for system in SYSTEMS.values()
        for name in open_grid(system, system.ranking, Protocol())
    }
    for name in protocol.grid:
        if name not in tuned | {"w"}:
            raise unknown("parameter to tune", name, tuned | {"w"})


def find_names(year: Year, work: Path) -> dict[str, bool]:
    """Whether the titles of topics have names, by esr's named-entity recognition."""
    titles = [Document(t.topic, (Sentence(t.topic, t.query),)) for t in year.tasks]
    place = build_index(titles, work / year.name / "titles", enrich=True)
    with open_searcher(str(place)) as searcher:
        return {id: n > 0 for id, n in read_feature(searcher, [t.topic for t in year.tasks], "ne").items()}


# Curves


CURVE_BASES: dict[str, tuple[str, ...]] = {
    "tfisf": (*OPINIONS, *NAMES, "len"),
    SUBJECTIVE: ("pos", "neg", "opt", "len"),
}
"""The features whose curves the second paper draws, by the base that they are added to."""


def _iterate_curves(
    experiments: Mapping[str, YearExperiment], trained: Trained
) -> Iterator[tuple[tuple[str, str, str], Estimates]]:
    for year in (year for year in BOTH_YEARS if year in trained):
        for base, features in CURVE_BASES.items():
            for feature in features:
                if base in trained[year] and experiments[year].has_feature(feature):
                    estimates = experiments[year].estimate(trained[year][base].ranking, feature)
                    yield (year, base, feature), estimates


# Examples


EARTHQUAKE, REWARD = "earthquake", "reward"
EXAMPLES: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    EARTHQUAKE: (
        "chinese earthquake",
        ("architects", "hebei", "earthquake"),
        ("3mm document", "3mm surrounding"),
    ),
    REWARD: ("", ("reward", "investigation", "$100,000"), ("tfisf",)),
}
"""By example: words of its topic's title, words of its sentence, and systems without an addition."""


def _find_examples(experiments: Mapping[str, YearExperiment], trained: Trained) -> dict[str, list[Example]]:
    """The papers' example sentences that are in the data, with their ranks.

    The first paper's example is ranked by systems trained on 2002, the second's by those of the other year.
    """
    examples: dict[str, list[Example]] = {}
    for name, (title, words, systems) in EXAMPLES.items():
        for year, experiment in experiments.items():
            for source in trained:
                if source == year:
                    continue
                sentences = list(_find_sentences(experiment.year, title, words))
                pairs = [(s, name_with_prior(s) if name == EARTHQUAKE else SUBJECTIVE) for s in systems]
                rankings = {
                    s: trained[source][s].ranking for pair in pairs for s in pair if s in trained[source]
                }
                if sentences and len(rankings) == 2 * len(pairs):
                    runs = {system: experiment.run(ranking) for system, ranking in rankings.items()}
                    examples.setdefault(name, []).extend(
                        Example(
                            source,
                            topic,
                            sentence,
                            {s: _rank(run, topic, sentence) for s, run in runs.items()},
                        )
                        for topic, sentence in sentences
                    )
    return examples


def _find_sentences(year: Year, title: str, words: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Topics with these words in the title, each with a sentence of its documents that has these words."""
    texts = {s.id: s.text.lower().replace("$ ", "$") for d in year.documents for s in d.sentences}
    for task in year.tasks:
        if all(word in task.query.lower() for word in title.split()):
            for sentence in year.sentences(task.topic):
                if all(word in texts[sentence] for word in words):
                    yield task.topic, sentence


def _rank(run: Scores, topic: str, sentence: str) -> int | None:
    ids = list(run.get(topic, {}))
    return ids.index(sentence) + 1 if sentence in ids else None


def _iterate_promotions(
    experiments: Mapping[str, YearExperiment], trained: Trained, tested: Tested
) -> Iterator[tuple[tuple[str, str], list[Promotion]]]:
    """The effect of linear(subj) on ranks of subjective and objective sentences, by pair of years."""
    for source, target in tested:
        if SUBJECTIVE not in tested[source, target]:
            continue
        experiment = experiments[target]
        subjective = {id for id, value in experiment.read_feature("subj").items() if value > 0}
        before, after = (experiment.run(trained[source][name].ranking) for name in ("tfisf", SUBJECTIVE))
        promotions = []
        for topic in before.keys() & after.keys():
            ranks = [{id: rank for rank, id in enumerate(run[topic], 1)} for run in (before, after)]
            both = ranks[0].keys() & ranks[1].keys()
            groups = both & subjective, both - subjective
            if all(groups):
                means = [tuple(float(np.mean([r[id] for id in group])) for r in ranks) for group in groups]
                promotions.append(Promotion(topic, *means))  # type: ignore[arg-type]
        yield (source, target), sorted(promotions)


def verdicts(results: ExperimentResults) -> Sequence[Verdict]:
    """The verdicts on all targets, in the order of the papers."""
    return [judge(target, results) for target in TARGETS]
