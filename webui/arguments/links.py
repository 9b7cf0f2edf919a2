"""Links to pages with nearly the same state: all state is in the address."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from flask import url_for

from webui.arguments.names import REPEATABLE, VERSUS, is_ranking_argument

Pairs = Sequence[tuple[str, str]]
"""Arguments as they stand in an address: names and values."""


@dataclass(frozen=True)
class Links:
    """The arguments of a page, and the addresses that differ from it in some of them."""

    arguments: Pairs

    def to(self, endpoint: str = "results", **changes: str | None) -> str:
        """Another page, or this one, with some arguments changed; those that are None are left out."""
        return _address(endpoint, change_arguments(self.arguments, **changes))

    def first(self, name: str) -> str | None:
        """The first value of an argument, or None."""
        return next((value for n, value in self.arguments if n == name), None)

    def with_value(self, name: str, value: str) -> str:
        """With one more value of an argument that may be repeated."""
        return _address("results", [*self.arguments, (name, value)])

    def without_value(self, name: str, value: str) -> str:
        return _address("results", [pair for pair in self.arguments if pair != (name, value)])

    def with_other_value(self, name: str, value: str, other: str) -> str:
        """With another value in place of one."""
        return _address("results", [(n, other if (n, v) == (name, value) else v) for n, v in self.arguments])

    def toggle(self, values: Mapping[str, str], is_selected: bool) -> str:
        """Without these values where they are selected; else with them, beside others or in their place."""
        if is_selected:
            selected = set(values.items())
            return _address("results", [pair for pair in self.arguments if pair not in selected])
        others = [pair for pair in self.arguments if pair[0] in REPEATABLE or pair[0] not in values]
        return _address("results", [*others, *values.items()])

    def with_ranking(self, ranking: Mapping[str, str], endpoint: str = "results") -> str:
        """With another ranking in place of all that ranks now."""
        others = (pair for pair in self.arguments if not is_ranking_argument(pair[0]))
        return _address(endpoint, [*others, *ranking.items()])

    def to_side(self, endpoint: str, is_versus: bool, id: str | None = None) -> str:
        """A page for one of the two rankings of a comparison."""
        shared = [pair for pair in self.arguments if not pair[0].startswith(VERSUS)]
        if is_versus:
            versus = [(n.removeprefix(VERSUS), v) for n, v in self.arguments if n.startswith(VERSUS)]
            shared = [*(pair for pair in shared if not is_ranking_argument(pair[0])), *versus]
        return _address(endpoint, [*shared, ("id", id)] if id else shared)


def change_arguments(arguments: Pairs, **changes: str | None) -> list[tuple[str, str]]:
    """The arguments with some changed, and those that are None left out."""
    unchanged = [(name, value) for name, value in arguments if name not in changes]
    return [*unchanged, *((name, value) for name, value in changes.items() if value is not None)]


def _address(endpoint: str, arguments: Pairs) -> str:
    query = urlencode(list(arguments), errors="replace")
    return url_for(endpoint) + ("?" + query if query else "")
