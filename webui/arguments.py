"""The address of a search, read: what is asked for, and every way in which it can be wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unicodedata import category
from urllib.parse import parse_qsl, unquote_to_bytes

from esr import adjustments, boosts, models, priors
from esr.documents import dates
from esr.engines.index import Filters
from esr.errors import EsrError, UsageError, unknown
from esr.plans.plan import CANDIDATES
from esr.priors.prior import check_weight
from esr.ranking import signal
from esr.ranking.ranking import Ranking
from esr.ranking.rerank import DEPTH
from webui.arranging import SORTS, Wish
from webui.settings import Settings

PARAMETER = "params."
PRIOR = "prior."
RANKING: dict[str, str] = {
    "model": "the ranking model",
    "context": "what the model looks at around a sentence",
    "candidates": "which sentences are ranked",
    "feature": "a feature's adjustment, as in len:log:0.1; may be given more than once",
    "boost": "what the query's words say beyond themselves, as in variants:0.2; may be given more than once",
    "rerank": "a signal of term dependence, as in mrf_sdm:0.5; may be given more than once",
    "depth": "how many of the best sentences signals look at",
    PARAMETER + "NAME": "a parameter of the model, as in params.mu=50",
    PRIOR + "NAME": "a prior's weight, as in prior.length=1",
}
KNOWN: dict[str, str] = {
    "q": "the words to search for",
    **RANKING,
    "k": "how many sentences to show",
    "from": "the first day, as in 2017-03-01",
    "to": "the last day",
    "source": "a source; may be given more than once",
    "document": "a document's id; may be given more than once",
    "entity": "a name in the sentence, as in person:Barack Obama; may be given more than once",
    "sort": "score or date",
    "group": "document: the sentences of a document together",
    "fold": "no: show near-repeats one by one",
    "index": "which index, by its name, where several are served",
}
MAX_DEPTH = 1_000
"""The most that a second stage looks at: each sentence's parse is read."""
VERSUS = "vs."
"""Arguments of the other ranking in a comparison begin so: vs.model, vs.params.mu."""
COMPARED = (*KNOWN, *(VERSUS + name for name in RANKING))
"""Arguments of a comparison."""
_LISTS = frozenset({"feature", "boost", "rerank"})
REPEATED = frozenset({"source", "document", "entity", *_LISTS, *(VERSUS + name for name in _LISTS)})
Values = Mapping[str, Sequence[str]]

_SHOWN = 60  # characters of an unknown name, which may be anything
_ALLOWED_CONTROLS = frozenset("\t\n\r")
_REORDERING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


class BadArgument(UsageError):
    """An argument that cannot be used. `field` is its name, or None if none is to blame alone."""

    status, code = 400, "bad_input"

    def __init__(self, message: str, field: str | None) -> None:
        super().__init__(message)
        self.field = field


class NotThere(BadArgument):
    """An argument that names what does not exist."""

    status, code = 404, "not_found"


class IndexChanged(BadArgument):
    """A next page is asked for, of a ranking that is another by now."""

    status, code = 409, "index_changed"


@dataclass(frozen=True)
class Search:
    """What an address asks for."""

    query: str
    ranking: Ranking = field(default_factory=Ranking)
    filters: Filters = field(default_factory=Filters)
    k: int = 10
    wish: Wish = field(default_factory=Wish)


@contextmanager
def blaming(field: str | None) -> Iterator[None]:
    """Name the argument at fault in a UsageError, in the words of an address."""
    try:
        yield
    except BadArgument:
        raise
    except UsageError as error:
        raise BadArgument(re.sub(r"--(?=context|feature|boost|rerank)", "", str(error)), field) from error


def read(query_string: bytes, settings: Settings) -> Search:
    """The search that an address asks for. Raises BadArgument for the first thing that is wrong."""
    return search(decode(query_string, settings), settings)


def search(values: Values, settings: Settings) -> Search:
    """The search that these arguments ask for; others than KNOWN are not looked at."""
    one = {name: given[0] for name, given in values.items()}
    return Search(
        query=one.get("q", ""),
        ranking=ranking(values),
        filters=filters(values),
        k=count("k", one.get("k"), settings.default_k, settings.max_k),
        wish=_wish(one),
    )


def decode(query_string: bytes, settings: Settings, known: Collection[str] = KNOWN) -> Values:
    """The arguments by name, as text that is safe to handle. Empty ones count as not given.

    `known` are the names that may be given; one that ends in NAME stands for all that begin as it does.
    """
    values: dict[str, list[str]] = {}
    for name, value in parse(query_string, settings):
        _check_name(name, known)
        check_text(name, value, settings.query_chars if name == "q" else settings.value_chars)
        if value.strip():
            values.setdefault(name, []).append(value.strip())
    for name, given in values.items():
        if len(given) > 1 and name not in REPEATED:
            raise BadArgument(f"argument {name!r} is given {len(given)} times: give it once", name)
    return values


