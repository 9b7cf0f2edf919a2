"""Judgements, evaluation measures, and the significance of differences between two systems.

ir_measures computes the measures. Judgements (qrels) are lines of `qid 0 sentence_id grade`, or of the
Novelty track's `N12 docno:num`. Differences are tested by paired tests over topics, with Holm's correction.

A pool has the sentences to judge: the best of several runs, each once, in an order that reveals neither run
nor rank. Kappa measures the agreement of two sets of judgements.
"""

from __future__ import annotations

import ast
import math
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from esr.plugin import InputError, UsageError
from esr.plugin.provisional import EngineIndex as Index
from esr.plugin.provisional import (
    Line,
    Records,
    Scores,
    hash64,
    is_dataset,
    line_error,
    malformed_line,
    read_entries,
    require,
    sort_sentences,
    unknown,
)
from esr.plugin.provisional import read_topic_lines as read_lines

if TYPE_CHECKING:
    from ir_measures import Measure


DEFAULT = ("P@10", "AP", "RPrec", "RR", "nDCG@10", "R@1000")

MAX_CUTOFF = 1_000_000
MAX_NUMBER = 1000

Values = dict[str, dict[str, float]]
"""Values by measure, as named by the caller, and by topic."""

# Blanks and commas separate names, but also occur in parentheses, as in "P(rel=2, judged_only=True)@5".
_NAME = re.compile(r"(?:[^\s,()]|\([^()]*\))+")
_PARTS = re.compile(r"(?P<name>\w+)(?:\((?P<params>.*)\))?(?:@(?P<cutoff>\S+))?")
_FORM = "write a measure like AP, P@10 or nDCG(judged_only=True)@10"


def split_names(text: str) -> list[str]:
    """Split a text like "AP P@10" into names, each once.

    Does not check that the measures exist: `parse` does.
    """
    if _NAME.sub("", text).strip(" \t\r\n,"):
        raise UsageError(f"not a list of measures: {text!r}; {_FORM}")
    return list(dict.fromkeys(_NAME.findall(text)))


def parse(name: str) -> Measure:
    """The measure with this name. Raises UsageError, with the nearest name if there is no such measure."""
    require("a measure of runs", "ir_measures")
    import ir_measures

    parts = _PARTS.fullmatch(name)
    if parts is None:
        raise UsageError(f"not a measure: {_quote(name)}; {_FORM}")
    registry: Mapping[str, Measure] = ir_measures.measures.registry
    if parts["name"] not in registry:
        raise _unknown_measure(parts["name"], registry)
    measure: Measure = registry[parts["name"]]
    try:
        params = _parse_literals(parts["params"] or "")
        if parts["cutoff"]:
            params[measure.AT_PARAM] = ast.literal_eval(parts["cutoff"])
        if not all(map(_is_safe, params, params.values())):
            raise AssertionError(
                f"a cutoff must be from 1 to {MAX_CUTOFF:,}, any other number from 0 to {MAX_NUMBER}"
            )
        for param in params.keys() - measure.SUPPORTED_PARAMS.keys():
            raise unknown(f"parameter of {parts['name']}", param, measure.SUPPORTED_PARAMS)
        measure = measure(**params)
        ir_measures.evaluator([measure], {})
    except AssertionError as error:  # ir_measures rejects parameters by assertions
        problem = re.sub(r"=<object.*>", " is missing", str(error))
        raise UsageError(f"not a measure: {_quote(name)}: {problem}") from None
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError) as error:
        problem = f"{error}" if "nsupported" in str(error) else _FORM
        raise UsageError(f"not a measure: {_quote(name)}: {' '.join(problem.split())}") from None
    return measure


def _unknown_measure(name: str, registered: Iterable[str]) -> UsageError:
    """An error that suggests the nearest name. Often only the case differs."""
    # Reversed, so that a name takes precedence over a later alias.
    by_folded = {candidate.casefold(): candidate for candidate in reversed(list(registered))}
    near = get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.0)
    return UsageError(f"unknown measure {_quote(name)}: did you mean {by_folded[near[0]]!r}?")


def _quote(name: str) -> str:
    return repr(name if len(name) <= 60 else f"{name[:60]}…")


def _is_safe(name: str, value: Any) -> bool:
    """Whether ir_measures can handle the value. Some values crash the process, such as a cutoff of 0."""
    if isinstance(value, dict):
        return all(type(number) is int and 0 <= number <= MAX_NUMBER for number in (*value, *value.values()))
    if isinstance(value, (int, float)):
        return 1 <= value <= MAX_CUTOFF if name == "cutoff" else 0 <= value <= MAX_NUMBER
    return isinstance(value, str)


