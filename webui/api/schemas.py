"""The JSON Schemas of the API's answers, derived from data classes where possible."""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from esr.documents import Document, Sentence
from esr.documents.direction import DIRECTIONS
from esr.engines.index import FACET_FIELDS, SentenceRecord
from webui.api.operation import Schema

_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}
NUMBER: Schema = {"type": ["number", "null"], "description": "null where it is not finite"}
TEXTS: Schema = {"type": "array", "items": {"type": "string"}}
WHOLE: Schema = {"type": "integer", "minimum": 0}


def closed(**properties: Schema) -> Schema:
    """An object with these properties, all of them and no others."""
    return {
        "type": "object",
        "required": list(properties),
        "additionalProperties": False,
        "properties": properties,
    }


def of_class(kind: type, *, without: Sequence[str] = ()) -> dict[str, Schema]:
    """The properties of a data class in JSON."""
    hints = typing.get_type_hints(kind)
    return {f.name: of_type(hints[f.name]) for f in fields(kind) if f.name not in without}


def of_type(hint: Any) -> Schema:
    """A type as it looks in JSON."""
    if hint in _PLAIN:
        return {"type": _PLAIN[hint]}
    origin, inside = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [of_type(member) for member in inside]}
    if origin is Mapping:
        return {"type": "object", "additionalProperties": of_type(inside[1])}
    if origin in (Sequence, list, tuple):
        return {"type": "array", "items": of_type(inside[0])}
    raise TypeError(f"{hint!r} has no shape in JSON here")


def _named(*names: str) -> Schema:
    """An object that has at least these properties."""
    return {"type": "object", "required": list(names)}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


