"""Embargoes: agencies send articles in advance, which must not be searchable before their release."""

from __future__ import annotations

from datetime import UTC, datetime

from esr.documents.dates import parse_date_start
from esr.documents.newspaper_dates import to_iso_date

REASON = "under embargo"


def is_active(until: str) -> bool:
    """Whether an embargo until this date is still active. One without a readable date always is."""
    date = to_iso_date(until)
    return date is None or parse_date_start(date) > _now().timestamp() * 1000


def _now() -> datetime:
    return datetime.now(UTC)
