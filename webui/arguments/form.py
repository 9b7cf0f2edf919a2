"""The search form: what it offers, and what it holds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl

from esr.documents.enrichment import PARTS
from esr.errors import UsageError
from esr.following.overlap import DEFAULT_THRESHOLD, parse_threshold
from webui.arguments.arrangement import SORTS
from webui.arguments.controls import Checkbox, Option, RankingControls
from webui.arguments.links import Pairs
from webui.arguments.names import SEARCH_ARGUMENTS, VERSUS, is_ranking_argument
from webui.arguments.presets import preset_label
from webui.arguments.query_string import parse_count
from webui.arguments.ranking_controls import ranking_controls
from webui.running.request_errors import RequestError
from webui.running.settings import Settings

_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]+")
_CHECKBOXES = ("source", "author", "section", "keyword", "meta", "entity", "document")
_COUNTS = (20, 50, 100)
_OVERLAPS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@dataclass(frozen=True)
class Form:
    """The form as the page shows it. `filters` are the values that the search is limited to."""

    query: str
    index: str
    ranking: RankingControls
    counts: list[Option]
    sorts: list[Option]
    is_grouped: bool
    is_folded: bool
    is_novel: bool
    overlaps: list[Option]
    is_literal: bool
    requires_all: bool
    date_from: str
    date_to: str
    filters: list[Checkbox]
    preset: str | None
    """The label of the preset that the ranking is."""

    @property
    def summary(self) -> list[str]:
        """What is set, in a few words, for the line that opens the controls."""
        phrases = [f"in {self.index}"] if self.index else []
        phrases += [self.preset] if self.preset else self.ranking.summary
        phrases += [option.label for option in self.sorts if option.is_selected and option.value]
        phrases += ["only what is new"] if self.is_novel else []
        phrases += ["by document"] if self.is_grouped else []
        phrases += ["all words"] if self.requires_all else []
        phrases += ["searched literally"] if self.is_literal else []
        phrases += [f"from {self.date_from}"] if self.date_from else []
        phrases += [f"to {self.date_to}"] if self.date_to else []
        return phrases + [box.label for box in self.filters]


def clean_arguments(query_string: bytes, settings: Settings, others: Sequence[str] = ()) -> Pairs:
    """The arguments of an address, right or wrong, cut and cleaned so that a page can show them.

    `others` are names beside those of a search and a comparison.
    """
    text = query_string[: settings.address_bytes].decode("utf-8", "replace")
    pairs = parse_qsl(text, errors="replace")
    cleaned = ((n, _UNPRINTABLE.sub(" ", v).strip()[: settings.query_chars]) for n, v in pairs)
    return [(n, v) for n, v in cleaned if v and (_is_known(n) or n in others)][: settings.arguments]


def build_form(
    arguments: Pairs,
    settings: Settings,
    index_features: Sequence[str] = (),
    stored: Iterable[str] = PARTS,
) -> Form:
    """The form that holds these arguments. `index_features` and `stored` are as in `ranking_controls`."""
    first = dict(reversed(arguments))
    own = [pair for pair in arguments if not pair[0].startswith(VERSUS)]
    return Form(
        query=first.get("q", ""),
        index=first.get("index", ""),
        ranking=ranking_controls(own, index_features, stored=stored),
        counts=_counts(first.get("k", ""), settings),
        sorts=_sorts(first.get("sort", "")),
        is_grouped=first.get("group") == "document",
        is_folded=first.get("fold") != "no",
        is_novel=first.get("novel") == "yes",
        overlaps=_overlaps(first.get("overlap", "")),
        is_literal=first.get("syntax") == "none",
        requires_all=first.get("require") == "all",
        date_from=first.get("from", ""),
        date_to=first.get("to", ""),
        filters=[Checkbox(n, v, f"{n} {v}") for n, v in arguments if n in _CHECKBOXES],
        preset=preset_label([pair for pair in own if is_ranking_argument(pair[0])]),
    )


def _is_known(name: str) -> bool:
    if name.startswith(VERSUS):
        return is_ranking_argument(name.removeprefix(VERSUS))
    return name in SEARCH_ARGUMENTS or is_ranking_argument(name)


def _counts(selected: str, settings: Settings) -> list[Option]:
    try:
        k = parse_count("k", selected or None, settings.default_k, settings.max_k)
    except RequestError:
        k = settings.default_k
    offered = {k, settings.default_k, *(n for n in _COUNTS if n <= settings.max_k)}
    return [Option(str(n), str(n), n == k) for n in sorted(offered)]


def _overlaps(selected: str) -> list[Option]:
    """Shares of a sentence in percent, the one of the address among them."""
    try:
        share = parse_threshold(selected or str(DEFAULT_THRESHOLD))
    except UsageError:
        share = DEFAULT_THRESHOLD
    return [Option(f"{n:g}", f"{n:.0%}", n == share) for n in sorted({*_OVERLAPS, share})]


def _sorts(selected: str) -> list[Option]:
    sort = selected if selected in SORTS else "score"
    return [Option(name if name != "score" else "", text, name == sort) for name, text in SORTS.items()]
