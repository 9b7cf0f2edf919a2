"""Examples of the query language, for the hint beside the query box."""

from __future__ import annotations

from typing import NamedTuple


class QueryExample(NamedTuple):
    """A query, and what it finds."""

    query: str
    meaning: str


QUERY_EXAMPLES = (
    QueryExample('"climate policy"', "sentences with this phrase"),
    QueryExample("+climate -tax", "sentences with the first word and without the second"),
    QueryExample("flood OR storm", "sentences with one of these"),
    QueryExample("climat*", "words that begin like this"),
    QueryExample("brexit source:bbc.co.uk after:2018-06", "only from this source, since this month"),
)
