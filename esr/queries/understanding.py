"""How a query was read, for people: each group with its place, and why what is ignored is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple
from unicodedata import normalize

from esr.analysis import Analyzer
from esr.queries.fields import TEXT
from esr.queries.interpretation import are_shouted, is_searchable, ranked_texts, terms_of_word
from esr.queries.query import Clause, Group, ParsedQuery

Reading = Literal["wanted", "required", "excluded", "ignored"]


class ReadGroup(NamedTuple):
    """A group of a query and how it is read; why, if it is ignored."""

    group: Group
    reading: Reading
    reason: str | None = None

    @property
    def label(self) -> str:
        """The group as people read it: without its sign, phrases in quotes."""
        return " or ".join(map(_label, self.group.alternatives))

    def as_dict(self) -> dict[str, Any]:
        """The group as JSON, with its place in the query."""
        clauses = [{"field": c.field, "form": c.form, "text": c.text} for c in self.group.alternatives]
        place = {"start": self.group.start, "end": self.group.end}
        return {"reading": self.reading, **place, "clauses": clauses, "reason": self.reason}


def _label(clause: Clause) -> str:
    field = "" if clause.field == TEXT else f"{clause.field}: "
    match clause.form:
        case "phrase":
            return f"{field}“{clause.text.strip()}”"
        case "prefix":
            return f"{field}{clause.text}*"
        case _:
            return field + clause.text


def read_groups(parsed: ParsedQuery, analyzer: Analyzer, require_all: bool = False) -> Iterator[ReadGroup]:
    """How each group of a query is read. `require_all`: a sentence needs every wanted word."""
    is_shouted = are_shouted(ranked_texts(parsed), analyzer)
    for group in parsed.groups:
        text = normalize("NFC", group.alternatives[0].text)
        if not is_searchable(group):
            yield ReadGroup(group, "ignored", "there is no letter or digit in it")
        elif group.role != "wanted":
            yield ReadGroup(group, group.role)
        elif terms_of_word(text.lower() if is_shouted else text, analyzer):
            yield ReadGroup(group, "required" if require_all else "wanted")
        else:
            yield ReadGroup(group, "ignored", "it is a stop word")
