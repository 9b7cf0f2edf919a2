"""When digests are due, also on the days on which clocks change."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from esr.alerts.schedule import read_schedule
from esr.errors import UsageError


def due_times(text: str, zone: str, start: datetime, count: int) -> list[str]:
    schedule, times = read_schedule(text, zone), []
    moment = start
    for _ in range(count):
        moment = schedule.next_after(moment)
        times.append(moment.astimezone(ZoneInfo(zone)).isoformat(timespec="minutes"))
    return times


def test_a_daily_digest_comes_at_the_same_time_by_the_clock_before_and_after_a_change() -> None:
    start = datetime(2024, 3, 29, 12, tzinfo=UTC)
    assert due_times("daily 07:30", "Europe/Berlin", start, 3) == [
        "2024-03-30T07:30+01:00",
        "2024-03-31T07:30+02:00",
        "2024-04-01T07:30+02:00",
    ]


def test_a_time_that_a_change_skips_is_an_hour_later_and_each_day_has_one_digest() -> None:
    assert due_times("daily 02:30", "Europe/Berlin", datetime(2024, 3, 30, 12, tzinfo=UTC), 2) == [
        "2024-03-31T03:30+02:00",
        "2024-04-01T02:30+02:00",
    ]


def test_a_time_that_comes_twice_is_due_once() -> None:
    assert due_times("daily 02:30", "Europe/Berlin", datetime(2024, 10, 26, 12, tzinfo=UTC), 2) == [
        "2024-10-27T02:30+02:00",
        "2024-10-28T02:30+01:00",
    ]


def test_hours_are_those_of_the_clock_of_the_zone() -> None:
    start = datetime(2024, 1, 1, 0, 10, tzinfo=UTC)
    assert due_times("hourly", "Asia/Kolkata", start, 2) == [
        "2024-01-01T06:00+05:30",
        "2024-01-01T07:00+05:30",
    ]
    # Lord Howe changes its clocks by half an hour.
    change = datetime(2024, 4, 6, 14, 10, tzinfo=UTC)
    times = due_times("hourly", "Australia/Lord_Howe", change, 4)
    assert all(":00+" in time for time in times) and len(set(times)) == 4


def test_a_week_has_one_digest_on_its_day() -> None:
    start = datetime(2024, 10, 20, tzinfo=UTC)
    assert due_times("weekly Friday 9:05", "America/New_York", start, 3) == [
        "2024-10-25T09:05-04:00",
        "2024-11-01T09:05-04:00",
        "2024-11-08T09:05-05:00",
    ]


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/Sao_Paulo", "Pacific/Apia", "Africa/Casablanca"])
def test_a_year_of_days_has_a_digest_on_each(zone: str) -> None:
    schedule = read_schedule("daily 00:30", zone)
    moment, days = datetime(2023, 12, 31, 12, tzinfo=UTC), []
    for _ in range(366):
        moment = schedule.next_after(moment)
        days.append(moment.astimezone(ZoneInfo(zone)).date())
    assert days == [days[0] + timedelta(n) for n in range(366)]


def test_an_hour_is_due_at_its_first_moment_and_a_time_once() -> None:
    hourly = read_schedule("hourly").next_after(datetime(2024, 1, 1, 7, 59, 59, 999, tzinfo=UTC))
    assert hourly == datetime(2024, 1, 1, 8, tzinfo=UTC)
    assert read_schedule("hourly").next_after(hourly) == datetime(2024, 1, 1, 9, tzinfo=UTC)
    moment = datetime(2024, 1, 1, 8, tzinfo=UTC)  # a Monday
    for usual, days in (("daily", 1), ("Weekly", 7), ("weekly tuesday", 1), ("weekly monday 8:01", 0)):
        due = read_schedule(usual).next_after(moment)
        assert due.date() == (moment + timedelta(days)).date() and due.hour == 8
    assert read_schedule("daily 23:59").next_after(moment).minute == 59


@pytest.mark.parametrize(
    "text",
    [
        *("often", "daily monday", "weekly 25:00", "weekly someday 08:00", "daily 8"),
        *("daily 24:00", "daily 8:60"),
    ],
)
def test_an_unknown_schedule_is_an_error_with_the_known_ones(text: str) -> None:
    with pytest.raises(UsageError, match=r"weekly monday 08:00"):
        read_schedule(text)


def test_an_unknown_zone_is_an_error() -> None:
    with pytest.raises(UsageError, match="Europe/Berlin"):
        read_schedule("hourly", "Mars/Olympus")
