"""Names that rise: those that the latest days mention more than the days before.

Days without articles are left out, so that a gap in the collection makes no name rise or fall.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from esr.following.timeline import name_of
from esr.index.contract import Index
from esr.index.filters import Filters
from esr.index.names import ENTITY_TYPES, entity_key
from esr.index.questions import ByDay, ByField, DayCounts
from esr.plans.plan import HasEntity

DAYS = 4
"""Number of days with articles in each of the two periods."""
SHOWN_DAYS = 18
"""Number of days, up to the last one, whose counts a rising name has."""
_COUNTED, _LEAST, _WIDEN = 200, 5, 3
"""Names counted of each type, least number of sentences of the latest days with a rising name, and number
of names that are counted exactly for each that is listed."""


class RisingName(NamedTuple):
    """A name, its numbers of sentences in both periods, and that of each of the SHOWN_DAYS, oldest first.

    A day without articles has None.
    """

    name: str
    type: str
    before: int
    latest: int
    days: Sequence[int | None]


class Rise(NamedTuple):
    """The names that rise, the most surprising first, and the first day of the latest period (2017-03-27)."""

    names: Sequence[RisingName]
    since: str


def find_rising_names(index: Index, days: DayCounts, most: int) -> Rise | None:
    """The names that rise in the latest days, at most `most`. `days` counts the sentences of each day.

    None if the collection has too few days with articles. Days are numbers since 1970-01-01 in UTC.
    """
    with_articles = sorted(days)[-2 * DAYS :]
    if len(with_articles) < 2 * DAYS:
        return None
    before, latest = with_articles[:DAYS], with_articles[DAYS:]
    old, new = (_count(index, part) for part in (before, latest))
    totals = [sum(days[day] for day in part) for part in (latest, before)]
    risen = {
        key: score
        for key, count in new.items()
        if count >= _LEAST and (score := _surprise(count, old.get(key, 0), *totals)) > 0
    }
    candidates = sorted(risen, key=lambda key: (-risen[key], key))[: _WIDEN * most]
    if not candidates:
        return Rise((), name_of(latest[0], "day"))
    # A name may be displayed in another form in each period: those that may rise are counted by their keys.
    shown = range(min(before[0], latest[-1] - SHOWN_DAYS + 1), latest[-1] + 1)
    conditions = [HasEntity((entity_key(type, name),)) for type, name in candidates]
    rising = []
    for (type, name), of_days in zip(
        candidates, index.count(conditions, _between(shown[0], shown[-1]), ByDay()), strict=True
    ):
        counts = [sum(of_days.get(day, 0) for day in part) for part in (latest, before)]
        bars = [of_days.get(day, 0) if day in days else None for day in shown[-SHOWN_DAYS:]]
        rising.append((_surprise(*counts, *totals), RisingName(name, type, counts[1], counts[0], bars)))
    rising.sort(key=lambda item: (-item[0], item[1].name))
    names = [name for score, name in rising if score > 0]
    return Rise(names[:most], name_of(latest[0], "day"))


def _between(first: int, last: int) -> Filters:
    return Filters(date_from=name_of(first, "day"), date_to=name_of(last, "day"))


def _count(index: Index, days: Sequence[int]) -> dict[tuple[str, str], int]:
    """The number of sentences of a period with each name, by type and name."""
    (counts,) = index.count([None], _between(days[0], days[-1]), ByField(ENTITY_TYPES, _COUNTED))
    return {(type, name): count for type, values in counts.items() for name, count in values}


def _surprise(new: int, old: int, total_new: int, total_old: int) -> float:
    """The log-likelihood ratio of a count that is greater than expected, otherwise 0.

    It is the measure of keyness, without a sign.
    """
    share = (new + old) / (total_new + total_old)
    if new <= share * total_new:
        return 0.0
    of_old = old * math.log(old / (share * total_old)) if old else 0.0
    return 2 * (new * math.log(new / (share * total_new)) + of_old)
