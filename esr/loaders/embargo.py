"""Embargoes: what an agency sends ahead must not be found before its time."""

from __future__ import annotations

from datetime import UTC, datetime

from esr.documents.dates import instant
from esr.documents.written_dates import iso

WHY = "under embargo"


def holds(until: str) -> bool:
    """Whether an embargo until this date still holds. One without a date that can be read always does."""
    date = iso(until)
    return date is None or instant(date) > _now().timestamp() * 1000


def _now() -> datetime:
    return datetime.now(UTC)
