"""The options of commands that read source files, and of those that write an index."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from esr.arguments.argument import Argument
from esr.arguments.tables.loading import DELIVERY, LOAD, NEW_INDEX, SOURCE, WRITING
from esr.cli.arguments import add_options, build_option
from esr.plans.plan import Mixture
from esr.stdlib import import_lazily

if TYPE_CHECKING:
    from esr.ranking import ranking
else:
    # Deliveries need neither the query language nor rankings.
    ranking = import_lazily("esr.ranking.ranking")


F = TypeVar("F", bound=Callable[..., Any])


def _precompute_mixture(context: click.Context, parameter: click.Parameter, value: bool) -> Mixture | None:
    return ranking.Ranking().mixture() if value else None


_SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "format": {"default": "auto"},
    "if_exists": {"type": str},
    "impacts": {"callback": _precompute_mixture},
}
"""Settings of click, by the arguments for which the command line differs."""


def _build(row: Argument) -> Callable[[Any], Any]:
    return build_option(row, **_SETTINGS.get(row.name, {}))


def _build_all(rows: Iterable[Argument]) -> tuple[Callable[[Any], Any], ...]:
    return tuple(map(_build, rows))


SOURCE_OPTIONS = _build_all(SOURCE)
DELIVERY_OPTIONS = _build_all(DELIVERY)
NEW_INDEX_OPTIONS = _build_all(NEW_INDEX)
keep: Callable[[Any], Any]
workers: Callable[[Any], Any]
keep, workers = _build_all(WRITING)
if_exists: Callable[[Any], Any]
resume: Callable[[Any], Any]
merge: Callable[[Any], Any]
impacts: Callable[[Any], Any]
profile: Callable[[Any], Any]
meaning: Callable[[Any], Any]
if_exists, resume, merge, impacts, profile, meaning = _build_all(LOAD)


def source_options(command: F) -> F:
    """Add the options of sources and deliveries.

    The command passes them to `open_pipeline` as keyword arguments.
    """
    return cast(F, add_options((*SOURCE_OPTIONS, *DELIVERY_OPTIONS), command))


_WRITTEN = tuple(row.sets for row in (*NEW_INDEX, *LOAD, *WRITING) if row.name != "meaning")


def writing_options(command: F) -> F:
    """Add the options of how an index is loaded.

    The command receives them as the parameter `writing`: fields of `LoadOptions` by name.
    """

    @wraps(command)
    def with_writing(*args: Any, **kwargs: Any) -> Any:
        return command(*args, writing={name: kwargs.pop(name) for name in _WRITTEN}, **kwargs)

    added = (*NEW_INDEX_OPTIONS, if_exists, merge, impacts, profile, keep, resume, workers)
    return cast(F, add_options(added, with_writing))
