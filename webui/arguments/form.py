"""The search form: what it shows, and the short address of a submitted form.

All state is in the address. The form works without JavaScript, so it submits all of its fields, including
those of the previously selected model. Its field `form` names that model, and marks a submitted form.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, NamedTuple
from urllib.parse import parse_qsl

from esr import models
from esr.arguments.argument import Argument
from esr.arguments.tables.rankings import PARAMETER, PRIOR, RERANK_DEPTH, VERSUS, is_ranking_argument
from esr.arguments.tables.table import PAGE, REPEATABLE, names_of
from esr.arguments.types import Choice, Day, Flag, Only, Share, Text, WholeNumber
from esr.errors import UsageError
from esr.models import Model
from esr.ranking.second_stage.reranker import DEPTH
from esr.text.sentence_enrichment import PARTS
from webui.arguments.links import Pairs
from webui.arguments.rankings import (
    WORDS,
    Checkbox,
    Option,
    RankingControls,
    preset_arguments,
    preset_label,
    ranking_controls,
)
from webui.arguments.request import rename_former, write_date
from webui.running.problems import RequestError
from webui.running.settings import Settings
from webui.translations.language import _

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
        labels = (_(option.label) for option in self.options if option.is_selected and option.value)
        value = next(labels, "") if self.options else self.value if self.is_set else ""
        return _(self.row.phrase).format(value) if value and self.row.phrase else ""


@dataclass(frozen=True)
class Form:
    """The form as the page shows it. `filters` are the values that the search is limited to.

    `hidden`: arguments that the form holds without a field.
    """

    query: str
    index: str
    ranking: RankingControls
    fields: Mapping[str, Field]
    filters: list[Checkbox]
    preset: str | None
    """The label of the preset equal to the ranking, or None."""
    hidden: Pairs

    @property
    def days(self) -> list[Field]:
        """The date fields that are set."""
        return [field for field in self.fields.values() if field.kind == "day" and field.is_set]

    @property
    def summary(self) -> list[str]:
        """The settings in a few words, for the line that opens the controls."""
        phrases = [_("in %(index)s", index=self.index)] if self.index else []
        phrases += [_(self.preset)] if self.preset else self.ranking.summary
        phrases += [field.phrase for field in self.fields.values() if field.phrase]
        return phrases + [box.label for box in self.filters]


def clean_arguments(query_string: bytes, settings: Settings) -> Pairs:
    """The arguments of a search and a comparison in an address, truncated and cleaned for display."""
    text = query_string[: settings.address_bytes].decode("utf-8", "replace")
    pairs = parse_qsl(text, errors="replace")
    with suppress(RequestError):  # the page that shows them says what is wrong
        pairs = rename_former(pairs, settings)
    cleaned = ((n, _UNPRINTABLE.sub(" ", v).strip()[: settings.query_chars]) for n, v in pairs)
    return [(n, write_date(n, v)) for n, v in cleaned if v and _is_known(n)][: settings.arguments]


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
    ranking_pairs = [pair for pair in arguments if not pair[0].startswith(VERSUS)]
    return Form(
        query=first.get("q", ""),
        index=first.get("index", ""),
        ranking=ranking_controls(ranking_pairs, index_features, stored=stored),
        fields={n: _field(row, first.get(n, ""), settings) for n, row in PAGE.items() if row.label},
        filters=[Checkbox(n, v, f"{_(n)} {v}") for n, v in arguments if n in _KEPT],
        preset=preset_label([pair for pair in ranking_pairs if is_ranking_argument(pair[0])], default),
        hidden=[pair for pair in arguments if pair[0] in _WITHOUT_FIELD],
    )


_KEPT = frozenset(names_of("filter")) & REPEATABLE
"""Filters that have a checkbox for each value."""
_WITHOUT_FIELD = frozenset(("languages", "per_document"))
"""Settings that links of the results change. The language of a query is not one of the next query."""


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
        labels = {kind.write(n): _write_share(n) for n in sorted({*_OVERLAPS, value})}
    else:
        assert isinstance(kind, WholeNumber)
        least, most = kind.bounds(settings)
        counts = (usual * times for times in _TIMES) if usual else ()
        labels = {str(n): str(n) for n in sorted({value, usual, *(n for n in counts if least <= n <= most)})}
    chosen = kind.write(value)
    return Field(row, "select", "", [Option(name, label, name == chosen) for name, label in labels.items()])


def _write_share(share: float) -> str:
    percent = round(100 * share)
    return _("%(percent)s%%", percent=percent) if share >= 1 else _("%(percent)s%% or more", percent=percent)


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
    stated = [(n, write_date(n, v.strip())) for n, v in fields if not n.startswith(VERSUS) and v.strip()]
    versus = [(n.removeprefix(VERSUS), v.strip()) for n, v in fields if n.startswith(VERSUS) and v.strip()]
    preset = preset_arguments(dict(stated).get(PRESET, ""))
    arguments = [
        *_search_arguments(stated, settings, default_index),
        *(_ranking_arguments(stated) if preset is None else preset.items()),
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
