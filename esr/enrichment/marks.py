"""Marks: short names for "this part, made with this", by which an index knows what is done.

Each part has a mark of its own, so that `--only features` today and `--only entities` tomorrow add up.
"""

from __future__ import annotations

from esr.enrichment.recipe import Recipe


def marks(recipe: Recipe) -> dict[str, str]:
    """The mark of each part of a recipe, such as `features:1f3a…`. Other tools, other marks."""
    return {part: f"{part}:{recipe.of(part).digest}" for part in recipe.parts}
