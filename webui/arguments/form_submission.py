"""A form as a browser sends it, made into a short address: no empty field, no default, no leftover.

The form works without a script, so it sends every field it has, those of the model that was chosen before
among them. A field `form` names that model: it tells a submitted form from an address.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from esr import models
from esr.models import Model
from esr.ranking.rerank import DEPTH
from webui.arguments.links import Pairs
from webui.arguments.search_request import PARAMETER, PRIOR, VERSUS
from webui.running.settings import Settings

FORM = "form"
ROWS = {
    "feature": ("name", "form", "weight", "rest"),
    "boost": ("name", "weight", "rest"),
    "rerank": ("name", "weight", "rest"),
}
"""The fields of a feature, a boost and a signal: feature.0.name and so on."""


def tidied(given: Pairs, settings: Settings, index: str = "") -> list[tuple[str, str]] | None:
    """The arguments of the short address, or None if these come from no form. `index`: the usual one."""
    if not any(name == FORM for name, _ in given):
        return None
    plain = [(n, v.strip()) for n, v in given if not n.startswith(VERSUS) and v.strip()]
    other = [(n.removeprefix(VERSUS), v.strip()) for n, v in given if n.startswith(VERSUS) and v.strip()]
    said = [*_shown(plain, settings, index), *_ranking(plain)]
    if other:
        ranked = list(_ranking(other))
        model = dict(other).get("model", models.DEFAULT.name)
        # The other side of a comparison always names its model: it is what makes it one.
        said += [(VERSUS + n, v) for n, v in [("model", model), *(p for p in ranked if p[0] != "model")]]
    return said


def _shown(given: Sequence[tuple[str, str]], settings: Settings, index: str) -> Iterator[tuple[str, str]]:
    usual = {"k": str(settings.default_k), "sort": "score", "index": index}
    one = dict(given)
    for name, value in given:
        if name not in _RANKING and not name.startswith(_PREFIXES) and usual.get(name) != value:
            yield name, value
    if "fold" not in one:
        yield "fold", "no"


_RANKING = frozenset({FORM, "model", "context", "candidates", *ROWS, "depth", "fold"})
_PREFIXES = (PARAMETER, PRIOR, *(f"{name}." for name in ROWS))


def _ranking(given: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    one = dict(given)
    name = one.get("model", models.DEFAULT.name)
    model = models.MODELS.get(name)
    changed = one.get(FORM) != name
    if name != models.DEFAULT.name:
        yield "model", name
    context = one.get("context", "")
    if changed and model and context not in model.contexts:
        context = ""
    if context and not (model and model.contexts and context == model.contexts[0]):
        yield "context", context
    if "candidates" in one:
        yield "candidates", one["candidates"]
    for key, value in given:
        if key.startswith(PARAMETER) and not changed and _meant(key, value, model, context):
            yield key, value
        if key.startswith(PRIOR) and value != "0":
            yield key, value
        if key in ROWS or (key == "depth" and value != str(DEPTH)):
            yield key, value
    for each in ROWS:
        yield from _rows(each, one)


def _meant(key: str, value: str, model: Model | None, context: str) -> bool:
    """Whether a value says anything: it is not the default, and this context has a use for it."""
    known = {p.name: p for p in model.parameters} if model else {}
    parameter = known.get(key.removeprefix(PARAMETER))
    if model is None or parameter is None:
        return True
    if parameter.only_with and parameter.only_with != (context or model.context(None)):
        return False
    return value not in (str(parameter.default), f"{parameter.default:g}" if not parameter.choices else "")


def _rows(kind: str, one: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Features or signals from their fields, those that are named."""
    numbers = sorted({key.split(".")[1] for key in one if key.startswith(f"{kind}.") and key.count(".") == 2})
    for number in numbers:
        given = {field: one.get(f"{kind}.{number}.{field}", "") for field in ROWS[kind]}
        if given["name"]:
            if kind == "feature":
                given["form"] = given["form"] or "linear"
            yield kind, ":".join(part for part in given.values() if part)
