"""When digests are due: at once, hourly, daily or weekly, by the clock of a time zone.

A day has one digest, also where clocks change: a time that a change skips is as much later as the change, and
of a time that comes twice, the first counts.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from msgspec import Struct

from esr.alerts.choices import AT_ONCE, DEFAULT_ZONE, HOURLY
from esr.errors import UsageError

DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_USUAL_TIME = "08:00"
_FORM = re.compile(r"(daily|weekly)(?: +([a-z]+))?(?: +(\d{1,2}:\d\d))?")
_HINT = "write at once, hourly, daily 08:00 or weekly monday 08:00"


class Schedule(Struct, frozen=True):
    """When digests are due. `hour` and `minute` are by the clock of the zone; `weekday` is 0 for Monday.

    Without an hour, they are due each hour; `is_at_once`: as soon as there is something.
    """

    zone: str = DEFAULT_ZONE
    hour: int | None = None
    minute: int = 0
    weekday: int | None = None
    is_at_once: bool = False

    def next_after(self, moment: datetime) -> datetime:
        """The first moment after this one at which a digest is due, in UTC. Moments have a time zone."""
        if self.is_at_once:
            return moment.astimezone(UTC)
        zone = ZoneInfo(self.zone)
        if self.hour is None:
            return _next_hour(moment, zone)
        day = moment.astimezone(zone).date()
        while True:
            due = datetime.combine(day, time(self.hour, self.minute), zone).astimezone(UTC)
            if due > moment and self.weekday in (None, day.weekday()):
                return due
            day += timedelta(days=1)


def _next_hour(moment: datetime, zone: ZoneInfo) -> datetime:
    """The next full hour of a clock, which may change by half an hour."""
    minute = timedelta(minutes=1)
    due = moment.astimezone(UTC).replace(second=0, microsecond=0) + minute
    while due.astimezone(zone).minute:
        due += minute
    return due


def read_schedule(text: str = AT_ONCE, zone: str = DEFAULT_ZONE) -> Schedule:
    """Read a schedule such as `weekly monday 08:00` in a zone such as `Europe/Berlin`. Raises UsageError."""
    try:
        ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise UsageError(f"unknown time zone {zone!r}: write one such as Europe/Berlin or UTC") from None
    words = " ".join(text.lower().split())
    if words in (AT_ONCE, HOURLY):
        return Schedule(zone, is_at_once=words == AT_ONCE)
    match = _FORM.fullmatch(words)
    if match is None:
        raise UsageError(f"unknown schedule {text!r}: {_HINT}")
    interval, day, at = match.groups()
    if (interval == "daily" and day) or (day and day not in DAYS):
        raise UsageError(f"unknown schedule {text!r}: {_HINT}")
    hour, minute = map(int, (at or _USUAL_TIME).split(":"))
    if hour > 23 or minute > 59:
        raise UsageError(f"there is no time {at}: {_HINT}")
    weekday = DAYS.index(day or DAYS[0]) if interval == "weekly" else None
    return Schedule(zone, hour, minute, weekday)
