"""The filters of grants: queries that restrict an index to some of its documents."""

from __future__ import annotations

from esr.errors import UsageError
from esr.plans.plan import Condition
from esr.query import parse
from esr.query.interpretation import interpret
from esr.query.query import has_relative_dates
from esr.text.analyzer import get_analyzer
from esr.text.analyzer_definitions import WORDS_ANALYZER
from esr.text.attributes import is_attribute

FIELDS = ("source", "author", "section", "keyword", "language", "before", "after", "meta.KEY")
"""The fields that a restriction may name: only those of documents, so a document is visible as a whole."""


def parse_restriction(text: str) -> Condition:
    """The condition of a query that names fields of documents only. Raises UsageError."""
    parsed = parse(text)
    clauses = [clause for group in parsed.groups for clause in group.clauses]
    bad = next((c for c in clauses if c.field not in FIELDS and not is_attribute(c.field)), None)
    reason = parsed.notes[0].message if parsed.notes else ""
    if has_relative_dates(parsed):
        reason = "write a day, such as 2017-03-05"
    condition = None if reason else interpret(parsed, get_analyzer(WORDS_ANALYZER)).condition
    if bad is not None or condition is None:
        reason = reason or f"use only the fields {', '.join(FIELDS)}"
        raise UsageError(f"cannot filter by {text!r}: {reason}")
    return condition
