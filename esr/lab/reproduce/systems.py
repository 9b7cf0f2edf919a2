"""The systems of the papers' tables, the protocol, and the training and testing of systems by it.

A system is a ranking with tuned or fixed parameters. The papers leave some questions of their protocol open;
these are the options of `Protocol`. Systems are trained and tested on one year, or on the topics of one year
in a larger collection.

The fourth paper has the topics of both years in one collection, which can be interpreted in several ways. It
evaluates sentences of AQUAINT by the judgements of the Novelty track, which cover only the documents of the
topics. Sentences of AQUAINT that are in the track have the track's text and ids. All others are split by esr,
have no parse, and count as not relevant.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

import esr
from esr.lab import measures
from esr.lab.curves import (
    Estimates,
    EstimationOptions,
    ValueCounts,
    count_feature_values,
    estimate_indep_and_floe,
)
from esr.lab.grid import Grid, build_default_grid, expand_grid
from esr.lab.reproduce.annotations import NAMES, OPINIONS
from esr.lab.reproduce.data import ANALYZER, YEARS, Year
from esr.lab.reproduce.kept_results import KeptResults, make_digest
from esr.lab.tuner import Task, Tuner
from esr.plugin import Document, EsrError
from esr.plugin.provisional import (
    BUILTIN_FEATURES,
    MU_GRID,
    NO_FILTERS,
    Adjustment,
    CandidateRule,
    EvidenceOf,
    Features,
    HasParses,
    LoadOptions,
    Located,
    Ranking,
    Scores,
    Searcher,
    UnsearchableQuery,
    Value,
    feature_column,
    format_lines,
    get_form,
    get_model,
    open_searcher,
    open_writer,
    read_documents,
)

BASELINES = "baselines"
OPINION = "tfisf with features of opinion"
NAMED = "tfisf with features of names"
SENTENCE_LENGTH = "tfisf with the sentence length"
COMBINED = "tfisf with subjectivity and length"
TDSR = "TDSR"
MRF = "Markov random field"
PLAIN = "language models, p(d|s) uniform"
PRIOR = "language models with p(d|s)"
VECTOR = "tfisf and BM25 with context"
LENGTH = "language models with a length prior"
CONTEXTS = ("document", "surrounding")
ALONE = ("jm", "dir")
WITH_CONTEXT = ("3mm", "2s", "2si")
BOTH_YEARS = ("2003", "2004")
"""The years of the second, third and fourth paper."""
FORMS = ("indep", "floe", "linear", "log", "step")
"""The forms of features. A step of the length would be equal for all sentences."""


@dataclass(frozen=True)
class System:
    """A ranking of the tables. An `is_fixed` system is not tuned.

    `inherits` has pairs of a tuned system and the name of the parameter to take from it. With a `feature` and
    its form, the ranking is the tuned one of the system `base`, and the feature is added. A `grid` replaces
    the default one. `years` are those that the system is trained and tested on. A system that
    `uses_parses` needs them.
    """

    name: str
    group: str
    ranking: Ranking
    is_fixed: bool = False
    inherits: tuple[tuple[str, str], ...] = ()
    grid: Mapping[str, Sequence[Value]] | None = None
    base: str = ""
    feature: tuple[str, str] | None = None
    years: tuple[str, ...] = YEARS
    uses_parses: bool = False


def with_prior(name: str) -> str:
    """The name of the same system with the importance prior p(d|s)."""
    return f"{name} + p(d|s)"


def language_models() -> list[str]:
    """The names of the language models without a prior."""
    return [system.name for system in SYSTEMS.values() if system.group == PLAIN]


def with_feature(form: str, feature: str, base: str = "tfisf") -> str:
    """The name of a system with a feature added."""
    return f"{base} + {form}({feature})"


SUBJECTIVE = with_feature("linear", "subj")
"""The name of the second paper's best model of opinion, to which the length is added."""
TDSR_READINGS: Mapping[str, Mapping[str, str]] = {
    "tdsr": {"form": "exp"},
    "tdsr, ties by tfisf": {"form": "exp", "ties": "score"},
    "tdsr power": {"form": "power"},
    "tdsr linear": {"form": "linear"},
}
"""The interpretations of the association strength, and of the order of equal strengths."""
MRF_MODELS = ("fidm", "sdm", "fdm")
MRF_SUFFIXES = {"dir": "", "tfisf": ", f_I tfisf"}
"""The suffixes of the names of models, by the potential of single terms."""
MRF_GRID: Mapping[str, Sequence[Value]] = {
    "lambda_SR": (0.0, 0.2, 0.4, 0.6, 0.8, 1.0),
    "lambda_PR": (0.0, 0.2, 0.4, 0.6, 0.8, 1.0),
    "alpha": (0.1, 0.5, 1.0),
    "beta": (0.1, 0.5, 1.0),
}
RERANKED = 10_000
"""The depth of ranking by trees: more than the sentences of a topic's documents."""


