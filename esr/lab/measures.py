"""Evaluation measures, which ir_measures computes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from esr.plugin import UsageError
from esr.plugin.provisional import find_moved, require, unknown

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

        self.measures: dict[str, Measure] = {name: parse(name) for name in names}
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


def __getattr__(name: str) -> Any:
    return find_moved(__name__, name)
