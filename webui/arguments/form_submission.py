"""A submitted form, as a short address: without empty fields, defaults and leftovers.

The form works without JavaScript, so it sends every field that it has, including those of the model that was
selected before. The field `form` names that model, and distinguishes a submitted form from an address.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from esr import models
from esr.following.overlap import DEFAULT_THRESHOLD
from esr.models import Model
from esr.ranking.reranker import DEPTH
from webui.arguments.links import Pairs
from webui.arguments.names import PARAMETER, PRIOR, VERSUS
from webui.running.settings import Settings

FORM = "form"
ROW_FIELDS = {
    "feature": ("name", "form", "weight", "rest"),
    "boost": ("name", "weight", "rest"),
    "rerank": ("name", "weight", "rest"),
}
"""The fields of a feature, a boost and a signal: feature.0.name and so on."""
_RANKING_FIELDS = frozenset({FORM, "model", "context", "candidates", *ROW_FIELDS, "depth", "fold"})
_RANKING_PREFIXES = (PARAMETER, PRIOR, *(f"{name}." for name in ROW_FIELDS))


def shorten(fields: Pairs, settings: Settings, default_index: str = "") -> list[tuple[str, str]] | None:
    """The arguments of the short address, or None if these fields do not come from a form."""
    if not any(name == FORM for name, _ in fields):
        return None
    own = [(n, v.strip()) for n, v in fields if not n.startswith(VERSUS) and v.strip()]
    versus = [(n.removeprefix(VERSUS), v.strip()) for n, v in fields if n.startswith(VERSUS) and v.strip()]
    arguments = [*_search_arguments(own, settings, default_index), *_ranking_arguments(own)]
    if versus:
        # The other side always names its model: this is what makes it a comparison.
        model = dict(versus).get("model", models.DEFAULT.name)
        others = [pair for pair in _ranking_arguments(versus) if pair[0] != "model"]
        arguments += [(VERSUS + name, value) for name, value in [("model", model), *others]]
    return arguments


def _search_arguments(
    fields: Sequence[tuple[str, str]], settings: Settings, default_index: str
) -> Iterator[tuple[str, str]]:
    """All but the ranking."""
    defaults = {
        "k": str(settings.default_k),
        "sort": "score",
        "index": default_index,
        "overlap": f"{DEFAULT_THRESHOLD:g}",
    }
    for name, value in fields:
        is_ranking = name in _RANKING_FIELDS or name.startswith(_RANKING_PREFIXES)
        if not is_ranking and defaults.get(name) != value:
            yield name, value
    if "fold" not in dict(fields):
        yield "fold", "no"


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
        if key in ROW_FIELDS or (key == "depth" and value != str(DEPTH)):
            yield key, value
    for kind in ROW_FIELDS:
        yield from _row_arguments(kind, last)


def _is_redundant(key: str, value: str, model: Model | None, context: str) -> bool:
    """Whether a parameter has its default value, or the context does not use it."""
    parameters = {p.name: p for p in model.parameters} if model else {}
    parameter = parameters.get(key.removeprefix(PARAMETER))
    if model is None or parameter is None:
        return False
    if parameter.only_with and parameter.only_with != (context or model.context(None)):
        return True
    return value in (str(parameter.default), f"{parameter.default:g}" if not parameter.choices else "")


def _row_arguments(kind: str, last: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Features, boosts or signals from their fields, those that have a name."""
    prefix = f"{kind}."
    numbers = {key.split(".")[1] for key in last if key.startswith(prefix) and key.count(".") == 2}
    for number in sorted(numbers, key=lambda number: (len(number), number)):  # 2 before 10
        values = {field: last.get(f"{prefix}{number}.{field}", "") for field in ROW_FIELDS[kind]}
        if values["name"]:
            if kind == "feature":
                values["form"] = values["form"] or "linear"
            yield kind, ":".join(part for part in values.values() if part)
