"""The arguments of the API's addresses, from the registries and the limits."""

from __future__ import annotations

from esr import models, priors
from esr.plans.plan import CANDIDATES
from esr.ranking.rerank import DEPTH
from webui.api.operation import Parameter, Schema
from webui.arguments import KNOWN, MAX_DEPTH, PARAMETER, PRIOR, REPEATED
from webui.settings import Settings


def index(settings: Settings) -> list[Parameter]:
    return [Parameter("index", KNOWN["index"], text(settings.value_chars))]


def ranking(settings: Settings) -> list[Parameter]:
    """What is asked for and how it is ranked: whatever the page's addresses take, but for k and filters."""
    schemas: dict[str, Schema] = {
        "q": text(settings.query_chars, 1),
        "model": {"enum": list(models.MODELS), "default": models.DEFAULT.name},
        "context": {"enum": list(models.CONTEXTS)},
        "candidates": {"enum": list(CANDIDATES)},
        "feature": text(settings.value_chars),
        "rerank": text(settings.value_chars),
        "depth": {"type": "integer", "minimum": 1, "maximum": MAX_DEPTH, "default": DEPTH},
    }
    named = [
        Parameter(n, KNOWN[n], schema, required=n == "q", repeated=n in REPEATED)
        for n, schema in schemas.items()
    ]
    return [*named, *_model_parameters(), *_prior_weights()]


def page(settings: Settings) -> list[Parameter]:
    """Filters, and any other argument of the page's addresses."""
    known = {parameter.name for parameter in ranking(settings)} | {"k", "index"}
    dates = {"type": "string", "examples": ["2017-03-01", "2017"]}
    return [
        _count("k", KNOWN["k"], 1, settings.max_k, settings.default_k),
        *(
            Parameter(
                name,
                description,
                dates if name in ("from", "to") else text(settings.value_chars),
                repeated=name in REPEATED,
            )
            for name, description in KNOWN.items()
            if name not in known and not name.endswith("NAME")
        ),
    ]


def paging(settings: Settings) -> list[Parameter]:
    return [
        _count("offset", "how many sentences to leave out at the top", 0, settings.max_depth - 1, 0),
        Parameter("after", "`next` of the page before, to go on from there", text(settings.value_chars)),
    ]


def search(settings: Settings) -> list[Parameter]:
    return [*ranking(settings), *page(settings), *paging(settings), *index(settings)]


def explain(settings: Settings) -> list[Parameter]:
    sentence = Parameter("sentence", "the sentence's id", text(settings.value_chars, 1), required=True)
    return [*ranking(settings), sentence, *index(settings)]


def document(settings: Settings) -> list[Parameter]:
    return [
        Parameter("id", "the document's id", text(settings.value_chars, 1), required=True),
        *index(settings),
    ]


def request(settings: Settings) -> list[Parameter]:
    standalone = "`true`: leave p(t|C) to Elasticsearch; language models only"
    choice: Schema = {"enum": ["true", "false"], "default": "false"}
    return [
        *ranking(settings),
        *page(settings),
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
    named: dict[str, list[str]] = {}
    choices: dict[str, list[str]] = {}
    for model in models.MODELS.values():
        for parameter in model.parameters:
            said = f"{model.name}: {parameter.description}, {parameter.range}"
            named.setdefault(parameter.name, []).append(said)
            choices.setdefault(parameter.name, []).extend(parameter.choices)
    return [
        Parameter(
            PARAMETER + name,
            "; ".join(said),
            {"enum": list(dict.fromkeys(choices[name]))} if choices[name] else {"type": "number"},
        )
        for name, said in named.items()
    ]


def _prior_weights() -> list[Parameter]:
    return [
        Parameter(PRIOR + prior.name, f"weight of the prior: {prior.description}", {"type": "number"})
        for prior in priors.PRIORS.values()
    ]
