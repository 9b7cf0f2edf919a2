"""The arguments that say what each hit has."""

from __future__ import annotations

from esr.arguments.argument import PYTHON, Argument
from esr.arguments.operations import WITH_HITS
from esr.arguments.types import FieldName, WholeNumber
from esr.following.exports import FIELDS as EXPORT_FIELDS
from esr.index.hits import SentenceRecord
from esr.ranking.answers import PASSAGE_FIELDS

HIT_FIELDS = (
    *("score", "direction", *PASSAGE_FIELDS, "copies", "matches", "metadata", "permalink"),
    *SentenceRecord._fields,
)
DOCUMENT_FIELDS = frozenset({"metadata"})
"""The fields for which the documents of the hits are read, beside keys of the metadata."""
HITS: tuple[Argument, ...] = (
    Argument(
        "fields",
        "a field of each hit, also `copies`, `matches`, `permalink`, `metadata` and a key of it, as in "
        "meta.desk; "
        "several are separated by commas; by default, all but these",
        FieldName(names=HIT_FIELDS),
        WITH_HITS,
        is_repeatable=True,
        foreign_names=("fl", "_source", "include"),
    ),
    Argument(
        "fields",
        "a column of the table, or a field of each line of JSON; several are separated by commas",
        FieldName(names=EXPORT_FIELDS),
        "export",
        is_repeatable=True,
    ),
    Argument(
        "window",
        "how many sentences before and after each hit to add as its `window`",
        WholeNumber(low=0, high=20, usual=0),
        WITH_HITS,
        spelled={PYTHON: "sentences"},
    ),
    Argument(
        "budget",
        "how many characters the texts of hits may have in all: windows become shorter, then hits fewer",
        WholeNumber(high=999_999),
        WITH_HITS,
    ),
)
"""The fields of hits, and the sentences around them."""
