"""Searches across languages: the sentences of other languages that are nearest to a query by their vectors.

In an index by language, a query is ranked in its language. Words say nothing about sentences in another one,
but the vectors of a multilingual encoder do. So the answer has the best sentences of the query's language, in
their order, and the nearest of other languages.

Scores by words of one language and similarities of another cannot be compared. So the sentence at rank i of
the query's language counts as similar as the i-th nearest of that language, and all are in the order of these
similarities, with a small advantage for the query's language, which its author reads. Neither order within a
language changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat

from esr import encoders
from esr.errors import UsageError
from esr.index.contract import Index
from esr.index.filters import Filters
from esr.index.hits import Hit
from esr.index.language import find_group, groups_of, implies_language
from esr.index.questions import Languages, MainEncoder, Records
from esr.index.view import chosen_language, in_language
from esr.plans.plan import Condition
from esr.query.query import ALL_LANGUAGES
from esr.ranking.second_stage.query_encoder import QueryVector, encode_query
from esr.text.analyzer_definitions import BY_LANGUAGE

NEAREST = 100
"""The most sentences of another language that a search finds."""
OWN_MARGIN = 0.02
"""What the similarities of sentences in the query's language gain in the order of several languages."""


def find_groups(index: Index, wanted: Sequence[str]) -> list[str]:
    """The languages of sentences that a search of an index asks for, each a code of `language_group`.

    They are in the order of the index, most documents first. `wanted` has codes, or ALL_LANGUAGES.

    Raises UsageError if the index has no such language, or no vectors that compare languages.
    """
    if index.description.analyzer != BY_LANGUAGE:
        raise UsageError(
            f"{index.where} is not searched by language: write language:de in the query, or load it with "
            "--analyzer by-language"
        )
    main_language = chosen_language(index).code
    groups = list(groups_of(index.status(Languages())))
    if ALL_LANGUAGES in wanted:
        named = groups
    else:
        requested = dict.fromkeys(find_group(code, groups) for code in wanted)
        if unknown := [group for group in requested if group not in groups]:
            raise UsageError(
                f"no document of {index.where} is in the language {', '.join(unknown)}: "
                f"it has {', '.join(groups)}"
            )
        named = [group for group in groups if group in requested]
    if main_language is None and ALL_LANGUAGES not in wanted:
        raise UsageError("a query without words is searched in all languages: write language:de in it")
    if main_language is not None and any(group != main_language for group in named):
        _check_encoder(index)
    return named


def is_multilingual(id: str | None) -> bool:
    """Whether the vectors of an encoder, given by its id, may compare languages. None is no encoder."""
    if id is None:
        return False
    name = id.rpartition(" ")[0]
    if name in encoders.KNOWN:
        return not encoders.KNOWN[name].language
    hub_model = encoders.HUB_MODELS.get(name.partition("@")[0])
    return hub_model is None or hub_model.languages != "English"


def _check_encoder(index: Index) -> None:
    id = index.status(MainEncoder())
    if id is None or not is_multilingual(id):
        name = (id or "").rpartition(" ")[0]
        problem = f"has vectors of {name}, for one language" if name else "has no vectors"
        raise UsageError(
            f"{index.where} {problem}: sentences in other languages are found by the vectors of a "
            "multilingual encoder, esr enrich --only vectors --encoder use-multilingual-v3"
        )


def find_across(
    index: Index, text: str, groups: Sequence[str], condition: Condition | None, filters: Filters
) -> list[Hit]:
    """The nearest sentences of each of these languages, without records, one language after the other.

    A condition with words holds for sentences of one language alone, so none of another is found.
    """
    if not text.strip() or (condition is not None and implies_language(condition)):
        return []
    encoder, vector = encode_query(index, text)
    return [
        hit
        for group in groups
        for hit in in_language(index, group).nearest(encoder, vector, NEAREST, condition, filters)
    ]


def merge_languages(
    index: Index,
    text: str,
    hits: Sequence[Hit],
    others: Sequence[Hit],
    condition: Condition | None,
    filters: Filters,
) -> list[Hit]:
    """The hits of the query's language, and those of others, in the order of the similarities they count as.

    These are the scores. `hits` are best first. A hit beyond the sentences with vectors counts as similar as
    the last of these.
    """
    query: QueryVector = encode_query(index, text)
    nearest = index.nearest(query.encoder, query.vector, max(len(hits), 1), condition, filters)
    similarities = [hit.score for hit in nearest] or [0.0]
    padded = [*similarities, *repeat(similarities[-1], max(0, len(hits) - len(similarities)))]
    main_hits = [hit._replace(score=score + OWN_MARGIN) for hit, score in zip(hits, padded, strict=False)]
    # Of equal scores, those of the query's language come first, in their order: sorting is stable.
    return sorted([*main_hits, *others], key=lambda hit: -hit.score)


def read_records(index: Index, hits: Sequence[Hit]) -> list[Hit]:
    """The hits with their records, read for those that have none."""
    missing = [hit for hit in hits if hit.record is None]
    ids, ordinals = [hit.sentence_id for hit in missing], [hit.ordinal for hit in missing]
    records = dict(zip(ids, index.read(ids, Records(), ordinals), strict=True)) if missing else {}
    return [hit._replace(record=hit.record or records[hit.sentence_id]) for hit in hits]
