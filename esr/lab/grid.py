"""Find the best parameters of a ranking: on judged topics, or from the collection alone.

A grid has the values to try for each parameter; parameters of features, signals and boosts are named
`part.parameter`, like `subj.w`. All combinations are tried, or one parameter after another (coordinate
ascent). In cross-validation every figure is for a topic that its setting was not trained on.

There are two methods without judgements. `compute_likelihoods` is the textbook method: the likelihood of
held-out words (Zhai & Lafferty 2002 for mu). Its parameters retrieve sentences badly (docs/results.md), so it
only serves as a reference. `generate_tasks` generates pseudo-topics from the collection, on which parameters
are tuned as on judged topics.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from esr.lab.curves import CurveTraining, train_curves
from esr.lab.tuner import Figures, Task, Tuner
from esr.plugin import Document, Mixture, Parameter, PlanTerm, Sentence, Statistics, UsageError
from esr.plugin.provisional import (
    Analyzer,
    Array,
    CollectionStatistics,
    Evidence,
    EvidenceOf,
    Plan,
    Ranking,
    Value,
    concatenate,
    count,
    get_boost,
    get_form,
    get_model,
    score_sentences,
    unknown,
)
from esr.plugin.provisional import EngineIndex as Index

Grid = Mapping[str, Sequence[Value]]


class TunablePart(NamedTuple):
    """A part of a ranking with its own parameters: a feature in a form, a signal or a boost.

    In a grid its parameters are named `name.parameter`, like `subj.w`. `values` has those that the ranking
    sets.
    """

    name: str
    parameters: Sequence[Parameter]
    values: Mapping[str, Value]


def tunable_parts(ranking: Ranking) -> list[TunablePart]:
    """The parts of a ranking that have parameters, except its model."""
    return [
        *(TunablePart(f.feature, get_form(f.form).parameters, f.params) for f in ranking.features),
        *(TunablePart(s.signal, s.parameters, s.params) for s in ranking.rerank),
        *(TunablePart(name, get_boost(name).parameters, params) for name, params in ranking.boosts.items()),
    ]


def build_default_grid(ranking: Ranking) -> Grid:
    """The default grids of all parameters that the ranking leaves open, of its model and its other parts."""
    model = get_model(ranking.model)
    context = ranking.settings().context
    model_grid = {
        p.name: p.grid
        for p in model.parameters
        if p.grid and p.name not in ranking.params and p.only_with in (None, context)
    }
    return model_grid | {
        f"{part.name}.{p.name}": p.grid
        for part in tunable_parts(ranking)
        for p in part.parameters
        if p.grid and p.name not in part.values
    }


def set_parameters(ranking: Ranking, values: Mapping[str, Value]) -> Ranking:
    """The ranking with these parameters, of any part. Raises UsageError for an invalid one."""
    params, features, rerank = dict(ranking.params), list(ranking.features), list(ranking.rerank)
    boost_params = dict(ranking.boosts)
    for name, value in values.items():
        part, dot, param = name.partition(".")
        if not dot:
            params[name] = value
            continue
        if part in boost_params:
            boost_params[part] = {**boost_params[part], param: value}
            continue
        position = next((n for n, signal in enumerate(rerank) if signal.signal == part), None)
        if position is not None:
            signal = rerank[position]
            rerank[position] = replace(signal, params={**signal.params, param: value})
            continue
        position = _find_feature(ranking, part, param)
        new_params = {**features[position].params, param: value}
        features[position] = replace(features[position], params=new_params)
    return replace(
        ranking, params=params, features=tuple(features), rerank=tuple(rerank), boosts=boost_params
    )


def _find_feature(ranking: Ranking, feature: str, param: str) -> int:
    """The position of the feature, in the form that has the parameter, among those of the ranking."""
    positions = [n for n, f in enumerate(ranking.features) if f.feature == feature]
    if not positions:
        raise unknown("feature of the ranking", feature, [f.feature for f in ranking.features])
    with_param = [
        n for n in positions if param in {p.name for p in get_form(ranking.features[n].form).parameters}
    ]
    if len(with_param) > 1:
        raise UsageError(
            f"{feature}.{param} is ambiguous, two forms of {feature} have it: tune one form at a time"
        )
    return with_param[0] if with_param else positions[0]


def parameter_values(ranking: Ranking) -> dict[str, Value]:
    """The parameters that the ranking sets, under their names in grids."""
    of_parts = {
        f"{part.name}.{name}": value for part in tunable_parts(ranking) for name, value in part.values.items()
    }
    return {**ranking.params, **of_parts}


def parse_grid(texts: Sequence[str]) -> Grid:
    """Parse texts like `name=v1,v2,...`. Raises UsageError for malformed ones."""
    grid: dict[str, list[Value]] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        if not equals or not values.strip(","):
            raise UsageError(f"--grid needs NAME=VALUE,VALUE,..., not {text!r}")
        grid[name.strip()] = [_parse_value(value.strip()) for value in values.split(",") if value.strip()]
    return grid


def expand_grid(ranking: Ranking, grid: Grid) -> list[Ranking]:
    """All valid combinations of the grid.

    Combinations whose shares add up to more than 1 are left out, as in the papers. Raises UsageError if a
    single value is out of range, or if no combination is valid.
    """
    for name, values in grid.items():
        for value in values:
            set_parameters(ranking, {name: value})
    settings = list(_iterate_valid(ranking, grid))
    if not settings:
        raise UsageError(
            "the grid has no valid combination, shares always add up to more than 1: use smaller values"
        )
    return settings


def _iterate_valid(ranking: Ranking, grid: Grid) -> Iterator[Ranking]:
    for values in product(*grid.values()):
        setting = set_parameters(ranking, dict(zip(grid, values, strict=True)))
        if is_valid(setting):
            yield setting


def is_valid(ranking: Ranking) -> bool:
    """Whether the parameters are compatible with each other. Each of them must already be in range."""
    try:
        ranking.plan({}, Statistics(CollectionStatistics(), {}))
    except UsageError:
        return False
    return True


def _parse_value(text: str) -> Value:
    try:
        return float(text)
    except ValueError:
        return text


# Search


Tick = Callable[[int], None]


class TuningResult(NamedTuple):
    """The best setting, its figures of shape (topics,), and all tried settings with their mean figures."""

    ranking: Ranking
    figures: Figures
    tried: list[tuple[Ranking, float]]


def search_grid(tuner: Tuner, ranking: Ranking, grid: Grid, tick: Tick = lambda n: None) -> TuningResult:
    """The best of all combinations of the grid, the first of several equal ones."""
    settings = expand_grid(ranking, grid)
    return _select_best(settings, tuner.compute_figures(settings, tick))


def ascend(tuner: Tuner, ranking: Ranking, grid: Grid, tick: Tick = lambda n: None) -> TuningResult:
    """Coordinate ascent: improve one parameter at a time, until none improves the mean figure.

    No single step of the grid improves the result, but it is not always the global optimum.
    """
    current = ranking
    current_values = parameter_values(current)
    on_grid = all(current_values.get(name) in values for name, values in grid.items())
    if not is_valid(current) or not on_grid:
        current = _choose_start(ranking, grid)
    figures = tuner.compute_figures([current], tick)[0]
    tried = [(current, float(figures.mean()))]
    improved = True
    while improved:
        improved = False
        for name, values in grid.items():
            steps = [set_parameters(current, {name: value}) for value in values]
            valid = [step for step in steps if is_valid(step)]
            best = _select_best(valid, tuner.compute_figures(valid, tick))
            tried += best.tried
            if best.figures.mean() > figures.mean():
                current, figures, improved = best.ranking, best.figures, True
    return TuningResult(current, figures, tried)


def _choose_start(ranking: Ranking, grid: Grid) -> Ranking:
    """The ranking with the values of the grid that are nearest to the defaults."""
    defaults = dict(ranking.settings().values)
    for part in tunable_parts(ranking):
        defaults |= {f"{part.name}.{p.name}": part.values.get(p.name, p.default) for p in part.parameters}
    nearest = {name: _find_nearest(values, defaults[name]) for name, values in grid.items()}
    start = set_parameters(ranking, nearest)
    return start if is_valid(start) else expand_grid(ranking, grid)[0]


def _find_nearest(values: Sequence[Value], target: Value) -> Value:
    """The value nearest to a number. For names it is the target if available, else the first value."""
    numbers = [value for value in values if isinstance(value, float)]
    if isinstance(target, float) and numbers:
        return min(numbers, key=lambda value: abs(value - target))
    return target if target in values else values[0]


def _select_best(settings: Sequence[Ranking], figures: Figures) -> TuningResult:
    means = figures.mean(axis=1)
    best = int(np.argmax(means))
    return TuningResult(settings[best], figures[best], list(zip(settings, means.tolist(), strict=True)))


# Cross-validation


class HasTopic(Protocol):
    @property
    def topic(self) -> str: ...


def split_folds(
    tasks: Sequence[HasTopic], number: int, groups: Mapping[str, str], seed: int = 0
) -> list[list[int]]:
    """Split the tasks into `number` folds, as positions. Topics of a group are in the same fold.

    The split is the same for the same seed. Raises UsageError if there are fewer groups than folds.
    """
    by_group: dict[str, list[int]] = {}
    for position, task in enumerate(tasks):
        by_group.setdefault(groups.get(task.topic, task.topic), []).append(position)
    if not 2 <= number <= len(by_group):
        raise UsageError(
            f"the number of folds must be from 2 to {len(by_group)}, the number of topic groups, not {number}"
        )
    names = sorted(by_group)
    random.Random(seed).shuffle(names)
    folds: list[list[int]] = [[] for _ in range(number)]
    for name in names:
        min(folds, key=len).extend(by_group[name])
    return [sorted(fold) for fold in folds]


WAYS = {"grid": search_grid, "ascent": ascend}


class CrossValidation(NamedTuple):
    """The setting of each fold; for each topic, the setting trained without its fold, and the figure."""

    settings: list[Ranking]
    by_topic: list[Ranking]
    figures: Figures


def train(
    tuner: Tuner,
    ranking: Ranking,
    grid: Grid,
    way: str,
    tick: Tick = lambda n: None,
    curves: Sequence[CurveTraining] = (),
) -> TuningResult:
    """The best setting on all of the tuner's topics.

    Curves are then trained on the same topics, on top of it.
    """
    best = WAYS[way](tuner, ranking, grid, tick)
    if not curves:
        return best
    with_curves = train_curves(tuner.searcher, tuner.tasks, best.ranking, curves)
    return TuningResult(with_curves, tuner.compute_figures([with_curves], tick)[0], best.tried)


def cross_validate(
    tuner: Tuner,
    ranking: Ranking,
    grid: Grid,
    way: str,
    number: int,
    groups: Mapping[str, str],
    tick: Tick = lambda n: None,
    curves: Sequence[CurveTraining] = (),
) -> CrossValidation:
    """Train on all folds but one and test on that one, for each fold. Figures have the shape (topics,)."""
    figures = np.zeros(len(tuner.tasks))
    by_topic = [ranking] * len(tuner.tasks)
    settings = []
    for fold in split_folds(tuner.tasks, number, groups):
        others = sorted(set(range(len(tuner.tasks))) - set(fold))
        best = train(tuner.select_tasks(others), ranking, grid, way, tick, curves).ranking
        settings.append(best)
        figures[fold] = tuner.select_tasks(fold).compute_figures([best])[0]
        for position in fold:
            by_topic[position] = best
    return CrossValidation(settings, by_topic, figures)


def check_disjoint(training: Sequence[Task], test: Sequence[Task]) -> None:
    """Raise UsageError if a topic, or the query of one, is in both sets."""
    ids = {task.topic for task in training} & {task.topic for task in test}
    queries = {task.query.lower() for task in training} & {task.query.lower() for task in test}
    if ids or queries:
        examples = ", ".join(sorted(ids or queries)[:3])
        raise UsageError(
            f"{count(len(ids or queries), 'topic', 'are')} in both training and test ({examples}, …), so the "
            "test is not valid: use other topics or --folds, or allow it by --test-on-training"
        )


# Estimation without judgements: by the likelihood of held-out words


class _HeldOut(NamedTuple):
    """Held-out words: their numbers of occurrences, p(t|C), and the evidence without one occurrence.

    Arrays have the shape (n,), for n pairs of a sentence and one of its terms. The evidence has one term.
    """

    occurrences: Array
    background: Array
    evidence: Evidence


def compute_likelihoods(
    index: Index, settings: Sequence[Ranking], sentences: int, seed: int = 0
) -> npt.NDArray[np.float64]:
    """The mean log likelihood of a held-out word under each setting, of shape (settings,).

    Each word of a sentence is held out in turn, and the model predicts it from the rest of the sentence, its
    context and the collection. Expectation maximisation would converge to the maximum of this likelihood; the
    settings of a grid are tried instead.

    Priors, features and further stages have no effect. Raises UsageError for a model without probabilities,
    and for settings that differ in more than the parameters of the model.
    """
    if any(replace(setting, params=settings[0].params) != settings[0] for setting in settings):
        raise UsageError(
            "the likelihood of words tells nothing of features, signals and boosts: give their parameters, "
            "or use --from pseudo-topics"
        )
    plans = [_plan_single_term(setting) for setting in settings]
    sample = sample_sentences(index, sentences, seed)
    held_out = [
        words
        for sentence in sample
        if (words := _hold_out(index, settings[0], sentence.id, sentence.text)) is not None
    ]
    if not held_out:
        raise UsageError(f"{index.where} has no words: parameters cannot be estimated from it")
    occurrences = np.concatenate([words.occurrences for words in held_out])
    background = np.concatenate([words.background for words in held_out])
    evidence = concatenate([words.evidence for words in held_out])
    means = []
    for plan in plans:
        # Counts are divided by p(t|C), and the single term has p = 1: its score is log p(t|s) - log p(t|C).
        gains = score_sentences(plan, evidence)
        means.append(float(np.average(gains + np.log(background), weights=occurrences)))
    return np.array(means)


def sample_sentences(index: Index, number: int, seed: int) -> list[Sentence]:
    """A random sentence from each of `number` random documents, or of all documents if there are fewer."""
    generator = random.Random(seed)
    total = index.statistics([]).collection.documents
    documents = index.documents(positions=sorted(generator.sample(range(total), min(total, number))))
    return [generator.choice(document.sentences) for document in documents if document.sentences]


def _plan_single_term(setting: Ranking) -> Plan:
    """A plan of the model alone, with a single term."""
    plan = setting.plan({}, Statistics(CollectionStatistics(), {}))
    if not isinstance(plan.transform, Mixture):
        raise UsageError(
            f"{setting.model} has no probabilities, so words have no likelihood: use --from pseudo-topics"
        )
    return replace(plan, terms=(PlanTerm("", 1.0, 1.0),), static_scores=())


def _hold_out(index: Index, ranking: Ranking, sentence_id: str, text: str) -> _HeldOut | None:
    """A sentence's held-out words, or None if it has no terms.

    Holding a word out lowers its count and the length by 1.
    """
    counts = Counter(index.analyzer.terms(text))
    if not counts:
        return None
    terms = ranking.plan(counts, index.statistics(list(counts))).terms
    evidence = index.read([sentence_id], EvidenceOf([term.term for term in terms]))
    p = np.array([term.background for term in terms])
    rest = Evidence(
        {field: ((field_counts[:, 0] - 1.0) / p)[None, :] for field, field_counts in evidence.counts.items()},
        {field: np.repeat(length - 1.0, len(terms)) for field, length in evidence.lengths.items()},
        {},
    )
    return _HeldOut(np.array([float(counts[term.term]) for term in terms]), p, rest)


# Estimation without judgements: on pseudo-topics


FOREIGN = 0.5
"""The share of words drawn from other documents."""
OWN = (0.6, 0.8, 1.0)
"""Shares of the sentence's own words among the other words, each for a third of the topics."""
LENGTHS = range(3, 11)
"""Numbers of words drawn for a topic. A word drawn twice counts once."""
DEFAULT_NUMBER = 300
"""The default number of pseudo-topics. Settings chosen on other samples of this size are as good."""
_MIN_TERMS = 5
"""The minimum number of distinct terms of a source sentence: users seldom look for shorter ones."""
_DOCUMENTS_PER_TOPIC = 4
"""Documents sampled for each topic: one as its source, the others for foreign words."""
_TRIES = 20

