"""The arguments of counts of sentences, by field or over time."""

from __future__ import annotations

from esr.arguments.argument import Argument
from esr.arguments.types import Choice, FieldName, WholeNumber
from esr.following.timeline import INTERVALS, MAX_PEAKS, PEAKS
from esr.index.filters import FACET_FIELDS

SCALES = {"count": "sentences", "rate": "per million sentences"}
COUNTS: tuple[Argument, ...] = (
    Argument(
        "field",
        "a field to count by, also a key of the metadata, as in meta.desk; by default, all but these",
        FieldName(names=tuple(FACET_FIELDS)),
        "facets",
        is_repeatable=True,
    ),
    Argument("size", "how many values of each field to list", WholeNumber(high=1_000, usual=10), "facets"),
    Argument(
        "facet",
        "a field of which the page lists more values",
        FieldName(names=tuple(FACET_FIELDS)),
        "page",
        "arrangement",
    ),
    Argument(
        "interval",
        "count by day, week, month or year; by default, by the finest that is easy to read",
        Choice(labels=dict.fromkeys(INTERVALS, "")),
        "timeline",
    ),
    Argument(
        "scale",
        "rate: the chart shows sentences per million of those of the period, where it has enough",
        Choice(labels=SCALES, usual="count"),
        "timeline",
    ),
    Argument(
        "peaks",
        "how many peaks of each query come with their central sentence",
        WholeNumber(low=0, high=MAX_PEAKS, usual=PEAKS),
        "timeline",
    ),
)
"""Counts of sentences by field or time."""