def _build_systems() -> Iterator[System]:
    yield System("tfisf", BASELINES, Ranking("tfisf"))
    yield System("bm25", BASELINES, Ranking("bm25", params={"k3": 0.0}))
    yield System("okapi", BASELINES, Ranking("bm25", params={"k1": 1.2, "b": 0.75, "k3": 0.0}), is_fixed=True)
    yield System("kld", BASELINES, Ranking("kld"))
    for group, priors in ((PLAIN, {}), (PRIOR, {"importance": 1.0})):
        for model, context in _models():
            name = f"{model} {context}" if context else model
            yield System(with_prior(name) if priors else name, group, Ranking(model, context, priors=priors))
    yield System("idfdoc", VECTOR, Ranking("tfisf", params={"idf": "document"}))
    for context in CONTEXTS:
        yield System(f"tfmix {context}", VECTOR, Ranking("tfmix", context))
        with_idfdoc = Ranking("tfmix", context, params={"idf": "document"})
        yield System(f"tfmix {context} + idfdoc", VECTOR, with_idfdoc)
    for context in CONTEXTS:
        yield System(f"bm25f {context}", VECTOR, Ranking("bm25f", context), inherits=(("bm25", "k1"),))
    for model in ALONE:
        yield System(f"{model} + length", LENGTH, Ranking(model, priors={"length": 1.0}))
    for group, features in ((OPINION, OPINIONS), (NAMED, NAMES), (SENTENCE_LENGTH, ("len",))):
        for form in FORMS if features != ("len",) else FORMS[:-1]:
            for feature in features:
                yield _add_feature(form, feature, "tfisf", group)
    for form in ("floe", "linear", "log"):
        yield _add_feature(form, "len", SUBJECTIVE, COMBINED)
    for name, params in TDSR_READINGS.items():
        ranking = Ranking("tdsr", params=params, depth=RERANKED)
        yield System(name, TDSR, ranking, years=BOTH_YEARS, uses_parses=True)
    for f_i, suffix in MRF_SUFFIXES.items():
        for model in MRF_MODELS:
            ranking = Ranking(f"mrf_{model}", params={"f_I": f_i}, depth=RERANKED)
            is_single, is_smoothed = model == "fidm", f_i == "dir"
            grid = MRF_GRID if not is_single else {"mu": MU_GRID} if is_smoothed else {}
            inherits = (("fidm", "mu"),) if is_smoothed and not is_single else ()
            yield System(
                model + suffix,
                MRF,
                ranking,
                False,
                inherits,
                grid,
                years=BOTH_YEARS,
                uses_parses=not is_single,
            )


def _add_feature(form: str, feature: str, base: str, group: str) -> System:
    name = with_feature(form, feature, base)
    return System(name, group, Ranking("tfisf"), base=base, feature=(feature, form), years=BOTH_YEARS)


def _models() -> Iterator[tuple[str, str | None]]:
    yield from ((model, None) for model in ALONE)
    yield from ((model, context) for model in WITH_CONTEXT for context in CONTEXTS)


SYSTEMS: dict[str, System] = {system.name: system for system in _build_systems()}


# The protocol


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


# Training and testing


class TopicIndex(NamedTuple):
    """An index and its tasks."""

    searcher: Searcher
    tasks: list[Task]


@contextmanager
def open_indexes(year: Year, work: Path, protocol: Protocol) -> Iterator[list[TopicIndex]]:
    """Open one index for the year, or with `topic` statistics one per topic, in the order of topics."""
    folder = work / year.name
    with ExitStack() as stack:
        if protocol.statistics == "year":
            place = build_index(year.documents, folder / "index", protocol.enrich)
            yield [TopicIndex(stack.enter_context(open_searcher(str(place))), list(year.tasks))]
            return
        by_id = {document.id: document for document in year.documents}
        indexes = []
        for number, task in enumerate(year.tasks):
            documents = [by_id[id] for id in year.allowed[task.topic]]
            place = build_index(documents, folder / "topics" / f"{number:03}", protocol.enrich)
            indexes.append(TopicIndex(stack.enter_context(open_searcher(str(place))), [task]))
        yield indexes


