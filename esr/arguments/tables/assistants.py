"""The arguments of the tools of assistants that are not those of the API's operations of the same names.

Those of one tool apply to the tool's name after `TOOL`, and those of all tools to ASSISTANT.
"""

from __future__ import annotations

from esr.arguments.argument import ASSISTANT, Argument
from esr.arguments.types import Choice, Flag, Text, Texts, WholeNumber

TOOL = "tool:"
MAX_LISTED = 1_000
MIN_BUDGET, BUDGET, MAX_BUDGET = 500, 8_000, 100_000
_SPELLED = {ASSISTANT: "query"}
_WINDOW = "how many sentences before and after each to show"


ASSISTANTS: tuple[Argument, ...] = (
    Argument(
        "q",
        'words; also "exact phrases", -excluded, beginnings of words (vaccin*), OR, and fields: '
        'title: source: author: section: keyword: person:"Theresa May" place: '
        "organization: after:2017-03 before:2018",
        Text("query_chars"),
        f"{TOOL}search {TOOL}timeline",
        is_required=True,
        spelled=_SPELLED,
    ),
    Argument(
        "q",
        "count names in the sentences with all of its words",
        Text("query_chars"),
        f"{TOOL}names",
        spelled=_SPELLED,
    ),
    Argument(
        "q",
        "what it is about: the best come first, otherwise the newest",
        Text("query_chars"),
        f"{TOOL}quotes",
        spelled=_SPELLED,
    ),
    Argument(
        "text",
        "a quotation, or a text with several in quotation marks",
        Text("text_chars", 1),
        f"{TOOL}check",
        is_required=True,
    ),
    Argument("text", "the draft", Text("text_chars", 1), f"{TOOL}check_draft", is_required=True),
    Argument(
        "k",
        "how many sentences to return",
        WholeNumber(high="max_k", usual="default_k"),
        f"{TOOL}search {TOOL}quotes",
    ),
    Argument("k", "how many names to list", WholeNumber(high=MAX_LISTED, usual=20), f"{TOOL}names"),
    Argument("k", "how many sources to list", WholeNumber(high=MAX_LISTED, usual=20), f"{TOOL}contents"),
    Argument(
        "sort",
        "the order; score: the best first, without repeats; date: the newest that have all words; "
        "oldest: the oldest of these",
        Choice(labels={"score": "", "date": "", "oldest": ""}, usual="score"),
        f"{TOOL}search",
    ),
    Argument(
        "k", "how many pairs of sources to list", WholeNumber(high=MAX_LISTED, usual=20), f"{TOOL}reuse"
    ),
    Argument("window", _WINDOW, WholeNumber(low=0, high=10, usual=1), f"{TOOL}search"),
    Argument("window", _WINDOW, WholeNumber(low=0, high=10, usual=0), f"{TOOL}similar"),
    Argument(
        "id",
        "a document's id, or that of a sentence to read around",
        applies_to=f"{TOOL}document",
        is_required=True,
    ),
    Argument(
        "q",
        "sentences with all of its words; words, or the query language",
        Text("query_chars"),
        f"{TOOL}alert_preview {TOOL}alert_create",
        spelled=_SPELLED,
    ),
    Argument("name", "the name of the alert", Text(min_chars=1), f"{TOOL}alert_create", is_required=True),
    Argument(
        "to",
        "where to: mailto:ann@example.org, https://… for a webhook; the server says what it allows",
        Texts(),
        f"{TOOL}alert_create",
        is_required=True,
        is_repeatable=True,
    ),
    Argument("id", "the id of the alert", Text(min_chars=1), f"{TOOL}alert_pause", is_required=True),
    Argument(
        "paused", "whether it waits; false lets it deliver again", Flag(is_on=True), f"{TOOL}alert_pause"
    ),
    Argument(
        "id",
        "the id of the dossier",
        Text(min_chars=1),
        f"{TOOL}dossier {TOOL}add_to_dossier",
        is_required=True,
    ),
    Argument(
        "sentences",
        "the ids of the sentences",
        Text(min_chars=1),
        f"{TOOL}add_to_dossier",
        is_required=True,
        is_repeatable=True,
    ),
    Argument("note", "a note on each of them", Text("text_chars"), f"{TOOL}add_to_dossier"),
    Argument("tags", "tags of each of them", Text(), f"{TOOL}add_to_dossier", is_repeatable=True),
    Argument(
        "start",
        "the first sentence to show, counted from 0",
        WholeNumber(low=0, high=999_999),
        f"{TOOL}document",
    ),
    Argument(
        "budget",
        "how many characters the whole answer may have, as JSON",
        WholeNumber(low=MIN_BUDGET, high=MAX_BUDGET, usual=BUDGET),
        ASSISTANT,
    ),
)
"""What tools take in another way than the API does."""
