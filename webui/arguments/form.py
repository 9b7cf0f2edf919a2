"""The search form: what it offers, and what it holds, from the address."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl

from webui.answers.entries import SORTS
from webui.arguments.links import Pairs
from webui.arguments.ranking_controls import Choice, Kept, RankingControls, controls
from webui.arguments.search_request import KNOWN, PARAMETER, PRIOR, RANKING, VERSUS
from webui.running.settings import Settings

_UNSHOWN = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]+")
_TICKED = ("source", "entity", "document")


@dataclass(frozen=True)
class Form:
    """The form as the page shows it."""

    query: str
    index: str
    ranking: RankingControls
    counts: list[Choice]
    sorts: list[Choice]
    grouped: bool
    folded: bool
    date_from: str
    date_to: str
    ticked: list[Kept]

    @property
    def summary(self) -> list[str]:
        """What is set, in a few words, for the line that opens the controls."""
        said = [f"in {self.index}"] if self.index else []
        said += self.ranking.summary
        said += [c.label for c in self.sorts if c.chosen and c.value]
        said += ["by document"] if self.grouped else []
        said += [f"from {self.date_from}"] if self.date_from else []
        said += [f"to {self.date_to}"] if self.date_to else []
        return said + [k.label for k in self.ticked]


def pairs(query_string: bytes, settings: Settings, own: Sequence[str] = ()) -> Pairs:
    """The arguments of an address, right or wrong, cut and cleaned so that a page can show them."""
    given = parse_qsl(query_string[: settings.address_bytes].decode("utf-8", "replace"), errors="replace")
    cleaned = ((n, _UNSHOWN.sub(" ", v).strip()[: settings.query_chars]) for n, v in given)
    return [(n, v) for n, v in cleaned if v and (_known(n) or n in own)][: settings.arguments]


def form(given: Pairs, settings: Settings, features: Sequence[str] = ()) -> Form:
    """The form that holds these arguments. `features`: those of the index."""
    one = dict(reversed(given))
    return Form(
        query=one.get("q", ""),
        index=one.get("index", ""),
        ranking=controls([pair for pair in given if not pair[0].startswith(VERSUS)], features),
        counts=_counts(one.get("k", ""), settings),
        sorts=_sorts(one.get("sort", "")),
        grouped=one.get("group") == "document",
        folded=one.get("fold") != "no",
        date_from=one.get("from", ""),
        date_to=one.get("to", ""),
        ticked=[Kept(n, v, f"{n} {v}") for n, v in given if n in _TICKED],
    )


def _known(name: str) -> bool:
    if name.startswith(VERSUS):
        return name.removeprefix(VERSUS) in RANKING or name.startswith((VERSUS + PARAMETER, VERSUS + PRIOR))
    return name in KNOWN or name.startswith((PARAMETER, PRIOR))


def _counts(chosen: str, settings: Settings) -> list[Choice]:
    allowed = chosen.isascii() and chosen.isdigit() and 1 <= int(chosen) <= settings.max_k
    now = int(chosen) if allowed else settings.default_k
    offered = {now, settings.default_k, *(n for n in (20, 50, 100) if n <= settings.max_k)}
    return [Choice(str(n), str(n), n == now) for n in sorted(offered)]


def _sorts(chosen: str) -> list[Choice]:
    now = chosen if chosen in SORTS else "score"
    return [Choice(name if name != "score" else "", text, name == now) for name, text in SORTS.items()]
