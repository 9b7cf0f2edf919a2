"""Measures of runs, as ir_measures computes them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from esr.errors import UsageError, unknown
from esr.extras import require

if TYPE_CHECKING:
    from ir_measures import Measure

DEFAULT = ("P@10", "AP", "RPrec", "RR", "nDCG@10", "R@1000")

MAX_CUTOFF = 1_000_000
MAX_NUMBER = 1000

Values = dict[str, dict[str, float]]
"""Values by measure, named as it was asked for, and topic."""

# Blanks and commas stand between names, but also within brackets, as in "P(rel=2, judged_only=True)@5".
_NAME = re.compile(r"(?:[^\s,()]|\([^()]*\))+")
_PARTS = re.compile(r"(?P<name>\w+)(?:\((?P<params>.*)\))?(?:@(?P<at>\S+))?")
_FORM = "a measure is written as AP, P@10 or nDCG(judged_only=True)@10"


def names(text: str) -> list[str]:
    """The measures named in a text, as in "AP P@10", each once. Whether they exist is for `parse` to say."""
    if _NAME.sub("", text).strip(" \t\r\n,"):
        raise UsageError(f"not a list of measures: {text!r}; {_FORM}")
    return list(dict.fromkeys(_NAME.findall(text)))


def parse(name: str) -> Measure:
    """The measure of this name. Raises UsageError if there is none, with the nearest one that is."""
    require("a measure of runs", "ir_measures")
    import ir_measures

    parts = _PARTS.fullmatch(name)
    if parts is None:
        raise UsageError(f"not a measure: {_short(name)}; {_FORM}")
    registry: Mapping[str, Measure] = ir_measures.measures.registry
    if parts["name"] not in registry:
        raise _unknown(parts["name"], registry)
    measure: Measure = registry[parts["name"]]
    try:
        params = _literals(parts["params"] or "")
        if parts["at"]:
            params[measure.AT_PARAM] = ast.literal_eval(parts["at"])
        if not all(map(_is_sound, params, params.values())):
            raise AssertionError(
                f"a cutoff is from 1 to {MAX_CUTOFF:,}, any other number from 0 to {MAX_NUMBER}"
            )
        for param in params.keys() - measure.SUPPORTED_PARAMS.keys():
            raise unknown(f"parameter of {parts['name']}", param, measure.SUPPORTED_PARAMS)
        measure = measure(**params)
        ir_measures.evaluator([measure], {})
    except AssertionError as error:  # this is how ir_measures refuses parameters
        what = re.sub(r"=<object.*>", " is missing", str(error))
        raise UsageError(f"not a measure: {_short(name)}: {what}") from None
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError) as error:
        what = f"{error}" if "nsupported" in str(error) else _FORM
        raise UsageError(f"not a measure: {_short(name)}: {' '.join(what.split())}") from None
    return measure


def _unknown(name: str, known: Iterable[str]) -> UsageError:
    """An error with the nearest name. It is often only the case that differs."""
    folded = {each.casefold(): each for each in reversed(list(known))}  # not an alias, if it can be
    near = get_close_matches(name.casefold(), folded, n=1, cutoff=0.0)
    return UsageError(f"unknown measure {_short(name)}: did you mean {folded[near[0]]!r}?")


def _short(name: str) -> str:
    return repr(name if len(name) <= 60 else f"{name[:60]}…")


def _is_sound(name: str, value: Any) -> bool:
    """Whether ir_measures can be asked for it: with a cutoff of 0 the process would crash."""
    if isinstance(value, dict):
        return all(type(each) is int and 0 <= each <= MAX_NUMBER for each in (*value, *value.values()))
    if isinstance(value, (int, float)):
        return 1 <= value <= MAX_CUTOFF if name == "cutoff" else 0 <= value <= MAX_NUMBER
    return isinstance(value, str)


def _literals(params: str) -> dict[str, Any]:
    """The values in `rel=2, judged_only=True`. Raises ValueError or SyntaxError."""
    call = ast.parse(f"f({params})", mode="eval").body
    if not isinstance(call, ast.Call) or call.args or any(keyword.arg is None for keyword in call.keywords):
        raise ValueError
    return {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}


class Evaluator:
    """Some measures over some judgements, made ready for many runs."""

    def __init__(self, names: Sequence[str], qrels: Mapping[str, Mapping[str, int]]) -> None:
        """Raises UsageError for an unknown measure."""
        require("a measure of runs", "ir_measures")
        import ir_measures

        self.measures = {name: parse(name) for name in names}
        copied = {topic: dict(grades) for topic, grades in qrels.items()}
        # ir_measures may compute a measure with the gains or the cut to judged sentences of another one
        # that it is asked for in one go. So only those without such parameters go together.
        plain = [m for m in self.measures.values() if set(m.params) <= {m.AT_PARAM}]
        groups = [plain] if plain else []
        groups += [[m] for m in self.measures.values() if m not in plain]
        self._evaluators = [ir_measures.evaluator(group, copied) for group in groups]

    def evaluate(self, run: Mapping[str, Mapping[str, float]]) -> Values:
        """The values of a run for every topic of the judgements.

        A topic that the run lacks has the value of an empty answer, as with `trec_eval -c`; topics
        without judgements are passed over.
        """
        copied = {topic: dict(scores) for topic, scores in run.items()}
        found: dict[Measure, dict[str, float]] = {measure: {} for measure in self.measures.values()}
        for evaluator in self._evaluators:
            for topic, measure, value in evaluator.iter_calc(copied):
                found[measure][topic] = value
        return {name: found[measure] for name, measure in self.measures.items()}


def evaluate(
    names: Sequence[str], qrels: Mapping[str, Mapping[str, int]], run: Mapping[str, Mapping[str, float]]
) -> Values:
    """The values of a run by measure and topic: see `Evaluator`. Raises UsageError for an unknown measure."""
    return Evaluator(names, qrels).evaluate(run)


def mean(name: str, values: Iterable[float]) -> float:
    """One figure for many topics: the mean, or the sum for measures that count, such as NumRet."""
    aggregate = parse(name).aggregator()
    for value in values:
        aggregate.add(value)
    return float(aggregate.result())
