"""The search form: what it offers, from the registries, and what it holds, from the address."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import parse_qsl

from esr import models
from webui.arguments import KNOWN, PARAMETER, PRIOR
from webui.settings import Settings

Pairs = Sequence[tuple[str, str]]
_UNSHOWN = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]+")
_CONTROLS = {"q", "model", "context", "k", "from", "to"}


class Choice(NamedTuple):
    """An option of a select."""

    value: str
    label: str
    chosen: bool


class Kept(NamedTuple):
    """A setting that the form has no control for. It stays until its box is unticked."""

    name: str
    value: str
    label: str


@dataclass(frozen=True)
class Form:
    """The form as the page shows it."""

    query: str
    models: list[Choice]
    contexts: list[Choice]
    counts: list[Choice]
    date_from: str
    date_to: str
    source: str
    kept: list[Kept] = field(default_factory=list)

    @property
    def summary(self) -> list[str]:
        """What is set, in a few words, for the line that opens the controls."""
        chosen = next(c for c in self.models if c.chosen)
        said = [f"ranked by {chosen.value}"]
        said += [f"context {c.value}" for c in self.contexts if c.chosen and c.value]
        said += [f"{c.value} sentences" for c in self.counts if c.chosen]
        said += [f"from {self.date_from}"] if self.date_from else []
        said += [f"to {self.date_to}"] if self.date_to else []
        said += [f"in {self.source}"] if self.source else []
        return said + [k.label for k in self.kept]


def pairs(query_string: bytes, settings: Settings) -> Pairs:
    """The arguments of an address, right or wrong, cut and cleaned so that a page can show them."""
    given = parse_qsl(query_string[: settings.address_bytes].decode("utf-8", "replace"), errors="replace")
    cleaned = ((n, _UNSHOWN.sub(" ", v).strip()[: settings.query_chars]) for n, v in given)
    return [(n, v) for n, v in cleaned if v and _known(n)][: settings.arguments]


def form(given: Pairs, settings: Settings) -> Form:
    """The form that holds these arguments."""
    one = dict(reversed(given))
    sources = [value for name, value in given if name == "source"]
    model = one.get("model", "")
    return Form(
        query=one.get("q", ""),
        models=_models(model if model in models.MODELS else models.DEFAULT.name),
        contexts=_contexts(one.get("context", "")),
        counts=_counts(one.get("k", ""), settings),
        date_from=one.get("from", ""),
        date_to=one.get("to", ""),
        source=sources[0] if sources else "",
        kept=[_kept("source", source) for source in sources[1:]]
        + [_kept(n, v) for n, v in given if n not in _CONTROLS and n != "source"],
    )


def _known(name: str) -> bool:
    return name in KNOWN or name.startswith((PARAMETER, PRIOR))


def _models(chosen: str) -> list[Choice]:
    return [
        Choice(model.name, f"{model.name} – {_short(model.description)}", model.name == chosen)
        for model in models.MODELS.values()
    ]


def _contexts(chosen: str) -> list[Choice]:
    offered = [Choice("", "as the model has it", chosen not in models.CONTEXTS)]
    return offered + [
        Choice(name, f"{name} – {_short(description)}", name == chosen)
        for name, description in models.CONTEXTS.items()
    ]


def _counts(chosen: str, settings: Settings) -> list[Choice]:
    allowed = chosen.isascii() and chosen.isdigit() and 1 <= int(chosen) <= settings.max_k
    now = int(chosen) if allowed else settings.default_k
    offered = {now, settings.default_k, *(n for n in (20, 50, 100) if n <= settings.max_k)}
    return [Choice(str(n), str(n), n == now) for n in sorted(offered)]


def _kept(name: str, value: str) -> Kept:
    plain = name.removeprefix(PARAMETER).removeprefix(PRIOR)
    return Kept(name, value, f"prior {plain} × {value}" if name.startswith(PRIOR) else f"{plain} {value}")


def _short(description: str) -> str:
    """The first part of a description: an option has little room."""
    return re.split(r"[:;,(]", description, maxsplit=1)[0].strip()


def address(given: Pairs, **changed: str | None) -> Iterable[tuple[str, str]]:
    """The arguments of another page with the same state: some changed, those that are None left out."""
    kept = [(name, value) for name, value in given if name not in changed]
    return [*kept, *((name, value) for name, value in changed.items() if value is not None)]
