"""What an alert would have told in the last days of a collection: to choose its conditions by."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from esr.alerts.alert_conditions import Conditions
from esr.alerts.choices import PREVIEW_DAYS
from esr.alerts.matching import Match, count_days, run_search
from esr.alerts.usual import judge_day
from esr.index.contract import Index
from esr.index.filters import NO_FILTERS
from esr.index.hits import SentenceRecord
from esr.index.questions import ByDay, Records
from esr.text.dates import DAY, normalise_date, parse_date_start

EXAMPLES = 10
_HUNDREDTHS = range(30, 96)
"""Least similarities that a preview of meaning compares: .3 to .95."""
_COARSE = 5
FEW = 1_000
"""Number of sentences up to which least similarities are compared in hundredths, above in twentieths."""
_MOST_READ = 20_000


class Preview(Struct, frozen=True):
    """What an alert would have told.

    `first` and `last` are the days, `by_day` the number of sentences of each day with any. `examples` are the
    newest sentences, or those least similar that just suffice for an alert by meaning. `by_similarity` has
    for such an alert the number of sentences at each least similarity. `unusual` are the days that an alert
    of unusual days would have told. `incomplete`: `by_day` has only so many of the sentences.
    """

    first: str
    last: str
    sentences: int
    by_day: Mapping[str, int]
    examples: Sequence[Mapping[str, Any]]
    by_similarity: Mapping[str, int]
    unusual: Sequence[str] = ()
    incomplete: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """The preview as JSON."""
        return {name: getattr(self, name) for name in self.__struct_fields__}


def preview_alert(index: Index, conditions: Conditions, days: int = PREVIEW_DAYS) -> Preview:
    """What an alert would have told of the last `days` days of a snapshot, by the dates of the documents.

    The last day is that of the newest document. Raises UsageError for conditions that cannot be searched.
    """
    dated = index.count([None], NO_FILTERS, ByDay())[0]
    last = max(dated, default=0)
    start = (last - days + 1) * DAY
    if conditions.filters.date_from is not None:
        start = max(start, conditions.filters.date_from)
    filters = replace(conditions.filters, date_from=start)
    wide = replace(conditions, similarity=_HUNDREDTHS[0] / 100) if conditions.like else conditions
    matches = run_search(index, replace(wide, unusual=False), filters)
    by_similarity = _count_by_similarity(matches) if conditions.like else {}
    if conditions.like:
        matches = [match for match in matches if _similarity(match) >= conditions.similarity]
        matches.sort(key=_similarity)  # stable: newest first of the same similarity
    read = matches[:_MOST_READ]
    ids = [match.sentence_id for match in read]
    records = index.read(ids, Records()) if ids else []
    by_day = Counter(map(_day_of, records))
    unusual: list[str] = []
    if conditions.unusual:
        counts, totals = count_days(index, conditions)
        judged = range(last - days + 1, last + 1)
        unusual = [_name_day(day) for day in judged if judge_day(counts, day, totals)]
    return Preview(
        _name_day(start // DAY),
        _name_day(last),
        len(matches),
        dict(sorted(by_day.items())),
        _choose_examples(read, records),
        by_similarity,
        unusual,
        None if len(read) == len(matches) else len(read),
    )


def _similarity(match: Match) -> float:
    """The similarity of a match of an alert by meaning."""
    assert match.similarity is not None
    return match.similarity


def _count_by_similarity(matches: Sequence[Match]) -> dict[str, int]:
    """The number of matches at each least similarity, closer together where they are few."""
    similarities = sorted(map(_similarity, matches))
    counts = {n: len(similarities) - bisect_left(similarities, n / 100) for n in _HUNDREDTHS}
    return {
        f"{n / 100:.2f}": number
        for n, number in counts.items()
        if n % _COARSE == 0 or (FEW >= number != counts[n + 1])
    }


def _choose_examples(matches: Sequence[Match], records: Sequence[SentenceRecord]) -> list[dict[str, Any]]:
    return [
        {
            "sentence_id": record.sentence_id,
            "text": record.text,
            "date": record.date,
            "source": record.source,
            "score": match.score,
            "similarity": match.similarity,
        }
        for match, record in list(zip(matches, records, strict=True))[:EXAMPLES]
    ]


def _day_of(record: SentenceRecord) -> str:
    assert record.date is not None  # the filters have a first day
    return _name_day(parse_date_start(normalise_date(record.date)) // DAY)


def _name_day(day: int) -> str:
    return datetime.fromtimestamp(day * DAY / 1000, UTC).date().isoformat()
