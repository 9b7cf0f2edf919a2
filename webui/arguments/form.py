"""The search form: what it shows, the short address of a submitted form, and links with changed arguments.

All state is in the address. The form works without JavaScript, so it submits all of its fields, including
those of the previously selected model. Its field `form` names that model, and marks a submitted form.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, NamedTuple
from urllib.parse import parse_qsl, quote_plus

from flask import request, url_for

from esr import models
from esr.arguments.argument import Argument, Group
from esr.arguments.tables.rankings import PARAMETER, PRIOR, RERANK_DEPTH, VERSUS, is_ranking_argument
from esr.arguments.tables.table import PAGE, REPEATABLE, names_of, rows
from esr.arguments.types import Choice, Day, Flag, Only, Share, Text, WholeNumber
from esr.corpus.concordance import split_node
from esr.errors import UsageError
from esr.models import Model
from esr.query import literal, parse
from esr.ranking.second_stage.reranker import DEPTH
from esr.stdlib import cached_property
from esr.text.dates import format_moment, parse_date_end, parse_date_start
from esr.text.sentence_enrichment import PARTS
from esr.text.written_dates import parse_typed_date
from webui.arguments.rankings import (
    WORDS,
    Checkbox,
    Option,
    RankingControls,
    preset_arguments,
    preset_label,
    ranking_controls,
)
from webui.arguments.request import rename_former, split_pairs
from webui.running.problems import RequestError
from webui.running.settings import Settings

# Links

Pairs = Sequence[tuple[str, str]]
"""Arguments in the order of the address: names and values."""


@dataclass(frozen=True)
class Links:
    """The arguments of a page, and addresses in which some of them are changed."""

    arguments: Pairs
    _starts: dict[str, str] = field(default_factory=dict, init=False, repr=False, compare=False)

    def to(self, endpoint: str = "results", **changes: str | None) -> str:
        """This or another page with some arguments changed; None removes an argument."""
        if len(changes) == 1 and "id" in changes and changes["id"] is not None:
            return self._start(endpoint) + _quote(changes["id"])
        encoded = {name: None if value is None else _encode(name, value) for name, value in changes.items()}
        return _join(endpoint, [text for _, text in change_arguments(self._encoded, **encoded)])

    @cached_property
    def _encoded(self) -> list[tuple[str, str]]:
        """The names of the arguments, each with its encoded pair of the query string."""
        return [(name, _encode(name, value)) for name, value in self.arguments]

    def _start(self, endpoint: str) -> str:
        """The common beginning of addresses with an id, cached since each hit has several."""
        start = self._starts.get(endpoint)
        if start is None:
            start = self._starts[endpoint] = _address(endpoint, change_arguments(self.arguments, id=""))
        return start

    def only(self, endpoint: str, *names: str) -> str:
        """A page with these arguments and no others."""
        return _address(endpoint, [pair for pair in self.arguments if pair[0] in names])

    def home(self) -> str:
        """The first page of the index."""
        return _address("home", [pair for pair in self.arguments if pair[0] == "index"])

    def without(self, group: Group, endpoint: str = "results") -> str:
        """A page without the arguments of a group."""
        return self.to(endpoint, **dict.fromkeys(names_of(group)))

    def first(self, name: str) -> str | None:
        """The first value of an argument, or None."""
        return next((value for n, value in self.arguments if n == name), None)

    @property
    def has_node(self) -> bool:
        """Whether the query has a word or a phrase, which some views show in context."""
        return _has_node(self.first("q") or "", self.first("literal") == "yes")

    def with_value(self, name: str, value: str, **changes: str | None) -> str:
        """The results with one more value of a repeatable argument, and with other arguments changed."""
        return _address("results", [*change_arguments(self.arguments, **changes), (name, value)])

    def without_value(self, name: str, value: str, endpoint: str = "results") -> str:
        return _address(endpoint, [pair for pair in self.arguments if pair != (name, value)])

    def during(self, endpoint: str, period: str, **changes: str | None) -> str:
        """A page of the days of a period (a day, week, month or year) within the dates of this page."""
        after, before = self.first("after"), self.first("before")
        if not after or parse_date_start(after) < parse_date_start(period):
            after = period
        if not before or parse_date_start(before) > parse_date_end(period):
            before = end_of(period)
        return self.to(endpoint, **changes | {"after": after, "before": before})

    def without_query(self, place: int, endpoint: str) -> str:
        """A page without the other query at this position."""
        others = [n for n, (name, _) in enumerate(self.arguments) if name == "also"]
        return _address(endpoint, [pair for n, pair in enumerate(self.arguments) if n != others[place]])

    def with_other_value(self, name: str, value: str, other: str) -> str:
        """The results with `value` replaced by `other`."""
        return _address("results", [(n, other if (n, v) == (name, value) else v) for n, v in self.arguments])

    def toggle(self, values: Mapping[str, str], is_selected: bool) -> str:
        """The results without these values if selected, else with them. Unrepeatable ones are replaced."""
        if is_selected:
            selected = set(values.items())
            return _address("results", [pair for pair in self.arguments if pair not in selected])
        others = [pair for pair in self.arguments if pair[0] in REPEATABLE or pair[0] not in values]
        return _address("results", [*others, *values.items()])

    def with_ranking(self, ranking: Mapping[str, str], endpoint: str = "results") -> str:
        """A page with this ranking in place of the current one."""
        others = (pair for pair in self.arguments if not is_ranking_argument(pair[0]))
        return _address(endpoint, [*others, *ranking.items()])

    def with_versus(self, ranking: Mapping[str, str]) -> str:
        """The comparison with this second ranking, which always names its model."""
        others = (pair for pair in self.arguments if not pair[0].startswith(VERSUS))
        versus = {"model": models.DEFAULT.name, **ranking}
        return _address("compare", [*others, *((VERSUS + name, value) for name, value in versus.items())])

    def side(self, is_versus: bool) -> Links:
        """Links with the first or, if `is_versus`, the second ranking of a comparison."""
        shared = [pair for pair in self.arguments if not pair[0].startswith(VERSUS)]
        if is_versus:
            versus = [(n.removeprefix(VERSUS), v) for n, v in self.arguments if n.startswith(VERSUS)]
            shared = [*(pair for pair in shared if not is_ranking_argument(pair[0])), *versus]
        return Links(shared)


@lru_cache(1024)
def _has_node(query: str, is_literal: bool) -> bool:
    try:
        split_node(literal(query) if is_literal else parse(query))
    except UsageError:
        return False
    return True


def split_links(query_string: bytes, settings: Settings, taker: str, *names: str) -> tuple[Links, Links]:
    """Links with all arguments of the address of a page, and links to other pages.

    The latter omit `k`, the arguments `names`, and those that only the API's operation `taker` takes. Raises
    RequestError.
    """
    own = [pair for pair in split_pairs(query_string, settings) if pair[1].strip()]
    left_out = {*(rows(taker).keys() - PAGE.keys()), "k", *names}
    return Links(own), Links([pair for pair in own if pair[0] not in left_out])


def change_arguments(arguments: Pairs, **changes: str | None) -> list[tuple[str, str]]:
    """The arguments with some changed; None removes an argument."""
    unchanged = [(name, value) for name, value in arguments if name not in changes]
    return [*unchanged, *((name, value) for name, value in changes.items() if value is not None)]


def _address(endpoint: str, arguments: Pairs) -> str:
    return _join(endpoint, [_encode(name, value) for name, value in arguments])


def _join(endpoint: str, pairs: Sequence[str]) -> str:
    path = path_to(endpoint)
    return f"{path}?{'&'.join(pairs)}" if pairs else path


@lru_cache(4096)
def _encode(name: str, value: str) -> str:
    """A pair of a query string. Cached: a page has a hundred links, most of them with the same pairs."""
    return f"{_quote(name)}={_quote(value)}"


@lru_cache(4096)
def _quote(text: str) -> str:
    """A percent-encoded name or value. Cached: the same id is in several links of a hit."""
    return quote_plus(text, errors="replace")


def end_of(period: str) -> str:
    """The value of `before` for the end of a period: the beginning of the next one."""
    return format_moment(parse_date_end(period) + 1)


def path_to(endpoint: str) -> str:
    """The path of a page without variable parts, below the prefix of the current request."""
    return _path(endpoint, request.script_root)


@lru_cache(1024)
def _path(endpoint: str, prefix: str) -> str:
    return url_for(endpoint)


# The form

_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]+")
_TIMES = (1, 2, 5, 10)
"""Multiples of the default of a whole number that the form offers."""
_OVERLAPS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


class Field(NamedTuple):
    """A field of the form for an argument: a select with options, a box to tick, or a field for text.

    `value`: the text of the field, or what a ticked box submits.
    """

    row: Argument
    kind: Literal["select", "tick", "day", "value"]
    value: str
    options: Sequence[Option] = ()
    is_set: bool = False

    @property
    def phrase(self) -> str:
        """The phrase for this setting in the line that opens the controls; empty if it is not set."""
        labels = (option.label for option in self.options if option.is_selected and option.value)
        value = next(labels, "") if self.options else self.value if self.is_set else ""
        return self.row.phrase.format(value) if value else ""


@dataclass(frozen=True)
class Form:
    """The form as the page shows it. `filters` are the values that the search is limited to."""

    query: str
    index: str
    ranking: RankingControls
    fields: Mapping[str, Field]
    filters: list[Checkbox]
    preset: str | None
    """The label of the preset equal to the ranking, or None."""

    @property
    def days(self) -> list[Field]:
        """The date fields that are set."""
        return [field for field in self.fields.values() if field.kind == "day" and field.is_set]

    @property
    def summary(self) -> list[str]:
        """The settings in a few words, for the line that opens the controls."""
        phrases = [f"in {self.index}"] if self.index else []
        phrases += [self.preset] if self.preset else self.ranking.summary
        phrases += [field.phrase for field in self.fields.values() if field.phrase]
        return phrases + [box.label for box in self.filters]


def clean_arguments(query_string: bytes, settings: Settings) -> Pairs:
    """The arguments of a search and a comparison in an address, truncated and cleaned for display."""
    text = query_string[: settings.address_bytes].decode("utf-8", "replace")
    pairs = parse_qsl(text, errors="replace")
    with suppress(RequestError):  # the page that shows them says what is wrong
        pairs = rename_former(pairs, settings)
    cleaned = ((n, _UNPRINTABLE.sub(" ", v).strip()[: settings.query_chars]) for n, v in pairs)
    return [(n, _write_date(n, v)) for n, v in cleaned if v and _is_known(n)][: settings.arguments]


_DAYS = frozenset(name for name, row in PAGE.items() if isinstance(row.type, Day))


def _write_date(name: str, value: str) -> str:
    """The value, with a date that is written out, such as 22 March 2017, as links and charts have it."""
    if name not in _DAYS or value[:4].isdigit():
        return value
    return parse_typed_date(value) or value


def build_form(
    arguments: Pairs,
    settings: Settings,
    index_features: Sequence[str] = (),
    stored: Iterable[str] = PARTS,
    default: str = WORDS,
) -> Form:
    """The form that holds these arguments. `index_features` and `stored` are as in `ranking_controls`.

    `default` is the label of the ranking without arguments.
    """
    first = dict(reversed(arguments))
    own = [pair for pair in arguments if not pair[0].startswith(VERSUS)]
    return Form(
        query=first.get("q", ""),
        index=first.get("index", ""),
        ranking=ranking_controls(own, index_features, stored=stored),
        fields={n: _field(row, first.get(n, ""), settings) for n, row in PAGE.items() if row.label},
        filters=[Checkbox(n, v, f"{n} {v}") for n, v in arguments if n in _KEPT],
        preset=preset_label([pair for pair in own if is_ranking_argument(pair[0])], default),
    )


_KEPT = frozenset(names_of("filter")) & REPEATABLE
"""Filters that have a checkbox for each value."""


def _is_known(name: str) -> bool:
    if name.startswith(VERSUS):
        return is_ranking_argument(name.removeprefix(VERSUS))
    return name in PAGE or is_ranking_argument(name)


def _field(row: Argument, text: str, settings: Settings) -> Field:
    """The field of an argument with its text in the address, which may be invalid."""
    kind = row.type
    if isinstance(kind, Day):
        return Field(row, "day", text, is_set=bool(text))
    if isinstance(kind, Text):
        return Field(row, "value", "")
    if isinstance(kind, Flag | Only):
        value = kind.write(not kind.is_on) if isinstance(kind, Flag) else next(iter(kind.labels))
        return Field(
            row, "tick", "yes" if row.unchecked else value, is_set=(text == value) != bool(row.unchecked)
        )
    usual = kind.default(settings)
    try:
        value = row.read(text, settings) if text else usual
    except UsageError:
        value = usual
    if isinstance(kind, Choice):
        labels = {"" if name == usual else name: label for name, label in kind.labels.items()}
        value = "" if value == usual else value
    elif isinstance(kind, Share):
        labels = {f"{n:g}": f"{n:.0%}" + " or more" * (n < 1) for n in sorted({*_OVERLAPS, value})}
    else:
        assert isinstance(kind, WholeNumber)
        least, most = kind.bounds(settings)
        counts = (usual * times for times in _TIMES) if usual else ()
        labels = {str(n): str(n) for n in sorted({value, usual, *(n for n in counts if least <= n <= most)})}
    return Field(
        row, "select", "", [Option(name, label, name == f"{value}") for name, label in labels.items()]
    )


# The short address of a submitted form

FORM, PRESET, VIEW = "form", "preset", "view"
"""Fields of a submitted form only: the model whose parameters it showed, the chosen preset, and the view that
another query is added to."""
ROW_FIELDS = {
    "feature": ("name", "form", "weight", "rest"),
    "boost": ("name", "weight", "rest"),
    "rerank": ("name", "weight", "rest"),
}
"""The fields of a row for a feature, a boost or a signal, submitted as feature.0.name and so on."""
_BOXES = {row.name: row.unchecked for row in PAGE.values() if row.unchecked}
_RANKING_FIELDS = frozenset({FORM, *names_of("ranking")})
_RANKING_PREFIXES = (PARAMETER, PRIOR, *(f"{name}." for name in ROW_FIELDS))


def shorten(fields: Pairs, settings: Settings, default_index: str = "") -> list[tuple[str, str]] | None:
    """The arguments of the short address: without empty fields, defaults and fields of another model.

    None if the fields do not come from a form.
    """
    if not any(name == FORM for name, _ in fields):
        return None
    own = [(n, _write_date(n, v.strip())) for n, v in fields if not n.startswith(VERSUS) and v.strip()]
    versus = [(n.removeprefix(VERSUS), v.strip()) for n, v in fields if n.startswith(VERSUS) and v.strip()]
    preset = preset_arguments(dict(own).get(PRESET, ""))
    arguments = [
        *_search_arguments(own, settings, default_index),
        *(_ranking_arguments(own) if preset is None else preset.items()),
    ]
    if versus:
        # The second ranking always names its model, which marks the address as a comparison.
        model = dict(versus).get("model", models.DEFAULT.name)
        others = [pair for pair in _ranking_arguments(versus) if pair[0] != "model"]
        arguments += [(VERSUS + name, value) for name, value in [("model", model), *others]]
    return arguments


def _search_arguments(
    fields: Sequence[tuple[str, str]], settings: Settings, default_index: str
) -> Iterator[tuple[str, str]]:
    """The arguments that do not belong to the ranking."""
    usual = {name: row.type.default(settings) for name, row in PAGE.items()}
    defaults = {name: PAGE[name].type.write(value) for name, value in usual.items() if value is not None}
    defaults["index"] = default_index
    for name, value in fields:
        is_ranking = name in _RANKING_FIELDS or name.startswith(_RANKING_PREFIXES)
        if not is_ranking and name not in (PRESET, VIEW, *_BOXES) and defaults.get(name) != value:
            yield name, value
    for name, value in _BOXES.items():
        if name not in dict(fields):
            yield name, value


def _ranking_arguments(fields: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    last = dict(fields)
    name = last.get("model", models.DEFAULT.name)
    model = models.MODELS.get(name)
    has_changed = last.get(FORM) != name
    if name != models.DEFAULT.name:
        yield "model", name
    context = last.get("context", "")
    if has_changed and model and context not in model.contexts:
        context = ""
    if context and not (model and model.contexts and context == model.contexts[0]):
        yield "context", context
    if "candidates" in last:
        yield "candidates", last["candidates"]
    for key, value in fields:
        if key.startswith(PARAMETER) and not has_changed and not _is_redundant(key, value, model, context):
            yield key, value
        if key.startswith(PRIOR) and value != "0":
            yield key, value
        if key in ROW_FIELDS or (key == RERANK_DEPTH and value != str(DEPTH)):
            yield key, value
    for kind in ROW_FIELDS:
        yield from _row_arguments(kind, last)


def _is_redundant(key: str, value: str, model: Model | None, context: str) -> bool:
    """Whether a parameter has its default value, or the model does not use it with the context."""
    parameters = {p.name: p for p in model.parameters} if model else {}
    parameter = parameters.get(key.removeprefix(PARAMETER))
    if model is None or parameter is None:
        return False
    if parameter.only_with and parameter.only_with != (context or model.context(None)):
        return True
    return value in (str(parameter.default), f"{parameter.default:g}" if not parameter.choices else "")


def _row_arguments(kind: str, last: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Features, boosts or signals from the fields of their rows. Rows without a name are skipped."""
    prefix = f"{kind}."
    numbers = {key.split(".")[1] for key in last if key.startswith(prefix) and key.count(".") == 2}
    for number in sorted(numbers, key=lambda number: (len(number), number)):  # 2 before 10
        values = {field: last.get(f"{prefix}{number}.{field}", "") for field in ROW_FIELDS[kind]}
        if values["name"]:
            if kind == "feature":
                values["form"] = values["form"] or "linear"
            yield kind, ":".join(part for part in values.values() if part)
