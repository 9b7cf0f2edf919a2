"""All arguments of searches, in one table.

Each row says what an argument means, which values it has, what takes it, and how the form shows it. The
options of commands, the keywords of Python, the parser of addresses, the form and its short addresses, the
OpenAPI document, docs/api.md and the tools of assistants are made from it.
"""

from __future__ import annotations

from functools import cache

from esr.arguments.argument import ASSISTANT, Argument, Group
from esr.arguments.filters import FILTERS
from esr.arguments.operations import OF_INDEX
from esr.arguments.reading import READING
from esr.arguments.tables.alerts import ALERTS
from esr.arguments.tables.assistants import ASSISTANTS, TOOL
from esr.arguments.tables.corpus import CORPUS
from esr.arguments.tables.counting import COUNTS
from esr.arguments.tables.dossiers import DOSSIERS
from esr.arguments.tables.evidence import EVIDENCE_ROWS
from esr.arguments.tables.hit_fields import HITS
from esr.arguments.tables.lists import LISTS
from esr.arguments.tables.rankings import RANKING, SECOND_RANKING
from esr.arguments.types import FieldName, Text, WholeNumber
from esr.text.attributes import ATTRIBUTES, META

_LOOKUPS: tuple[Argument, ...] = (
    Argument(
        "field",
        "what to list: meta lists the keys of the metadata, meta.desk the values of one",
        FieldName(names=("source", *ATTRIBUTES, META, "entity")),
        "values",
        is_required=True,
    ),
    Argument("size", "how many to list", WholeNumber(high=100, usual=10), "values"),
    Argument(
        "text",
        "what to make terms of",
        Text("query_chars", 1),
        "analyze",
        is_required=True,
    ),
    Argument(
        "text",
        "a quotation, or a text with several in quotation marks",
        Text("query_chars", 1),
        "check",
        is_required=True,
        is_positional=True,
    ),
    Argument("text", "the text to check", Text("query_chars"), "checked"),
    Argument("id", "the id of the document", Text(min_chars=1), "document sentence", is_required=True),
    Argument(
        "id", "the id of a document", Text(min_chars=1), "documents", is_required=True, is_repeatable=True
    ),
    Argument(
        "id",
        "the id of the sentence",
        Text(min_chars=1),
        "similar explain",
        is_required=True,
    ),
    Argument("says", "a digest of the text of the sentence", Text(), "sentence", is_required=True),
    Argument("lost", "yes: the sentence is no longer in the document", Text(), "shown"),
    Argument("limit", "how many completions to list", WholeNumber(high=20, usual=8), "complete"),
    Argument("index", "the name of an index, where several are served", Text(), f"page sentence {OF_INDEX}"),
)
"""What is read by its name, and which index is asked."""
TABLE: tuple[Argument, ...] = (
    *_LOOKUPS,
    *LISTS,
    *HITS,
    *READING,
    *COUNTS,
    *CORPUS,
    *EVIDENCE_ROWS,
    *ALERTS,
    *DOSSIERS,
    *FILTERS,
    *RANKING,
    *SECOND_RANKING,
    *ASSISTANTS,
)


@cache
def rows(*operations: str) -> dict[str, Argument]:
    """The arguments of operations and pages by name, in the order of `operations`."""
    by_name: dict[str, Argument] = {}
    for operation in operations:
        for row in TABLE:
            if row.is_for(operation):
                by_name.setdefault(row.name, row)
    return by_name


def tool_arguments(tool: str) -> dict[str, Argument]:
    """The arguments that a tool of assistants may take, by its names for them.

    Of the filters, these are only those that all tools take.
    """
    accepted = rows(TOOL + tool, ASSISTANT, tool).values()
    return {row.name_at(ASSISTANT): row for row in accepted if row.group != "filter" or row.is_for(ASSISTANT)}


PAGE = rows("page")
"""The arguments of every page: those of a search."""
REPEATABLE = frozenset(row.name for row in TABLE if row.is_repeatable)
"""Arguments that may be given more than once."""
FORMER_NAMES = frozenset(alias.name for row in TABLE for alias in row.aliases)
"""Former names of arguments, some of which are names of others now."""


def names_of(group: Group) -> tuple[str, ...]:
    """The names of the arguments of pages in a group."""
    return tuple(row.name for row in PAGE.values() if row.group == group)