def build_index(
    documents: Iterable[Document], where: Path, enrich: bool = False, digest: str | None = None
) -> Path:
    """Build the index of these documents, or reuse it if an earlier call built it.

    `digest` replaces that of the documents, which are then read only if the index is built, and not enriched.
    """
    parts: list[str] = []
    if digest is None:
        documents = list(documents)
        sentences = [sentence for document in documents for sentence in document.sentences]
        if enrich and not any(sentence.features for sentence in sentences):
            parts += ["features", "entities"]
        if enrich and not any(sentence.parse for sentence in sentences):
            parts.append("parse")
        content = hashlib.sha256(repr((esr.__version__, parts)).encode())
        for document in documents:
            text = [(s.id, s.text, sorted(s.features.items()), s.parse) for s in document.sentences]
            content.update(repr((document.id, text)).encode())
        digest = content.hexdigest()
    digest_file = where.with_name(f"{where.name}.sha256")
    if not digest_file.exists() or digest_file.read_text("utf-8") != digest:
        digest_file.unlink(missing_ok=True)
        # Without titles: in the papers, a document consists of its sentences.
        options = LoadOptions(if_exists="replace", analyzer=ANALYZER, title=False)
        open_writer(str(where), options).load(Located(str(where), d) for d in documents)
        if parts:
            with esr.open(str(where)) as index:
                index.enrich(*parts)  # type: ignore[arg-type]
        digest_file.write_text(digest, "utf-8")
    return where


def open_grid(system: System, start: Ranking, protocol: Protocol) -> Grid:
    """The values to try for each parameter that the ranking leaves open."""
    if system.is_fixed:
        return {}
    grid = build_default_grid(start) if system.grid is None else system.grid
    return {name: protocol.grid.get(name.rpartition(".")[2], values) for name, values in grid.items()}


def open_kept_results(year: Year, work: Path, protocol: Protocol, collection: str = "year") -> KeptResults:
    """The results of earlier calls with the same data and protocol.

    `collection` names the documents that are searched, if they are not those of the year.
    """
    documents = hashlib.sha256()
    for document in year.documents:
        texts = [(s.id, s.text, sorted(s.features.items()), s.parse) for s in document.sentences]
        documents.update(repr((document.id, texts)).encode())
    digest = make_digest(
        *(esr.__version__, dataclasses.asdict(protocol), collection, documents.hexdigest()),
        *([(task.topic, task.query, task.relevant) for task in year.tasks], sorted(year.allowed.items())),
        sorted((topic, sorted(grades.items())) for topic, grades in year.qrels.items()),
    )
    return KeptResults(work / year.name / "results.jsonl", digest)