_DIRECTION: Schema = {
    "enum": list(DIRECTIONS),
    "description": "of writing, by the language: HTML's `dir`",
}
_HIT_FIELDS = {"score": NUMBER, **of_class(SentenceRecord), "direction": _DIRECTION}
_HIT = closed(**_HIT_FIELDS)
_ANSWER: dict[str, Schema] = {
    "hits": _list(_ref("Hit")),
    "total": {**WHOLE, "description": "how many candidates there are"},
    "took_ms": {"type": "number"},
    "unseen": {**TEXTS, "description": "words of the query that are not in any document"},
    "incomplete": {"type": ["string", "null"], "description": "what is missing from the answer"},
    "scored": {
        "type": ["integer", "null"],
        "minimum": 0,
        "description": "how many candidates were scored, if known",
    },
    "exhaustive": {
        "type": ["string", "null"],
        "description": "why all candidates had to be scored, if they had",
    },
    "unknown_filters": _list(_ref("UnknownFilter")),
}
_SIDE = closed(
    ranking={"type": "object", "description": "as a ranking file, defaults filled in"},
    **_ANSWER
    | {
        "hits": _list(
            closed(
                **_HIT_FIELDS,
                rank={"type": "integer", "minimum": 1},
                other={"type": ["integer", "null"], "description": "the rank in the other list"},
                moved={"type": ["integer", "null"], "description": "how many ranks higher it is here"},
            )
        )
    },
)
_TERM = closed(
    term={"type": "string"},
    weight=NUMBER,
    probability=NUMBER,
    fields={"type": "object", "additionalProperties": closed(count=WHOLE, length=WHOLE, adds=NUMBER)},
    background=NUMBER,
    adds=NUMBER,
    boosts={"type": "object", "description": "how much of the weight comes from which boost"},
)
SCHEMAS: dict[str, Schema] = {
    "Error": closed(
        error=closed(
            code={"type": "string"},
            message={"type": "string"},
            field={"type": ["string", "null"], "description": "the argument at fault"},
        )
    ),
    "Hit": _HIT,
    "UnknownFilter": {
        **closed(
            field={"enum": ["source", "entity"]},
            value={"type": "string"},
            message={"type": "string"},
            nearest={"type": ["string", "null"], "description": "a value that sentences pass"},
        ),
        "description": "a source or a name that the index does not have",
    },
    "Page": closed(
        **_ANSWER,
        offset=WHOLE,
        next={"type": ["string", "null"], "description": "the `after` of the next page"},
    ),
    "Batch": closed(
        answers=_list(
            {
                "oneOf": [
                    closed(id={"type": "string"}, **_ANSWER),
                    closed(
                        id={"type": "string"},
                        error={"$ref": "#/components/schemas/Error/properties/error"},
                    ),
                ]
            }
        )
    ),
    "Facets": closed(
        facets=_list(
            closed(
                field={"enum": list(FACET_FIELDS)},
                values=_list(closed(value={"type": "string"}, count=WHOLE)),
                more={"type": "boolean", "description": "whether the field has more values"},
            )
        )
    ),
    "Completions": closed(
        values=_list(
            closed(
                value={"type": "string", "description": "as a filter takes it"},
                type={"type": ["string", "null"], "description": "the type of a name"},
                count={**WHOLE, "description": "documents of the source, or sentences with the name"},
            )
        )
    ),
    "Explanation": closed(
        sentence_id={"type": "string"},
        text={"type": "string"},
        language={"type": ["string", "null"]},
        direction=_DIRECTION,
        score=NUMBER,
        first={**NUMBER, "description": "the score of the first stage"},
        terms=_list(_TERM),
        length=NUMBER,
        priors=_list(closed(name={"type": "string"}, value=NUMBER, weight=NUMBER, adds=NUMBER)),
        features=_list(_named("feature", "value", "form", "adds")),
        boosts=_list(
            closed(
                boost={"type": "string"}, feature={"type": "string"}, value=NUMBER, weight=NUMBER, adds=NUMBER
            )
        ),
        boosted={"type": "object", "description": "what each boost adds in all"},
        second={"type": ["object", "null"], "description": "the second stage, where there is one"},
        tree={"type": ["object", "null"], "description": "the dependency tree, if the sentence was parsed"},
        unseen=TEXTS,
        plan={"type": "object", "description": "what the engine executed"},
    ),
    "Document": closed(
        **of_class(Document, without=["sentences"]),
        direction=_DIRECTION,
        sentences=_list(
            closed(
                **of_class(Sentence, without=["parse"]),
                score={"type": ["number", "null"], "description": "null without a query"},
                hit={"type": "boolean", "description": "whether it contains a word of the query"},
            )
        ),
    ),
    "Comparison": closed(
        left=_SIDE,
        right=_SIDE,
        shared={**WHOLE, "description": "sentences in both lists"},
        moved={**WHOLE, "description": "sentences in both lists whose ranks differ"},
    ),
    "Analysis": closed(
        analyzer={"type": "string"},
        version={"type": "integer"},
        text={"type": "string", "description": "as it was analysed: without blanks at its ends"},
        tokens=_list(
            closed(
                start={**WHOLE, "description": "where the word begins, in code points of the text"},
                end={**WHOLE, "description": "where the word ends; bigrams overlap"},
                term={"type": "string"},
            )
        ),
    ),
    "Catalogue": closed(
        default={"type": "string"},
        models=_list(_named("name", "description", "source", "contexts", "candidates", "parameters")),
        contexts={"type": "object"},
        candidates={"type": "object"},
        priors=_list(_named("name", "description", "source")),
        features=_list(_named("name", "description", "source", "needs")),
        forms=_list(_named("name", "description", "source", "parameters")),
        boosts=_list(_named("name", "description", "source", "parameters")),
        signals=_list(_named("name", "description", "source", "parameters")),
    ),
    "Status": _named("engine", "documents", "sentences", "occurrences", "analyzer", "title", "enrichment"),
    "Request": {
        **_named("query", "size", "sort", "_source"),
        "description": "the body for `_search` of the alias",
    },
}
