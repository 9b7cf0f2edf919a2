"""What the static parts of a plan come to by document. It is made once per commit, for any query."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from esr.engines.embedded.search import gather
from esr.engines.segments.reader.document_table import per_document
from esr.plans.evaluate import static_part
from esr.plans.evidence import Array
from esr.plans.plan import Static

if TYPE_CHECKING:
    from esr.engines.segments.reader.snapshot import Snapshot

KEPT = 16


class Standing(NamedTuple):
    """One static, or several together.

    `most` it adds in each document, of shape (D,), -inf where no sentence has a value; the `greatest` it adds
    or takes anywhere; which sentences have a value, of shape (sentences,), None if all.
    """

    most: Array
    greatest: float
    valued: npt.NDArray[np.bool_] | None


def standing(statics: Sequence[Static], snapshot: Snapshot) -> Standing:
    """Of all these statics together."""
    each = [_kept(static, snapshot) for static in statics]
    masks = [one.valued for one in each if one.valued is not None]
    return Standing(
        reduce(np.add, (one.most for one in each), np.zeros(len(snapshot.spans.size))),
        sum(one.greatest for one in each),
        reduce(np.logical_and, masks) if masks else None,
    )


def added(statics: Sequence[Static], snapshot: Snapshot) -> npt.NDArray[np.float32]:
    """What all these statics add to each sentence, of shape (sentences,); -inf where one has no value."""
    key = tuple(statics)
    found = snapshot.added.get(key)
    if found is None:
        segments = range(len(snapshot.segments))
        each = [
            np.concatenate([np.zeros(0), *(_adds(static, snapshot, n) for n in segments)]) for static in key
        ]
        every = reduce(np.add, each)
        found = np.where(np.isfinite(every), every, -np.inf).astype(np.float32)
        if len(snapshot.added) >= KEPT:
            snapshot.added.clear()
        snapshot.added[key] = found
    return found


def _kept(static: Static, snapshot: Snapshot) -> Standing:
    known = snapshot.standing
    found = known.get(static)
    if found is None:
        if len(known) >= KEPT:
            known.clear()
        found = known[static] = _made(static, snapshot)
    return found


def _made(static: Static, snapshot: Snapshot) -> Standing:
    adds = np.concatenate([np.zeros(0), *(_adds(static, snapshot, n) for n in range(len(snapshot.segments)))])
    valued = np.isfinite(adds)
    if valued.all():
        greatest = float(np.abs(adds).max(initial=0.0))
        return Standing(per_document(np.maximum, adds, snapshot.spans, -np.inf), greatest, None)
    greatest = float(np.abs(adds[valued]).max(initial=0.0))
    adds[~valued] = -np.inf
    return Standing(per_document(np.maximum, adds, snapshot.spans, -np.inf), greatest, valued)


def _adds(static: Static, snapshot: Snapshot, owner: int) -> Array:
    segment = snapshot.segments[owner]
    importance = snapshot.importance_for([static.column], owner)
    column = gather.column(static.column, segment, importance, np.arange(segment.sentence_count))
    return static_part(static, column)