class YearExperiment:
    """Trains and tests systems on the topics of one year. Results that were kept are not computed again."""

    def __init__(
        self,
        year: Year,
        topic_indexes: list[TopicIndex],
        protocol: Protocol,
        kept: KeptResults | None = None,
    ) -> None:
        self.year = year
        self._topic_indexes = topic_indexes
        self._protocol = protocol
        self._tuners = [Tuner(i.searcher, i.tasks, OBJECTIVE, protocol.depth) for i in topic_indexes]
        self._evaluator = measures.Evaluator(EVALUATED, year.qrels)
        self._figures: dict[str, SystemFigures] = {}
        self._estimates: dict[tuple[str, str], Estimates] = {}
        self._kept = kept
        self._features = set(BUILTIN_FEATURES).union(
            set.intersection(*(set(index.searcher.index.status(Features())) for index in topic_indexes))
        )
        self._has_parses = any(index.searcher.index.status(HasParses()) for index in topic_indexes)

    def can_run(self, system: System) -> bool:
        """Whether the year has the features and parses that the system needs."""
        has_feature = system.feature is None or system.feature[0] in self._features
        return self.year.name in system.years and has_feature and (self._has_parses or not system.uses_parses)

    def has_feature(self, feature: str) -> bool:
        return feature in self._features

    def read_feature(self, feature: str) -> dict[str, float]:
        """The known values of a feature by sentence, in the documents of the topics."""
        values: dict[str, float] = {}
        for searcher, tasks in self._topic_indexes:
            ids = dict.fromkeys(id for task in tasks for id in self.year.sentences(task.topic))
            values |= read_feature(searcher, list(ids), feature)
        return values

    def train(
        self, systems: Iterable[str] = SYSTEMS, tick: Callable[[str], None] = lambda name: None
    ) -> dict[str, TrainedSystem]:
        """The best setting of every system that can run, in this order. `tick` is called with each name."""
        trained: dict[str, TrainedSystem] = {}
        for system in (SYSTEMS[name] for name in systems):
            if self.can_run(system) and (not system.base or system.base in trained):
                trained[system.name] = self._train_system(system, trained)
            tick(system.name)
        return trained

    def _train_system(self, system: System, trained: Mapping[str, TrainedSystem]) -> TrainedSystem:
        if system.feature is None:
            inherited = {name: trained[other].ranking.params[name] for other, name in system.inherits}
            candidates = self._protocol.candidates(system.ranking.model)
            params = {**system.ranking.params, **inherited}
            return self._tune(system, replace(system.ranking, params=params, candidates=candidates))
        base = trained[system.base].ranking
        feature, form = system.feature
        curve = self.estimate(base, feature).curve(form) if get_form(form).is_trained else None
        adjustment = Adjustment(feature, form, curve=curve)
        return self._tune(system, replace(base, features=(*base.features, adjustment)))

    def _tune(self, system: System, start: Ranking) -> TrainedSystem:
        grid = open_grid(system, start, self._protocol)
        settings = expand_grid(start, grid)
        key = "train", system.name, start.as_dict(), {name: list(values) for name, values in grid.items()}
        found = self._kept.find(*key) if self._kept else None
        if found is None:
            means = np.hstack([tuner.compute_figures(settings) for tuner in self._tuners]).mean(axis=1)
            best = int(np.argmax(means))
            found = {"best": best, "figure": float(means[best])}
            if self._kept:
                self._kept.keep(*key, result=found)
        return TrainedSystem(settings[found["best"]], found["figure"], len(settings))

    def estimate(self, base: Ranking, feature: str) -> Estimates:
        """The estimates for a feature over a base, from all topics of the year."""
        key = json.dumps(base.as_dict(), sort_keys=True), feature
        if key not in self._estimates:
            counts = [count_feature_values(i.searcher, i.tasks, base, feature) for i in self._topic_indexes]
            self._estimates[key] = estimate_indep_and_floe(add_counts(counts), EstimationOptions())
        return self._estimates[key]

    def test(self, ranking: Ranking) -> SystemFigures:
        """The figures of a setting on the run that `esr run` would write."""
        key = json.dumps(ranking.as_dict(), sort_keys=True)
        if key not in self._figures:
            found = self._kept.find("test", key) if self._kept else None
            if found is None:
                run = self.run(ranking)
                values = self._evaluator.evaluate(run)
                found = {"values": values, "top_length": self._measure_top_length(run)}
                if self._kept:
                    self._kept.keep("test", key, result=found)
            self._figures[key] = SystemFigures(
                found["values"], mean_values(found["values"]), found["top_length"]
            )
        return self._figures[key]

    def run(self, ranking: Ranking, *, restricted: bool = True) -> Scores:
        """The scores of every topic's sentences, best first.

        Unless `restricted`, documents of all topics are searched.
        """
        run: Scores = {}
        for searcher, tasks in self._topic_indexes:
            for task in tasks:
                filters = task.filters if restricted else NO_FILTERS
                try:
                    answer = searcher.search(
                        task.query,
                        self._protocol.depth,
                        ranking=ranking,
                        filters=filters,
                        records=False,
                        literal=True,
                    )
                except UnsearchableQuery:  # only stop words: no answer
                    continue
                if answer.incomplete:
                    raise EsrError(f"topic {task.topic}: the answer is incomplete: {answer.incomplete}")
                lines = (line.split() for line in format_lines(task.topic, answer.hits, "esr"))
                run[task.topic] = {words[2]: float(words[4]) for words in lines}
        return run

    def _measure_top_length(self, run: Scores) -> float:
        """The mean length of the top sentences of a topic, averaged over topics with an answer."""
        lengths = self.year.lengths
        tops = [[lengths[s] for s in list(scores)[:TOP] if s in lengths] for scores in run.values()]
        means = [np.mean(top) for top in tops if top]
        return float(np.mean(means)) if means else 0.0


def mean_values(values: measures.Values) -> dict[str, float]:
    """The means over topics by measure."""
    return {name: math.fsum(by_topic.values()) / len(by_topic) for name, by_topic in values.items()}


_BATCH = 500


def read_feature(searcher: Searcher, ids: Sequence[str], feature: str) -> dict[str, float]:
    """The known values of a feature by sentence."""
    column = feature_column(feature)
    values: dict[str, float] = {}
    for start in range(0, len(ids), _BATCH):
        batch = ids[start : start + _BATCH]
        numbers = searcher.index.read(batch, EvidenceOf([], [column])).columns[column].tolist()
        values |= {id: n for id, n in zip(batch, numbers, strict=True) if not math.isnan(n)}
    return values


