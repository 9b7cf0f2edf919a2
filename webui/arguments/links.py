"""Addresses of the page with nearly the same state: all state is in the address."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from flask import url_for

from webui.arguments.search_request import PARAMETER, PRIOR, RANKING, REPEATED, VERSUS

Pairs = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Here:
    """The arguments of this page, and the addresses that differ in some of them."""

    given: Pairs

    def __call__(self, endpoint: str = "results", **changed: str | None) -> str:
        """Another page, or this one, with some arguments set; those that are None are left out."""
        return _address(endpoint, address(self.given, **changed))

    def adding(self, name: str, value: str) -> str:
        """With one more value of an argument that may be given more than once."""
        return _address("results", [*self.given, (name, value)])

    def without(self, name: str, value: str) -> str:
        """Without this value of it."""
        return _address("results", [pair for pair in self.given if pair != (name, value)])

    def toggled(self, values: Mapping[str, str], chosen: bool) -> str:
        """Without these values where they are chosen; else with them, beside others or in their place."""
        if chosen:
            taken = set(values.items())
            return _address("results", [pair for pair in self.given if pair not in taken])
        kept = [pair for pair in self.given if pair[0] in REPEATED or pair[0] not in values]
        return _address("results", [*kept, *values.items()])

    def ranked(self, settings: Mapping[str, str], endpoint: str = "results") -> str:
        """With another ranking, which is all of these settings."""
        return _address(endpoint, [*(p for p in self.given if not of_ranking(p[0])), *settings.items()])

    def one_side(self, endpoint: str, versus: bool, id: str | None = None) -> str:
        """A page for one of the two rankings that are compared."""
        shared = [p for p in self.given if not p[0].startswith(VERSUS)]
        if versus:
            other = [(n.removeprefix(VERSUS), v) for n, v in self.given if n.startswith(VERSUS)]
            shared = [*(p for p in shared if not of_ranking(p[0])), *other]
        return _address(endpoint, [*shared, ("id", id)] if id else shared)


def of_ranking(name: str) -> bool:
    """Whether an argument says how to rank."""
    return name in RANKING or name.startswith((PARAMETER, PRIOR))


def address(given: Pairs, **changed: str | None) -> list[tuple[str, str]]:
    """The arguments of a page with the same state: some changed, those that are None left out."""
    kept = [(name, value) for name, value in given if name not in changed]
    return [*kept, *((name, value) for name, value in changed.items() if value is not None)]


def _address(endpoint: str, given: Pairs) -> str:
    query = urlencode(list(given), errors="replace")
    return url_for(endpoint) + ("?" + query if query else "")
