"""The parameters of the API's operations, built from the registries and from the limits in the settings."""

from __future__ import annotations

from dataclasses import replace

from esr import models
from esr.following.novelty import DEFAULT_THRESHOLD, MIN_THRESHOLD
from esr.following.timeline import INTERVALS, MAX_PEAKS, PEAKS
from esr.index.filters import FACET_FIELDS
from esr.models import priors
from esr.plans.plan import CANDIDATES
from esr.ranking.reranker import DEPTH
from esr.text.document import ATTRIBUTES, META
from webui.api.handlers import (
    DEFAULT_COMPLETIONS,
    DEFAULT_FACETS,
    DEFAULT_VALUES,
    LISTED_FIELDS,
    MAX_COMPLETIONS,
    MAX_FACETS,
    MAX_VALUES,
)
from webui.api.operation import Parameter, Schema
from webui.api.schemas import META_FIELD
from webui.arguments.query_string import (
    MAX_DEPTH,
    PARAMETER,
    PRIOR,
    RANKING_ARGUMENTS,
    REPEATABLE,
    SEARCH_ARGUMENTS,
    SIMILAR_ARGUMENTS,
    TIMELINE_ARGUMENTS,
    VERSUS,
)
from webui.arguments.request import SCALES, SORTS
from webui.running.settings import Settings

_OR_DOCUMENTS = ", or documents where sentences are grouped"


def index_parameters(settings: Settings) -> list[Parameter]:
    return [Parameter("index", SEARCH_ARGUMENTS["index"], text_schema(settings.value_chars))]


def ranking_parameters(settings: Settings, prefix: str = "") -> list[Parameter]:
    """The ranking, with the same arguments as in the addresses of pages."""
    schemas: dict[str, Schema] = {
        "model": {"enum": list(models.MODELS), "default": models.DEFAULT.name},
        "context": {"enum": list(models.CONTEXTS)},
        "candidates": {"enum": list(CANDIDATES)},
        "feature": text_schema(settings.value_chars),
        "boost": text_schema(settings.value_chars),
        "rerank": text_schema(settings.value_chars),
        "depth": {"type": "integer", "minimum": 1, "maximum": MAX_DEPTH, "default": DEPTH},
    }
    named = [
        Parameter(name, RANKING_ARGUMENTS[name], schema, is_repeatable=name in REPEATABLE)
        for name, schema in schemas.items()
    ]
    parameters = [*named, *_model_parameters(), *_prior_weights()]
    return [replace(parameter, name=prefix + parameter.name) for parameter in parameters]


def query_text(settings: Settings, required: bool = True) -> Parameter:
    return Parameter(
        "q", SEARCH_ARGUMENTS["q"], text_schema(settings.query_chars, int(required)), required=required
    )


def reading_parameters() -> list[Parameter]:
    """How the query is read."""
    return [
        Parameter("syntax", SEARCH_ARGUMENTS["syntax"], {"enum": ["none"]}),
        Parameter("require", SEARCH_ARGUMENTS["require"], {"enum": ["all"]}),
        Parameter("furniture", SEARCH_ARGUMENTS["furniture"], {"enum": ["yes"]}),
    ]


def filter_parameters(settings: Settings) -> list[Parameter]:
    """The arguments that filter sentences."""
    dates = {"type": "string", "examples": ["2017-03-01", "2017"]}
    return [
        Parameter(
            name,
            SEARCH_ARGUMENTS[name],
            dates if name in ("from", "to") else text_schema(settings.value_chars),
            is_repeatable=name in REPEATABLE,
        )
        for name in ("from", "to", "source", *ATTRIBUTES, META, "document", "entity")
    ]


def arrangement_parameters() -> list[Parameter]:
    """How the sentences are ordered and grouped."""
    return [
        Parameter("sort", SEARCH_ARGUMENTS["sort"], {"enum": list(SORTS), "default": "score"}),
        Parameter("group", SEARCH_ARGUMENTS["group"], {"enum": ["document"]}),
        Parameter("fold", SEARCH_ARGUMENTS["fold"], {"enum": ["no"]}),
        Parameter("passages", SEARCH_ARGUMENTS["passages"], {"enum": ["no"]}),
        Parameter("novel", SEARCH_ARGUMENTS["novel"], {"enum": ["yes"]}),
        Parameter(
            "overlap",
            SEARCH_ARGUMENTS["overlap"],
            {"type": "number", "minimum": MIN_THRESHOLD, "maximum": 1, "default": DEFAULT_THRESHOLD},
        ),
    ]


def sentence_count(settings: Settings) -> Parameter:
    return _count("k", SEARCH_ARGUMENTS["k"], 1, settings.max_k, settings.default_k)


def search_parameters(settings: Settings) -> list[Parameter]:
    return [
        query_text(settings),
        *reading_parameters(),
        _count("k", SEARCH_ARGUMENTS["k"] + _OR_DOCUMENTS, 1, settings.max_k, settings.default_k),
        _count(
            "offset", f"how many sentences to skip at the top{_OR_DOCUMENTS}", 0, settings.max_depth - 1, 0
        ),
        Parameter(
            "after", "`next` of the page before, for the page after it", text_schema(settings.value_chars)
        ),
        *filter_parameters(settings),
        *arrangement_parameters(),
        *ranking_parameters(settings),
        *index_parameters(settings),
    ]