def parse(query_string: bytes, settings: Settings) -> list[tuple[str, str]]:
    """The arguments one by one, as they stand."""
    if len(query_string) > settings.address_bytes:
        size, limit = f"{len(query_string):,}", f"{settings.address_bytes:,}"
        raise BadArgument(f"the address holds {size} bytes of arguments: at most {limit} are allowed", None)
    try:
        unquote_to_bytes(query_string.replace(b"+", b" ")).decode()
    except UnicodeDecodeError:
        raise BadArgument("the address is not UTF-8 text", None) from None
    pairs = parse_qsl(query_string.decode(), keep_blank_values=True)
    if len(pairs) > settings.arguments:
        raise BadArgument(f"{len(pairs)} arguments: at most {settings.arguments} are allowed", None)
    return pairs


def _check_name(name: str, known: Collection[str]) -> None:
    prefixes = tuple(each.removesuffix("NAME") for each in known if each.endswith("NAME"))
    if name not in known and not name.startswith(prefixes):
        with blaming(name[:_SHOWN]):
            raise unknown("argument", name[:_SHOWN], known)


def check_text(name: str, value: str, most: int) -> None:
    """Raises BadArgument for a text that is too long, or holds what moves other text about."""
    what = "the query" if name == "q" else f"argument {name!r}"
    if len(value) > most:
        raise BadArgument(f"{what} has {len(value):,} characters: at most {most:,} are allowed", name)
    for character in value:
        control = category(character) == "Cc" and character not in _ALLOWED_CONTROLS
        if control or character in _REORDERING:
            kind = "control" if control else "text direction"
            code = f"U+{ord(character):04X}"
            raise BadArgument(f"{what} holds the {kind} character {code}: leave it out", name)


def ranking(values: Values, prefix: str = "") -> Ranking:
    """The ranking of the arguments that begin so. Checked piece by piece: an error names its argument."""
    own = {name.removeprefix(prefix): given for name, given in values.items() if name.startswith(prefix)}
    one = {name: given[0] for name, given in own.items()}
    with blaming(prefix + "model"):
        model = models.get(one.get("model", models.DEFAULT.name))
    context = one.get("context")
    with blaming(prefix + "context"):
        model.context(context)
    parameters = _prefixed(one, PARAMETER)
    for name, value in parameters.items():
        with blaming(prefix + PARAMETER + name):
            model.settings({name: value}, context)
    weights = {}
    for name, value in _prefixed(one, PRIOR).items():
        with blaming(prefix + PRIOR + name):
            weights[name] = check_weight(priors.get(name).name, value)
    candidates = one.get("candidates")
    if candidates is not None and candidates not in CANDIDATES:
        with blaming(prefix + "candidates"):
            raise unknown("candidates", candidates, CANDIDATES)
    with blaming(prefix + "feature"):
        features = tuple(adjustments.parse(text) for text in own.get("feature", ()))
    with blaming(prefix + "boost"):
        added = boosts.from_json(dict(map(boosts.parse, own.get("boost", ()))))
    with blaming(prefix + "rerank"):
        signals = tuple(signal.parse(text) for text in own.get("rerank", ()))
    depth = count(prefix + "depth", one.get("depth"), DEPTH, MAX_DEPTH)
    with blaming(prefix + "rerank" if signals else prefix + "feature" if features else None):
        return Ranking(
            model.name, context, parameters, weights, candidates, features, added, rerank=signals, depth=depth
        )


def _prefixed(one: Mapping[str, str], prefix: str) -> dict[str, Any]:
    return {name.removeprefix(prefix): value for name, value in one.items() if name.startswith(prefix)}


def _wish(one: Mapping[str, str]) -> Wish:
    for name, allowed in (("sort", SORTS), ("group", ("document",)), ("fold", ("no",))):
        if name in one and one[name] not in allowed:
            with blaming(name):
                raise unknown(name, one[name], allowed)
    return Wish("date" if one.get("sort") == "date" else "score", "group" in one, "fold" not in one)


def filters(values: Values) -> Filters:
    """The filters among the arguments. Raises BadArgument."""
    first = _moment("from", values, dates.parse_date_start)
    last = _moment("to", values, dates.parse_date_end)
    if first is not None and last is not None and first > last:
        raise BadArgument("the first day comes after the last: exchange from and to", "from")
    sources, documents, entities = (tuple(values.get(n, ())) for n in ("source", "document", "entity"))
    return Filters(first, last, sources, documents, entities)


def _moment(name: str, values: Values, read: Callable[[str], int]) -> int | None:
    if name not in values:
        return None
    value = values[name][0]
    try:
        return read(value)
    except (ValueError, OverflowError, EsrError):
        raise BadArgument(f"argument {name!r} is a date such as 2017-03-01, not {value!r}", name) from None


def count(name: str, value: str | None, default: int, most: int, least: int = 1) -> int:
    """A whole number, or the default where there is none. Raises BadArgument."""
    if value is None:
        return default
    if not re.fullmatch("[0-9]{1,6}", value) or not least <= int(value) <= most:
        raise BadArgument(f"argument {name!r} is a whole number from {least} to {most}, not {value!r}", name)
    return int(value)
