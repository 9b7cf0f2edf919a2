"""Objectives of tuning: measures computed from the ranks of the relevant sentences.

The figures equal those of trec_eval on the run that `esr run` would write: the best `depth` sentences, with
scores in single precision and ties by descending id. A test compares them with `esr evaluate`.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from esr.errors import UsageError
from esr.evaluation.tuning.judged_candidates import JudgedCandidates
from esr.plans.evidence import Array
from esr.plans.top_k import top_k

Ranks = npt.NDArray[np.intp]
Measure = Callable[[Ranks, int], float]
DEPTH = 1000


def rank_relevant(candidates: JudgedCandidates, scores: Array, depth: int = DEPTH) -> Ranks:
    """The ranks, from 1, of the relevant sentences among the best `depth`, ascending."""
    scored = np.flatnonzero(np.isfinite(scores))
    top = scored[top_k(scores[scored], depth)]
    is_relevant = np.isin(top, candidates.relevant)
    with np.errstate(over="ignore"):
        single = scores[top].astype(np.float32)
    is_tied = np.isin(single, single[is_relevant]) & _find_repeated(single)
    if is_tied.any():
        order = _order_ties_by_id(single, top, is_tied, candidates)
        is_relevant = is_relevant[order]
    return np.flatnonzero(is_relevant) + 1


def _find_repeated(descending: npt.NDArray[np.float32]) -> npt.NDArray[np.bool_]:
    """Which values of a descending array occur more than once."""
    equals_next = descending[1:] == descending[:-1]
    return np.asarray(np.append(equals_next, False) | np.append(False, equals_next))


def _order_ties_by_id(
    single: npt.NDArray[np.float32],
    top: Ranks,
    is_tied: npt.NDArray[np.bool_],
    candidates: JudgedCandidates,
) -> Ranks:
    names = np.array(
        [candidates.sentence_id(int(row)) if tied else "" for row, tied in zip(top, is_tied, strict=True)]
    )
    descending = len(top) - np.unique(names, return_inverse=True)[1]
    return np.lexsort((descending, -single))


def parse_objective(name: str) -> Measure:
    """AP, RR, RPrec, P@k or R@k. Raises UsageError for other measures, which need more than ranks."""
    if name in _WITHOUT_CUTOFF:
        return _WITHOUT_CUTOFF[name]
    match = re.fullmatch(r"([PR])@(\d+)", name)
    if not match or not int(match[2]):
        raise UsageError(f"cannot tune for {name!r}: choose AP, RR, RPrec, P@k or R@k, such as P@10")
    k = int(match[2])
    if match[1] == "P":
        return lambda ranks, judged: int((ranks <= k).sum()) / k
    return lambda ranks, judged: int((ranks <= k).sum()) / judged if judged else 0.0


def _average_precision(ranks: Ranks, judged: int) -> float:
    total = 0.0
    for number, rank in enumerate(ranks.tolist(), 1):  # in trec_eval's order, for an equal last digit
        total += number / rank
    return total / judged if judged else 0.0


def _reciprocal_rank(ranks: Ranks, judged: int) -> float:
    return 1.0 / int(ranks[0]) if len(ranks) else 0.0


def _r_precision(ranks: Ranks, judged: int) -> float:
    return int((ranks <= judged).sum()) / judged if judged else 0.0


_WITHOUT_CUTOFF: dict[str, Measure] = {
    "AP": _average_precision,
    "RR": _reciprocal_rank,
    "RPrec": _r_precision,
}