def _parse_literals(params: str) -> dict[str, Any]:
    """Parse parameters like `rel=2, judged_only=True`. Raises ValueError or SyntaxError."""
    call = ast.parse(f"f({params})", mode="eval").body
    if not isinstance(call, ast.Call) or call.args or any(keyword.arg is None for keyword in call.keywords):
        raise ValueError
    return {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}


class Evaluator:
    """Computes measures of many runs on the same judgements."""

    def __init__(self, names: Sequence[str], qrels: Mapping[str, Mapping[str, int]]) -> None:
        """Raises UsageError for an unknown measure."""
        require("a measure of runs", "ir_measures")
        import ir_measures

        self.measures = {name: parse(name) for name in names}
        judgements = {topic: dict(grades) for topic, grades in qrels.items()}
        # When ir_measures computes several measures at once, one may inherit the gains or the restriction to
        # judged sentences of another. Only measures without such parameters are computed together.
        plain = [m for m in self.measures.values() if set(m.params) <= {m.AT_PARAM}]
        groups = [plain] if plain else []
        groups += [[m] for m in self.measures.values() if m not in plain]
        self._evaluators = [ir_measures.evaluator(group, judgements) for group in groups]

    def evaluate(self, run: Mapping[str, Mapping[str, float]]) -> Values:
        """The values of a run for every judged topic.

        A topic that is missing in the run gets the value of an empty answer, as with `trec_eval -c`. Topics
        without judgements are ignored.
        """
        copied_run = {topic: dict(scores) for topic, scores in run.items()}
        by_measure: dict[Measure, dict[str, float]] = {measure: {} for measure in self.measures.values()}
        for evaluator in self._evaluators:
            for topic, measure, value in evaluator.iter_calc(copied_run):
                by_measure[measure][topic] = value
        return {name: by_measure[measure] for name, measure in self.measures.items()}


def evaluate(
    names: Sequence[str], qrels: Mapping[str, Mapping[str, int]], run: Mapping[str, Mapping[str, float]]
) -> Values:
    """The values of a run by measure and topic, as from `Evaluator`.

    Raises UsageError for an unknown measure.
    """
    return Evaluator(names, qrels).evaluate(run)


def mean(name: str, values: Iterable[float]) -> float:
    """The aggregate over topics: the mean, or the sum for measures that count, such as NumRet."""
    aggregate = parse(name).aggregator()
    for value in values:
        aggregate.add(value)
    return float(aggregate.result())


# Judgements


Qrels = dict[str, dict[str, int]]
"""Grades by topic and sentence. Grades above 0 are relevant, and higher is better."""

MAX_GRADE = 1000
_TREC = "qid 0 sentence_id grade"
_NOVELTY = "qid docno:num"
_BATCH = 500


def read_qrels(path: str | Path) -> Qrels:
    """The judgements of a file, in its order, or of `ir_datasets:NAME`.

    The file may be compressed; its first line determines the format. Lines of the Novelty track have grade 1.
    A line may be repeated. Raises InputError for a malformed line, conflicting grades of a sentence, or a
    file without judgements.
    """
    judgements: Qrels = {}
    if is_dataset(path):
        for entry in read_entries(path, "qrels"):
            judgements.setdefault(entry.query_id, {})[entry.doc_id] = int(entry.relevance)
        return judgements
    is_novelty: bool | None = None
    for line in read_lines(path):
        words = line.text.split()
        if is_novelty is None:
            is_novelty = len(words) == 2
        topic, sentence, grade = (_parse_novelty if is_novelty else _parse_trec)(path, line, words)
        first_grade = judgements.setdefault(topic, {}).setdefault(sentence, grade)
        if first_grade != grade:
            problem = f"sentence {sentence} has two grades in topic {topic}, {first_grade} and {grade}"
            raise line_error(path, line, f"{problem}: remove one of the lines")
    if not judgements:
        raise InputError(str(path), f"contains no judgements: it needs lines of {_TREC}")
    return judgements


def _parse_trec(path: str | Path, line: Line, words: Sequence[str]) -> tuple[str, str, int]:
    if len(words) != 4:
        raise malformed_line(path, line, _TREC)
    try:
        grade = int(words[3])
    except ValueError:
        raise malformed_line(path, line, f"{_TREC} with an integer as the grade") from None
    if abs(grade) > MAX_GRADE:
        raise malformed_line(path, line, f"a grade from -{MAX_GRADE} to {MAX_GRADE}")
    return words[0], words[2], grade


def _parse_novelty(path: str | Path, line: Line, words: Sequence[str]) -> tuple[str, str, int]:
    document, _, number = words[-1].rpartition(":")
    if len(words) != 2 or not document or not number:
        raise malformed_line(path, line, _NOVELTY)
    return words[0], words[1], 1


