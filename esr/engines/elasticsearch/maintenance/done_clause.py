"""The query for documents that need no enrichment by a recipe.

Documents have the fingerprints of the recipe that enriched them. Another recipe may have made the same of a
document: if only the model of another language was added since.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from esr.enrichment.recipe import Recipe

Query = dict[str, Any]


def build_done_clause(
    recipe: Recipe, recorded: Iterable[Recipe], languages: Callable[[], Sequence[str]]
) -> Query:
    """Matches documents that have all parts of a recipe, by it or by a recorded one that makes the same.

    `languages` returns those that documents name. It is called if recorded recipes may agree about some.
    """
    others = [other for other in recorded if other != recipe and _may_agree(recipe, other)]
    if not others:
        return {"bool": {"filter": [_with_mark([mark]) for mark in recipe.fingerprints.values()]}}
    by_marks: dict[tuple[tuple[str, ...], ...], list[str | None]] = {}
    for language in [None, *languages()]:
        marks = tuple(_marks(recipe, others, part, language) for part in recipe.parts)
        by_marks.setdefault(marks, []).append(language)
    clauses = [
        {"bool": {"filter": [_in_language(named), *map(_with_mark, marks)]}}
        for marks, named in by_marks.items()
    ]
    return {"bool": {"should": clauses}}


def _may_agree(recipe: Recipe, other: Recipe) -> bool:
    return any(recipe.may_agree(other, part) for part in recipe.parts)


def _marks(recipe: Recipe, others: Sequence[Recipe], part: str, language: str | None) -> tuple[str, ...]:
    """The fingerprints that say that a part of a document in this language is as the recipe makes it."""
    same = [other.fingerprints[part] for other in others if recipe.agrees(other, part, language)]
    return (recipe.fingerprints[part], *sorted(set(same)))


def _with_mark(marks: Sequence[str]) -> Query:
    """Matches what has one of these fingerprints."""
    return {"terms": {"enriched": list(marks)}}


def _in_language(languages: Sequence[str | None]) -> Query:
    """Matches documents that name one of these languages; None is for those that name none."""
    clauses: list[Query] = [{"terms": {"language": [name for name in languages if name is not None]}}]
    if None in languages:
        clauses.append({"bool": {"must_not": {"exists": {"field": "language"}}}})
    return {"bool": {"should": clauses}}