Words = list[str]


class _Source(NamedTuple):
    """A document, with the words of each sentence that survive analysis."""

    document: Document
    words: list[Words]


def generate_tasks(index: Index, number: int, seed: int = 0) -> list[Task]:
    """Pseudo-topics from a random sample of documents, the same for a seed on any engine.

    A user who looks for a sentence remembers some of its words and some words around it, and phrases the rest
    differently. Each pseudo-topic is therefore generated from one sentence, its only relevant one. Half of
    its words are drawn from other documents: the user's own phrasing. Of the other half, a share is drawn
    from the sentence, and the rest from its neighbours and its document. Without the foreign half, the
    sentence's own words identify it, and little smoothing seems best (docs/evaluation.md).

    Raises UsageError if no sentence of the collection is long enough.
    """
    generator = random.Random(seed)
    total = index.statistics([]).collection.documents
    positions = generator.sample(range(total), min(total, _DOCUMENTS_PER_TOPIC * number))
    sources = [
        _Source(document, [_select_words(index.analyzer, s.text) for s in document.sentences])
        for document in index.documents(positions=sorted(positions))
    ]
    sources = [source for source in sources if any(source.words)]
    tasks: list[Task] = []
    for _ in range(_TRIES * number) if sources else ():
        source = generator.choice(sources)
        position = generator.randrange(len(source.words))
        if len(index.analyzer.terms(" ".join(set(source.words[position])))) < _MIN_TERMS:
            continue
        own = OWN[len(tasks) % len(OWN)]
        query = dict.fromkeys(_draw_words(generator, sources, source.words, position, own))
        name = f"pseudo-{len(tasks) + 1}"
        tasks.append(Task(name, " ".join(query), (source.document.sentences[position].id,)))
        if len(tasks) == number:
            return tasks
    if not tasks:
        raise UsageError(
            f"{index.where} has no sentence with {_MIN_TERMS} terms: parameters cannot be estimated from it"
        )
    return tasks


def _draw_words(
    generator: random.Random, sources: Sequence[_Source], words: Sequence[Words], position: int, own: float
) -> Iterator[str]:
    """Draw the words of a query for the sentence at a position. Repetitions are possible."""
    neighbours = (position - 1, position + 1)
    near = [word for n in neighbours if 0 <= n < len(words) for word in words[n]]
    rest = [word for n, sentence in enumerate(words) if n != position for word in sentence]
    for _ in range(generator.choice(LENGTHS)):
        if generator.random() < FOREIGN:
            candidates = [word for sentence in generator.choice(sources).words for word in sentence]
        elif generator.random() < own or not rest:
            candidates = sorted(set(words[position]))
        else:
            candidates = near if near and generator.random() < 0.5 else rest
        yield generator.choice(candidates)


def _select_words(analyzer: Analyzer, text: str) -> Words:
    """The words of a text that survive analysis, as they are written. A bigram counts as a word."""
    return [text[token.start : token.end] for token in analyzer.tokens(text)]
