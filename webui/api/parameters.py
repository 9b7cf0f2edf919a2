"""The arguments of the API's addresses, from the registries and the limits."""

from __future__ import annotations

from dataclasses import replace

from esr import models, priors
from esr.plans.plan import CANDIDATES
from esr.ranking.rerank import DEPTH
from webui.answers.entries import SORTS
from webui.api.operation import Parameter, Schema
from webui.arguments.search_request import KNOWN, MAX_DEPTH, PARAMETER, PRIOR, RANKING, REPEATED, VERSUS
from webui.running.settings import Settings


def index(settings: Settings) -> list[Parameter]:
    return [Parameter("index", KNOWN["index"], text(settings.value_chars))]


def ranking(settings: Settings, prefix: str = "") -> list[Parameter]:
    """How to rank, as the page's addresses have it."""
    schemas: dict[str, Schema] = {
        "model": {"enum": list(models.MODELS), "default": models.DEFAULT.name},
        "context": {"enum": list(models.CONTEXTS)},
        "candidates": {"enum": list(CANDIDATES)},
        "feature": text(settings.value_chars),
        "boost": text(settings.value_chars),
        "rerank": text(settings.value_chars),
        "depth": {"type": "integer", "minimum": 1, "maximum": MAX_DEPTH, "default": DEPTH},
    }
    named = [
        Parameter(name, RANKING[name], schema, repeated=name in REPEATED) for name, schema in schemas.items()
    ]
    found = [*named, *_model_parameters(), *_prior_weights()]
    return [replace(each, name=prefix + each.name) for each in found]


def query(settings: Settings, required: bool = True) -> Parameter:
    return Parameter("q", KNOWN["q"], text(settings.query_chars, int(required)), required=required)


def filters(settings: Settings) -> list[Parameter]:
    """Which sentences may be found."""
    dates = {"type": "string", "examples": ["2017-03-01", "2017"]}
    return [
        Parameter(
            name,
            KNOWN[name],
            dates if name in ("from", "to") else text(settings.value_chars),
            repeated=name in REPEATED,
        )
        for name in ("from", "to", "source", "document", "entity")
    ]


def arrangement() -> list[Parameter]:
    """In what order and how put together."""
    return [
        Parameter("sort", KNOWN["sort"], {"enum": list(SORTS), "default": "score"}),
        Parameter("group", KNOWN["group"], {"enum": ["document"]}),
        Parameter("fold", KNOWN["fold"] + "; answers for programs always do", {"enum": ["no"]}),
    ]


def k(settings: Settings) -> Parameter:
    return _count("k", KNOWN["k"], 1, settings.max_k, settings.default_k)


def search(settings: Settings) -> list[Parameter]:
    return [
        query(settings),
        k(settings),
        _count("offset", "how many to leave out at the top", 0, settings.max_depth - 1, 0),
        Parameter("after", "`next` of the page before, to go on from there", text(settings.value_chars)),
        *filters(settings),
        *arrangement(),
        *ranking(settings),
        *index(settings),
    ]


def explain(settings: Settings) -> list[Parameter]:
    return [query(settings), named("sentence", settings), *ranking(settings), *index(settings)]


def document(settings: Settings) -> list[Parameter]:
    return [
        named("document", settings),
        query(settings, required=False),
        *ranking(settings),
        *index(settings),
    ]


def compare(settings: Settings) -> list[Parameter]:
    return [
        query(settings),
        k(settings),
        *filters(settings),
        *ranking(settings),
        *ranking(settings, VERSUS),
        *index(settings),
    ]


def named(what: str, settings: Settings) -> Parameter:
    return Parameter("id", f"the {what}'s id", text(settings.value_chars, 1), required=True)


def request(settings: Settings) -> list[Parameter]:
    standalone = "`true`: leave p(t|C) to Elasticsearch; language models only"
    choice: Schema = {"enum": ["true", "false"], "default": "false"}
    return [
        query(settings),
        k(settings),
        *filters(settings),
        *ranking(settings),
        Parameter("standalone", standalone, choice),
        *index(settings),
    ]


def text(most: int, least: int = 0) -> Schema:
    """A text of so many characters. An empty argument counts as none."""
    return {"type": "string", "minLength": least, "maxLength": most}


def _count(name: str, description: str, least: int, most: int, default: int) -> Parameter:
    return Parameter(
        name, description, {"type": "integer", "minimum": least, "maximum": most, "default": default}
    )


def _model_parameters() -> list[Parameter]:
    """One for each name of a parameter, whatever models have it."""
    named: dict[str, dict[str, list[str]]] = {}
    choices: dict[str, list[str]] = {}
    for model in models.MODELS.values():
        for parameter in model.parameters:
            meaning = f"{parameter.description}, {parameter.range}"
            named.setdefault(parameter.name, {}).setdefault(meaning, []).append(model.name)
            choices.setdefault(parameter.name, []).extend(parameter.choices)
    return [
        Parameter(
            PARAMETER + name,
            "; ".join(f"{', '.join(having)}: {meaning}" for meaning, having in said.items()),
            {"enum": list(dict.fromkeys(choices[name]))} if choices[name] else {"type": "number"},
        )
        for name, said in named.items()
    ]


def _prior_weights() -> list[Parameter]:
    return [
        Parameter(PRIOR + prior.name, f"weight of the prior {prior.name}", {"type": "number"})
        for prior in priors.PRIORS.values()
    ]