def add_counts(counts: Sequence[ValueCounts]) -> ValueCounts:
    """The counts of several indexes together."""
    if len(counts) == 1:
        return counts[0]
    values = np.unique(np.concatenate([each.values for each in counts]))
    sums = {name: np.zeros(len(values), np.int64) for name in ("everywhere", "relevant", "top")}
    for each in counts:
        places = np.searchsorted(values, each.values)
        for name, total in sums.items():
            total[places] += getattr(each, name)
    return ValueCounts(values, **sums)


# The topics of both years in one collection

READINGS = {
    "topic": "the documents of the topic",
    "pooled": "the documents of all topics of both years",
    "aquaint": "all of AQUAINT",
}
CROSSED = "crossed"
"""The reading in which each topic is ranked with parameters trained on the other year."""
POOLED_SYSTEMS = (
    "tfisf",
    "kld",
    *(model + suffix for suffix in MRF_SUFFIXES.values() for model in MRF_MODELS),
)
Pooled = dict[tuple[str, str], dict[str, SystemFigures]]
Tick = Callable[[str], None]


def cross(
    experiments: Mapping[str, YearExperiment], trained: Mapping[str, Mapping[str, TrainedSystem]]
) -> dict[str, SystemFigures]:
    """Each system on the topics of both years, with its setting of the other year."""
    figures = {}
    for system in POOLED_SYSTEMS:
        if not all(system in trained[year] for year in BOTH_YEARS):
            continue
        values: measures.Values = {name: {} for name in EVALUATED}
        for year, other in zip(BOTH_YEARS, reversed(BOTH_YEARS), strict=True):
            for name, by_topic in experiments[year].test(trained[other][system].ranking).values.items():
                values[name] |= by_topic
        figures[system] = SystemFigures(values, mean_values(values), 0.0)
    return figures


def measure_pooled(
    years: Mapping[str, Year], aquaint: Sequence[Path], work: Path, protocol: Protocol, tick: Tick
) -> Pooled:
    """The systems in one collection of both years' documents, and in AQUAINT if there is any.

    Empty unless there are both years.
    """
    if not set(BOTH_YEARS) <= set(years):
        return {}
    documents = {document.id: document for year in BOTH_YEARS for document in years[year].documents}
    collections = {"pooled": "pooled"}
    tick("indexing both years")
    places = {"pooled": build_index(documents.values(), work / "pooled" / "index", protocol.enrich)}
    if aquaint:
        tick("indexing AQUAINT")
        digest = collections["aquaint"] = _digest(documents, aquaint)
        places["aquaint"] = build_index(
            _read_aquaint(documents, aquaint), work / "aquaint" / "index", digest=digest
        )
    pooled: Pooled = {}
    for reading, place in places.items():
        with ExitStack() as stack:
            searcher = stack.enter_context(open_searcher(str(place)))
            experiments = {}
            for name in BOTH_YEARS:
                tasks = [dataclasses.replace(task, filters=NO_FILTERS) for task in years[name].tasks]
                kept = open_kept_results(years[name], work, protocol, _name_pool(years, collections[reading]))
                experiments[name] = YearExperiment(years[name], [TopicIndex(searcher, tasks)], protocol, kept)
            trained = {
                name: experiment.train(POOLED_SYSTEMS, lambda system, r=reading: tick(f"{r} {system}"))  # type: ignore[misc]
                for name, experiment in experiments.items()
            }
            pooled[CROSSED, reading] = cross(experiments, trained)
    return pooled


def _name_pool(years: Mapping[str, Year], collection: str) -> str:
    """A name for the documents of both years together that changes with them."""
    texts = [[(d.id, [s.text for s in d.sentences]) for d in years[year].documents] for year in BOTH_YEARS]
    return make_digest(collection, texts)


def _read_aquaint(documents: Mapping[str, Document], files: Sequence[Path]) -> Iterator[Document]:
    """The documents of AQUAINT. Those that are in the track are replaced by the track's version."""
    yield from documents.values()
    for path in files:
        for _, document in read_documents([str(path)], "trec"):
            if document.id not in documents:
                yield document


def _digest(documents: Mapping[str, Document], files: Sequence[Path]) -> str:
    states = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in files]
    texts = [(id, [(s.id, s.text, s.parse) for s in d.sentences]) for id, d in documents.items()]
    return hashlib.sha256(repr((states, texts)).encode()).hexdigest()
