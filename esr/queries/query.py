"""What a query says: groups of clauses, in the order in which they were typed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Literal, NamedTuple

from msgspec import Struct

from esr.queries.fields import TEXT
from esr.queries.notes import Note

Form = Literal["word", "phrase", "prefix"]
Role = Literal["wanted", "required", "excluded"]

OPERATORS = frozenset({"AND", "NOT", "OR"})
"""The words that operate on their neighbours, or look as if they did."""


class Clause(NamedTuple):
    """One thing to look for. `text` is what was typed, without sign, field, quotes and star.

    `field` is `TEXT` or the name of a field in `FIELDS`. The clause takes the characters from `start` to
    `end` of the query, with its sign or its NOT.
    """

    field: str
    form: Form
    text: str
    start: int
    end: int


class Group(NamedTuple):
    """Clauses of which a sentence has to match one, if required, or none, if excluded, or may match any.

    Only a required group has several alternatives. A group takes the characters from `start` to `end` of the
    query, with the ORs between its alternatives.
    """

    role: Role
    alternatives: tuple[Clause, ...]
    start: int
    end: int


class ParsedQuery(Struct, frozen=True):
    """The text of a query and what it says. Each character that is no white space is in one group."""

    text: str
    groups: tuple[Group, ...]
    notes: tuple[Note, ...] = ()

    def __str__(self) -> str:
        """The query in a uniform spelling, which is parsed to the same groups."""
        return " ".join(map(self._print_group, self.groups))

    @property
    def is_plain(self) -> bool:
        """Is the whole text words, with no syntax?"""
        for group in self.groups:  # noqa: SIM110  # every search asks, and a generator takes twice as long
            if group.role != "wanted":
                return False
        return True

    @property
    def wanted_runs(self) -> tuple[tuple[int, int], ...]:
        """The longest slices of the text, as start and end, that have wanted words and white space only.

        A run should be analysed as a whole: what an analyzer makes of a word may depend on its neighbours.
        """
        if self.is_plain:  # as most are
            return ((self.groups[0].start, self.groups[-1].end),) if self.groups else ()
        runs = groupby(self.groups, key=lambda group: group.role == "wanted")
        wanted = [list(run) for is_wanted, run in runs if is_wanted]
        return tuple((run[0].start, run[-1].end) for run in wanted)

    def without(self, group: Group) -> str:
        """The text without this group, which is one of `groups`. It says the same otherwise.

        Operators that were read as words are written in lower case: beside new neighbours they might operate.
        """
        text = "".join(self._lower_operators())
        remaining = text[: group.start].strip(), text[group.end :].strip()
        return " ".join(filter(None, remaining))

    def _lower_operators(self) -> Iterator[str]:
        """The pieces of the text, each as long as before."""
        position = 0
        for group in self.groups:
            if group.role == "wanted" and group.alternatives[0].text in OPERATORS:
                yield self.text[position : group.start]
                yield self.text[group.start : group.end].lower()
                position = group.end
        yield self.text[position:]

    def _print_group(self, group: Group) -> str:
        first = group.alternatives[0]
        is_bare_word = first.form == "word" and first.field == TEXT and len(group.alternatives) == 1
        sign = {"wanted": "", "required": "+" if is_bare_word else "", "excluded": "-"}[group.role]
        return sign + " OR ".join(map(self._print_clause, group.alternatives))

    def _print_clause(self, clause: Clause) -> str:
        field = "" if clause.field == TEXT else f"{clause.field}:"
        match clause.form:
            case "word":
                return field + clause.text
            case "prefix":
                return f"{field}{clause.text}*"
            case "phrase":
                # With the quotation marks that were typed: the text may contain others.
                quoted = self.text[clause.end - len(clause.text) - 2 : clause.end]
                return field + quoted