def facets_parameters(settings: Settings) -> list[Parameter]:
    return [
        query_text(settings),
        *reading_parameters(),
        Parameter(
            "field",
            "a field to count by, also a key of the metadata, as in meta.desk; by default, all but these",
            {"anyOf": [{"enum": list(FACET_FIELDS)}, META_FIELD]},
            is_repeatable=True,
        ),
        _count("size", "how many values of each field to list", 1, MAX_FACETS, DEFAULT_FACETS),
        *filter_parameters(settings),
        *ranking_parameters(settings),
        *index_parameters(settings),
    ]


def timeline_parameters(settings: Settings) -> list[Parameter]:
    names = TIMELINE_ARGUMENTS
    return [
        query_text(settings),
        Parameter("also", names["also"], text_schema(settings.query_chars), is_repeatable=True),
        *reading_parameters(),
        Parameter("interval", names["interval"], {"enum": list(INTERVALS)}),
        Parameter("scale", names["scale"], {"enum": list(SCALES), "default": "count"}),
        _count("peaks", names["peaks"], 0, MAX_PEAKS, PEAKS),
        *filter_parameters(settings),
        *ranking_parameters(settings),
        *index_parameters(settings),
    ]


def similar_parameters(settings: Settings) -> list[Parameter]:
    return [
        id_parameter("sentence", settings),
        Parameter("own", SIMILAR_ARGUMENTS["own"], {"enum": ["yes", "no"], "default": "no"}),
        sentence_count(settings),
        *filter_parameters(settings),
        *ranking_parameters(settings),
        *index_parameters(settings),
    ]


def values_parameters(settings: Settings) -> list[Parameter]:
    return [
        Parameter(
            "field",
            "what to list: meta lists the keys of the metadata, meta.desk the values of one",
            {"anyOf": [{"enum": list(LISTED_FIELDS)}, META_FIELD]},
            required=True,
        ),
        Parameter(
            "prefix",
            "the beginning of a value or a name, in any case, such as `bar` or `person:bar`",
            text_schema(settings.value_chars),
        ),
        _count("size", "how many to list", 1, MAX_VALUES, DEFAULT_VALUES),
        *index_parameters(settings),
    ]


def explain_parameters(settings: Settings) -> list[Parameter]:
    return [
        query_text(settings),
        *reading_parameters(),
        id_parameter("sentence", settings),
        *ranking_parameters(settings),
        *index_parameters(settings),
    ]


def document_parameters(settings: Settings) -> list[Parameter]:
    return [
        id_parameter("document", settings),
        query_text(settings, required=False),
        *reading_parameters(),
        *ranking_parameters(settings),
        *index_parameters(settings),
    ]


def compare_parameters(settings: Settings) -> list[Parameter]:
    return [
        query_text(settings),
        *reading_parameters(),
        sentence_count(settings),
        *filter_parameters(settings),
        *ranking_parameters(settings),
        *ranking_parameters(settings, VERSUS),
        *index_parameters(settings),
    ]


def complete_parameters(settings: Settings) -> list[Parameter]:
    return [
        query_text(settings, required=False),
        _count("limit", "how many completions to list", 1, MAX_COMPLETIONS, DEFAULT_COMPLETIONS),
        *index_parameters(settings),
    ]


def id_parameter(what: str, settings: Settings) -> Parameter:
    return Parameter("id", f"the id of the {what}", text_schema(settings.value_chars, 1), required=True)


def analyze_parameters(settings: Settings) -> list[Parameter]:
    return [
        Parameter("text", "what to make terms of", text_schema(settings.query_chars, 1), required=True),
        *index_parameters(settings),
    ]


def query_parameters(settings: Settings) -> list[Parameter]:
    standalone = "`true`: let Elasticsearch compute p(t|C); for language models only"
    choice: Schema = {"enum": ["true", "false"], "default": "false"}
    return [
        query_text(settings),
        *reading_parameters(),
        sentence_count(settings),
        *filter_parameters(settings),
        *ranking_parameters(settings),
        Parameter("standalone", standalone, choice),
        *index_parameters(settings),
    ]


def text_schema(max_chars: int, min_chars: int = 0) -> Schema:
    """A text of limited length. An empty argument counts as not given."""
    return {"type": "string", "minLength": min_chars, "maxLength": max_chars}


def _count(name: str, description: str, minimum: int, maximum: int, default: int) -> Parameter:
    return Parameter(
        name, description, {"type": "integer", "minimum": minimum, "maximum": maximum, "default": default}
    )


def _model_parameters() -> list[Parameter]:
    """One parameter for each name, which several models may share."""
    meanings_of: dict[str, dict[str, list[str]]] = {}
    choices: dict[str, list[str]] = {}
    for model in models.MODELS.values():
        for parameter in model.parameters:
            meaning = f"{parameter.description}, {parameter.range}"
            meanings_of.setdefault(parameter.name, {}).setdefault(meaning, []).append(model.name)
            choices.setdefault(parameter.name, []).extend(parameter.choices)
    return [
        Parameter(
            PARAMETER + name,
            "; ".join(f"{', '.join(models_)}: {meaning}" for meaning, models_ in meanings.items()),
            {"enum": list(dict.fromkeys(choices[name]))} if choices[name] else {"type": "number"},
        )
        for name, meanings in meanings_of.items()
    ]


def _prior_weights() -> list[Parameter]:
    return [
        Parameter(PRIOR + prior.name, f"weight of the prior {prior.name}", {"type": "number"})
        for prior in priors.PRIORS.values()
    ]