def without_relevant(qrels: Mapping[str, Mapping[str, int]]) -> list[str]:
    """The topics without a relevant sentence. Every run scores 0 on them."""
    return [topic for topic, grades in qrels.items() if all(grade <= 0 for grade in grades.values())]


def unknown_sentences(qrels: Mapping[str, Mapping[str, int]], index: Index) -> list[str]:
    """The judged sentences that are not in the index, in the order of the qrels."""
    judged = list(dict.fromkeys(sentence for grades in qrels.values() for sentence in grades))
    return [
        sentence
        for start in range(0, len(judged), _BATCH)
        for sentence in _find_missing(judged[start : start + _BATCH], index)
    ]


def _find_missing(ids: list[str], index: Index) -> Iterator[str]:
    """The ids that are not in the index.

    An index only reports that some are missing, so the ids are bisected.
    """
    try:
        index.read(ids, Records())
    except UsageError:
        if len(ids) == 1:
            yield ids[0]
            return
        yield from _find_missing(ids[: len(ids) // 2], index)
        yield from _find_missing(ids[len(ids) // 2 :], index)


# Significance


RESAMPLES = 10_000
SEED = 0
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class SystemComparison:
    """A system compared with a baseline, topic by topic.

    `difference` is the mean of the topics' differences; `low` and `high` are its 95 % confidence interval by
    the t distribution; `effect` is the mean in standard deviations of the differences. `t_test` and
    `randomisation` are two-sided p-values of the paired tests, and `…_holm` the same after Holm's correction.
    Values that need more than one topic are NaN if there is only one.
    """

    topics: int
    difference: float
    low: float
    high: float
    t_test: float
    randomisation: float
    t_test_holm: float
    randomisation_holm: float
    wins: int
    ties: int
    losses: int
    effect: float = math.nan

    @property
    def mark(self) -> str:
        """`**` if the corrected t-test is significant at 99 %, `*` at 95 %, else an empty string."""
        return "**" if self.t_test_holm < 0.01 else "*" if self.t_test_holm < 0.05 else ""

    def as_dict(self) -> dict[str, Any]:
        """The fields for JSON, with None for NaN."""
        return {k: None if isinstance(v, float) and math.isnan(v) else v for k, v in asdict(self).items()}


def compare_systems(
    a: Mapping[str, float], b: Mapping[str, float], *, resamples: int = RESAMPLES, seed: int = SEED
) -> SystemComparison:
    """Compare the values by topic of a system `a` with those of a baseline `b`.

    The randomisation test swaps the two values of topics at random, `resamples` times, or in all possible
    ways if there are no more than that; with 0 it is left out, and its p is NaN. It is deterministic for a
    seed. The corrected p-values are those of a single comparison: see `correct_p_values`. Raises UsageError
    if the topics differ or there are none.
    """
    if a.keys() != b.keys() or not a:
        raise UsageError("two systems can only be compared over the same topics, at least one")
    ours = np.array([a[topic] for topic in a], dtype=float)
    theirs = np.array([b[topic] for topic in a], dtype=float)
    wins, losses = int((ours > theirs).sum()), int((ours < theirs).sum())
    low, high, t_test = _t_test(ours, theirs)
    randomisation = _randomisation_test(ours, theirs, resamples, seed) if resamples else math.nan
    return SystemComparison(
        topics=len(ours),
        difference=float(np.mean(ours - theirs)),
        low=low,
        high=high,
        t_test=t_test,
        randomisation=randomisation,
        t_test_holm=t_test,
        randomisation_holm=randomisation,
        wins=wins,
        ties=len(ours) - wins - losses,
        losses=losses,
        effect=_effect_size(ours - theirs),
    )


def correct_p_values(comparisons: Sequence[SystemComparison]) -> list[SystemComparison]:
    """The comparisons with their p-values corrected by Holm's method over all of them."""
    t_tests = correct_by_holm([c.t_test for c in comparisons])
    randomisations = correct_by_holm([c.randomisation for c in comparisons])
    return [
        replace(comparison, t_test_holm=t, randomisation_holm=r)
        for comparison, t, r in zip(comparisons, t_tests, randomisations, strict=True)
    ]


def correct_by_holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction, in the same order. NaN stays NaN and does not count."""
    ascending = sorted((p, n) for n, p in enumerate(p_values) if not math.isnan(p))
    corrected, maximum = [math.nan] * len(p_values), 0.0
    for step, (p, n) in enumerate(ascending):
        maximum = max(maximum, min(1.0, (len(ascending) - step) * p))
        corrected[n] = maximum
    return corrected


def _effect_size(differences: Any) -> float:
    """Cohen's d of paired values, 0 without any difference. NaN for one topic, and for equal differences."""
    if len(differences) < 2 or (np.ptp(differences) == 0 and differences.any()):
        return math.nan
    return float(np.mean(differences) / (np.std(differences, ddof=1) or 1.0))


def _t_test(ours: Any, theirs: Any) -> tuple[float, float, float]:
    """The confidence interval of the difference, and p. Equal systems have p = 1 instead of 0/0."""
    require("a t-test", "scipy")
    from scipy.stats import ttest_rel

    if len(ours) < 2:
        return math.nan, math.nan, math.nan
    if np.array_equal(ours, theirs):
        return 0.0, 0.0, 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # equal differences in all topics: p = 0
        result = ttest_rel(ours, theirs)
        interval = result.confidence_interval(CONFIDENCE)
    return float(interval.low), float(interval.high), float(result.pvalue)


def _randomisation_test(ours: Any, theirs: Any, resamples: int, seed: int) -> float:
    require("a randomisation test", "scipy")
    from scipy.stats import permutation_test

    if len(ours) < 2:
        return math.nan
    result = permutation_test(
        (ours, theirs),
        lambda ours, theirs, axis: np.mean(ours - theirs, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=resamples,
        batch=_BATCH,
        rng=np.random.default_rng(seed),
    )
    return float(result.pvalue)


# Pools, and the agreement of judges

Pool = dict[str, list[str]]
"""Sentences by topic."""


def make_pool(runs: Sequence[Scores], depth: int, judged: Mapping[str, Mapping[str, int]] = {}) -> Pool:
    """The first `depth` sentences of each run by topic, without those that are judged already.

    Within a topic, sentences are sorted by a hash, so that the order depends on no run.
    """
    pool: Pool = {}
    for topic in dict.fromkeys(topic for run in runs for topic in run):
        best = {sentence for run in runs for sentence in sort_sentences(run.get(topic, {}))[:depth]}
        left = best - judged.get(topic, {}).keys()
        if left:
            pool[topic] = sorted(left, key=lambda sentence: (hash64(f"{topic}\n{sentence}"), sentence))
    return pool


def condense(run: Scores, qrels: Mapping[str, Mapping[str, int]]) -> Scores:
    """The run without unjudged sentences. A judged topic without any judged sentence remains, empty."""
    return {
        topic: {sentence: score for sentence, score in scores.items() if sentence in qrels.get(topic, {})}
        for topic, scores in run.items()
    }


class Agreement(NamedTuple):
    """The agreement of two judges on the sentences that both judged. Kappas are NaN if all grades are equal.

    `counts[a, b]`: number of sentences with grade `grades[a]` by the first and `grades[b]` by the second
    judge. `kappa`: for relevant or not; `weighted`: for grades, weighted by their distance.
    """

    grades: Sequence[int]
    counts: npt.NDArray[np.int64]
    kappa: float
    weighted: float

    @property
    def sentences(self) -> int:
        return int(self.counts.sum())

    @property
    def agreed(self) -> float:
        """The share of the sentences that both call relevant, or both not."""
        return float(np.trace(_binary(self)) / self.sentences)


def measure_agreement(a: Qrels, b: Qrels) -> Agreement:
    """The agreement of two judges. Raises UsageError if they share no sentence of a topic."""
    pairs = list(_pair_grades(a, b))
    if not pairs:
        raise UsageError("the two have no sentence in common: both must judge the same topics and sentences")
    grades, places = np.unique(np.array(pairs), return_inverse=True)
    counts = np.zeros((len(grades), len(grades)), np.int64)
    np.add.at(counts, tuple(places.reshape(-1, 2).T), 1)
    agreement = Agreement(grades.tolist(), counts, np.nan, np.nan)
    distances = np.abs(grades[:, None] - grades[None, :])
    return agreement._replace(
        kappa=kappa(_binary(agreement), 1 - np.eye(2)), weighted=kappa(counts, distances)
    )


def kappa(counts: npt.ArrayLike, weights: npt.ArrayLike) -> float:
    """Cohen's weighted kappa (docs/formulas.md, I); NaN if the disagreement expected by chance is 0."""
    observed, weights = np.asarray(counts, float), np.asarray(weights, float)
    total = observed.sum()
    expected = np.outer(observed.sum(1), observed.sum(0)) / total
    chance = float((weights * expected).sum())
    return 1 - float((weights * observed).sum()) / chance if chance else float("nan")


def _binary(agreement: Agreement) -> npt.NDArray[np.int64]:
    """The (2, 2) counts of not relevant and relevant, by the first and the second judge."""
    sides = np.array(agreement.grades) > 0
    member = np.stack([~sides, sides]).astype(np.int64)
    return member @ agreement.counts @ member.T


def _pair_grades(a: Qrels, b: Qrels) -> Iterator[tuple[int, int]]:
    for topic, grades in a.items():
        theirs = b.get(topic, {})
        yield from ((grade, theirs[sentence]) for sentence, grade in grades.items() if sentence in theirs)
