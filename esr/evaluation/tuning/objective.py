"""What tuning maximises: measures computed from where the relevant sentences stand.

The figures are those of trec_eval over the run that `esr run` would write: the best `depth` sentences, in
single precision, as trec_eval reads them, with equal ones by id, the greatest first. A test holds them to
`esr evaluate`.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from esr.errors import UsageError
from esr.evaluation.tuning.pool import JudgedPool
from esr.plans.evidence import Array
from esr.plans.top_k import top_k

Ranks = npt.NDArray[np.intp]
Measure = Callable[[Ranks, int], float]
DEPTH = 1000


def ranks(pool: JudgedPool, values: Array, depth: int = DEPTH) -> Ranks:
    """The ranks, from 1, of the relevant sentences that are in the best `depth`, ascending."""
    valued = np.flatnonzero(np.isfinite(values))
    kept = valued[top_k(values[valued], depth)]
    relevant = np.isin(kept, pool.relevant)
    single = values[kept].astype(np.float32)
    tied = np.isin(single, single[relevant]) & _repeated(single)
    if tied.any():
        order = _with_ties_by_id(single, kept, tied, pool)
        relevant = relevant[order]
    return np.flatnonzero(relevant) + 1


def _repeated(falling: npt.NDArray[np.float32]) -> npt.NDArray[np.bool_]:
    """Which values stand more than once, in an array that does not rise."""
    same = falling[1:] == falling[:-1]
    return np.asarray(np.append(same, False) | np.append(False, same))


def _with_ties_by_id(
    single: npt.NDArray[np.float32], kept: Ranks, tied: npt.NDArray[np.bool_], pool: JudgedPool
) -> Ranks:
    names = np.array([pool.name(int(p)) if t else "" for p, t in zip(kept, tied, strict=True)])
    greatest_first = len(kept) - np.unique(names, return_inverse=True)[1]
    return np.lexsort((greatest_first, -single))


def measure(name: str) -> Measure:
    """AP, RR, RPrec, P@k or R@k. Raises UsageError for another: tuning needs one that ranks decide."""
    if name in _PLAIN:
        return _PLAIN[name]
    cut = re.fullmatch(r"([PR])@(\d+)", name)
    if not cut or not int(cut[2]):
        raise UsageError(f"cannot tune for {name!r}: choose AP, RR, RPrec, P@k or R@k, as P@10")
    k = int(cut[2])
    if cut[1] == "P":
        return lambda found, judged: int((found <= k).sum()) / k
    return lambda found, judged: int((found <= k).sum()) / judged if judged else 0.0


def _average_precision(found: Ranks, judged: int) -> float:
    total = 0.0
    for number, rank in enumerate(found.tolist(), 1):  # in the order trec_eval adds, to the last digit
        total += number / rank
    return total / judged if judged else 0.0


def _reciprocal_rank(found: Ranks, judged: int) -> float:
    return 1.0 / int(found[0]) if len(found) else 0.0


def _r_precision(found: Ranks, judged: int) -> float:
    return int((found <= judged).sum()) / judged if judged else 0.0


_PLAIN: dict[str, Measure] = {"AP": _average_precision, "RR": _reciprocal_rank, "RPrec": _r_precision}
