"""The address of a search, read: what is asked for, and every way in which it can be wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unicodedata import category
from urllib.parse import parse_qsl, unquote_to_bytes

from esr import adjustments, models, priors
from esr.documents import dates
from esr.engines.index import Filters
from esr.errors import EsrError, UsageError, unknown
from esr.plans.plan import CANDIDATES
from esr.priors.prior import check_weight
from esr.ranking.ranking import Ranking
from webui.arranging import SORTS, Wish
from webui.settings import Settings

PARAMETER = "params."
PRIOR = "prior."
RANKING: dict[str, str] = {
    "model": "the ranking model",
    "context": "what the model looks at around a sentence",
    "candidates": "which sentences are ranked",
    "feature": "a feature's adjustment, as in len:log:0.1; may be given more than once",
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
}
VERSUS = "vs."
"""Arguments of the other ranking in a comparison begin so: vs.model, vs.params.mu."""
REPEATED = frozenset({"source", "document", "entity", "feature", VERSUS + "feature"})
Values = Mapping[str, Sequence[str]]

_SHOWN = 60  # characters of an unknown name, which may be anything
_ALLOWED_CONTROLS = frozenset("\t\n\r")
_REORDERING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


class BadArgument(UsageError):
    """An argument that cannot be used. `field` is its name, or None if none is to blame alone."""

    def __init__(self, message: str, field: str | None) -> None:
        super().__init__(message)
        self.field = field


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
        raise BadArgument(re.sub(r"--(?=context|feature)", "", str(error)), field) from error


def read(query_string: bytes, settings: Settings, own: Sequence[str] = ()) -> Search:
    """The search that an address asks for. Raises BadArgument for the first thing that is wrong.

    `own`: other arguments that this page has, and reads itself.
    """
    return search(decode(query_string, settings, own), settings)


def search(values: Values, settings: Settings) -> Search:
    """The search that these arguments ask for."""
    one = {name: given[0] for name, given in values.items()}
    return Search(
        query=one.get("q", ""),
        ranking=ranking(values),
        filters=_filters(values),
        k=_count("k", one.get("k"), settings.default_k, settings.max_k),
        wish=_wish(one),
    )


def decode(query_string: bytes, settings: Settings, own: Sequence[str] = ()) -> Values:
    """The arguments by name, as text that is safe to handle. Empty ones count as not given."""
    values: dict[str, list[str]] = {}
    for name, value in parse(query_string, settings):
        _check_name(name, own)
        _check_text(name, value, settings.query_chars if name == "q" else settings.value_chars)
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


def _check_name(name: str, own: Sequence[str]) -> None:
    if VERSUS in own and name.startswith(VERSUS):
        known: Mapping[str, str] = RANKING
        plain = name.removeprefix(VERSUS)
    else:
        known, plain = KNOWN, name
    if plain not in known and plain not in own and not plain.startswith((PARAMETER, PRIOR)):
        with blaming(name):
            raise unknown("argument", name[:_SHOWN], known)


def _check_text(name: str, value: str, most: int) -> None:
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
    with blaming(prefix + "feature" if features else None):
        return Ranking(model.name, context, parameters, weights, candidates, features)


def _prefixed(one: Mapping[str, str], prefix: str) -> dict[str, Any]:
    return {name.removeprefix(prefix): value for name, value in one.items() if name.startswith(prefix)}


def _wish(one: Mapping[str, str]) -> Wish:
    for name, allowed in (("sort", SORTS), ("group", ("document",)), ("fold", ("no",))):
        if name in one and one[name] not in allowed:
            with blaming(name):
                raise unknown(name, one[name], allowed)
    return Wish("date" if one.get("sort") == "date" else "score", "group" in one, "fold" not in one)


def _filters(values: Values) -> Filters:
    first = _moment("from", values, dates.instant)
    last = _moment("to", values, dates.instant_end)
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


def _count(name: str, value: str | None, default: int, most: int) -> int:
    if value is None:
        return default
    if not re.fullmatch("[0-9]{1,6}", value) or not 1 <= int(value) <= most:
        raise BadArgument(f"argument {name!r} is a whole number from 1 to {most}, not {value!r}", name)
    return int(value)
