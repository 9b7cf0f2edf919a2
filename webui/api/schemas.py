"""JSON Schemas of the API's answers, derived from data classes where possible.

SCHEMAS holds the named schemas of the OpenAPI document. Most objects are closed: they have no further
properties.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping, Sequence
from typing import Any, get_args, get_type_hints

from esr.corpus.collocations import Collocation, Contrasted
from esr.corpus.concordance import Line
from esr.corpus.frequencies import GROUPINGS, KeyWord
from esr.corpus.names_and_quotes import Companion, Edge, ListedName, NamePage, Quotation
from esr.following.timeline import INTERVALS
from esr.index.filters import FACET_FIELDS
from esr.index.hits import SentenceRecord
from esr.query import FIELDS, TEXT, Form
from esr.query.interpretation import Reading
from esr.ranking.query_report import Completion
from esr.text.document import ATTRIBUTES, DIRECTIONS, META, Document, Sentence
from webui.arguments.values import META_FIELD, Schema

_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}
NUMBER: Schema = {"type": ["number", "null"], "description": "null where it is not finite"}
TEXTS: Schema = {"type": "array", "items": {"type": "string"}}
WHOLE: Schema = {"type": "integer", "minimum": 0}


def having(**properties: Schema) -> Schema:
    """An object with all of these properties. Later versions may add others."""
    return {"type": "object", "required": list(properties), "properties": properties}


def extended(name: str, **properties: Schema) -> Schema:
    """The named schema with these additional properties."""
    return {"allOf": [reference(name), having(**properties)]}


def of_class(kind: type, *, without: Sequence[str] = ()) -> dict[str, Schema]:
    """The schemas of the fields of a data class, a struct or a named tuple."""
    hints = typing.get_type_hints(kind)
    return {name: of_type(hint) for name, hint in hints.items() if name not in without}


def of_type(hint: Any) -> Schema:
    """The schema of a Python type. Raises TypeError for an unsupported type."""
    if hint is Any:
        return {}
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


def named(*names: str) -> Schema:
    """An object with at least these properties, of any type."""
    return {"type": "object", "required": list(names)}


def array(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def reference(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


_CLAUSE = having(
    field={"anyOf": [{"enum": [TEXT, *(field.name for field in FIELDS)]}, {"pattern": "^meta[.]."}]},
    form={"enum": list(get_args(Form))},
    text={"type": "string", "description": "without sign, field, quotes and star"},
)
_PLACE: dict[str, Schema] = {
    "start": {**WHOLE, "description": "where it begins, in code points of the query"},
    "end": WHOLE,
}
_COUNT: Schema = {"type": ["integer", "null"], "minimum": 0}
QUERY = having(
    groups=array(
        having(
            reading={"enum": list(get_args(Reading))},
            **_PLACE,
            clauses={**array(_CLAUSE), "description": "alternatives, unless `expression` says more"},
            expression={
                "type": ["array", "null"],
                "items": {},
                "description": "`and`, `or` or `not`, and the numbers of clauses or arrays like it",
            },
            reason={"type": ["string", "null"], "description": "why the group is ignored"},
        )
    ),
    notes=array(having(**_PLACE, message={"type": "string"})),
    all_words={**_COUNT, "description": "sentences with all words; null if none are ranked"},
    any_word={**_COUNT, "description": "sentences with any of the words; null if none are ranked"},
    suggestions=array(
        having(
            word={"type": "string"},
            **_PLACE,
            alternatives=array(
                having(
                    text={"type": "string"},
                    sentences={**WHOLE, "description": "how many have it"},
                    query={"type": "string", "description": "the query with it"},
                )
            ),
        )
    ),
    corrected={"type": ["string", "null"], "description": "the query with the best alternatives"},
    language={
        "type": ["string", "null"],
        "description": "the language searched in, in an index by language",
    },
    other_languages={
        **array({"type": "string"}),
        "description": "other languages with all of the query's words",
    },
)


_DIRECTION: Schema = {
    "enum": list(DIRECTIONS),
    "description": "of writing, by the language: HTML's `dir`",
}
_HIT = having(score=NUMBER, **of_class(SentenceRecord), direction=_DIRECTION)
_TEXT: Schema = {"type": "string"}
_LISTED: dict[str, Schema] = {
    **_HIT["properties"],
    "passage": {
        **array(reference("ListedHit")),
        "description": "the sentence and those beside it, in their order; empty if it is alone",
    },
    "folded": {
        **array(reference("ListedHit")),
        "description": "sentences after it that repeat it; not of similar sentences",
    },
    "more": {**WHOLE, "description": "further sentences of its document among those read for the page"},
    "reason": {
        "type": ["string", "null"],
        "description": "why it is listed without a word of the query; null if it has one",
    },
    "matches": {
        **array(having(start={**WHOLE, "description": "in code points of the text"}, end=WHOLE)),
        "description": "where words of the query stand in the text",
    },
    "metadata": {
        "type": "object",
        "additionalProperties": True,
        "description": "other fields of the document, or the requested ones among them",
    },
    "permalink": {**_TEXT, "description": "an address that stays that of the sentence"},
    "window": {
        **having(before=TEXTS, after=TEXTS),
        "description": "sentences before and after it in its document, where they were requested",
    },
}
_ANSWER: dict[str, Schema] = {
    "hits": array(reference("Hit")),
    "total": {**WHOLE, "description": "how many sentences are candidates"},
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
    "unknown_filters": array(reference("UnknownFilter")),
    "without_vector": {
        "type": ["integer", "null"],
        "minimum": 0,
        "description": "how many of the reranked sentences have no vector, where the ranking uses vectors",
    },
    "without_parse": {
        "type": ["integer", "null"],
        "minimum": 0,
        "description": "how many of the reranked sentences have no parse, where the ranking uses parses",
    },
    "unread": {
        "type": ["integer", "null"],
        "minimum": 0,
        "description": "how many sentences the cross-encoder had no time for, where the ranking has one",
    },
}
_SIDE = having(
    ranking={"type": "object", "description": "as a ranking file, defaults filled in"},
    **_ANSWER | {"hits": array(reference("ComparedHit"))},
)
_TERM = having(
    term={"type": "string"},
    weight=NUMBER,
    probability=NUMBER,
    fields={"type": "object", "additionalProperties": having(count=WHOLE, length=WHOLE, adds=NUMBER)},
    background=NUMBER,
    adds=NUMBER,
    boosts={"type": "object", "description": "how much of the weight comes from which boost"},
)
_TEXT_OR_NULL: Schema = {"type": ["string", "null"]}
_PARAMETERS = array(reference("Parameter"))
_DESCRIBED: dict[str, Schema] = {"name": _TEXT, "description": _TEXT, "source": _TEXT}
_STATUS: dict[str, Schema] = {
    "engine": {"enum": ["embedded", "elasticsearch"]},
    "documents": WHOLE,
    "sentences": WHOLE,
    "occurrences": {**WHOLE, "description": "of terms"},
    "size_bytes": {"type": ["integer", "null"], "description": "null for a login that may only search"},
    "enrichment": array(
        having(part=_TEXT, documents=WHOLE, made_with={"type": "object", "additionalProperties": True})
    ),
    "analyzer": _TEXT,
    "analyzer_version": WHOLE,
    "title": {"type": "boolean", "description": "whether titles count in the context of their documents"},
}
_OF_ONE_ENGINE: dict[str, Schema] = {
    "segments": {**WHOLE, "description": "of a folder"},
    "generation": {**WHOLE, "description": "of a folder"},
    "loads": {**WHOLE, "description": "of Elasticsearch"},
    "profile": {**_TEXT_OR_NULL, "description": "of Elasticsearch; null for a login that may only search"},
    "unresolved_names": {**WHOLE, "description": "documents whose names an older esr stored"},
}
SCHEMAS: dict[str, Schema] = {
    "Problem": having(
        code=_TEXT,
        message=_TEXT,
        field={"type": ["string", "null"], "description": "the argument at fault"},
    ),
    "Error": having(error=reference("Problem")),
    "Hit": _HIT,
    "ListedHit": {**having(**_LISTED), "required": ["sentence_id"]},
    "ComparedHit": extended(
        "Hit",
        rank={"type": "integer", "minimum": 1},
        other={"type": ["integer", "null"], "description": "the rank in the other list"},
        moved={"type": ["integer", "null"], "description": "how many ranks higher it is here"},
    ),
    "UnknownFilter": {
        **having(
            field={"enum": ["source", *ATTRIBUTES, META, "entity"]},
            value={"type": "string"},
            message={"type": "string"},
            nearest={"type": ["string", "null"], "description": "a value that sentences pass"},
        ),
        "description": "a source, an attribute or a name that the index does not have",
    },
    "Page": having(
        **_ANSWER | {"hits": array(reference("ListedHit"))},
        query=reference("Query"),
        documents={
            "type": ["integer", "null"],
            "minimum": 0,
            "description": "how many documents the pages list in all, where sentences are grouped",
        },
        offset={
            **WHOLE,
            "description": "how many sentences come before, or documents where they are grouped",
        },
        next={"type": ["string", "null"], "description": "the `after` of the next page"},
    ),
    "Query": QUERY,
    "Batch": having(
        answers=array({"oneOf": [reference("BatchAnswer"), reference("BatchError")]}),
    ),
    "BatchAnswer": having(id=_TEXT, **_ANSWER),
    "BatchError": having(id=_TEXT, error=reference("Problem")),
    "Facets": having(
        facets=array(
            having(
                field={"anyOf": [{"enum": list(FACET_FIELDS)}, META_FIELD]},
                values=array(having(value={"type": "string"}, count=WHOLE)),
                more={"type": "boolean", "description": "whether the field has more values"},
            )
        )
    ),
    "Concordance": having(
        sentences={**WHOLE, "description": "how many match"},
        read={**WHOLE, "description": "how many of them the lines were chosen from"},
        lines=array(having(**of_class(Line))),
    ),
    "Collocations": having(
        node={**WHOLE, "description": "occurrences of the word or phrase"},
        sentences=WHOLE,
        collocations=array(having(**of_class(Collocation))),
    ),
    "Quotations": having(
        quotations=array(having(**of_class(Quotation))),
        sentences={**WHOLE, "description": "how many match"},
    ),
    "Names": having(names=array(having(**of_class(ListedName)))),
    "NamePage": having(
        **of_class(
            NamePage,
            without=("forms", "sources", "months", "in_sentences", "in_documents", "best", "said"),
        ),
        **{
            name: {"type": "object", "additionalProperties": WHOLE} for name in ("forms", "sources", "months")
        },
        **{name: array(having(**of_class(Companion))) for name in ("in_sentences", "in_documents")},
        best=array(reference("Hit")),
        said=array(having(**of_class(Quotation))),
    ),
    "NameNetwork": having(names=array(having(**of_class(ListedName))), edges=array(having(**of_class(Edge)))),
    "Contrast": having(
        node={**array(WHOLE), "description": "occurrences of the word or phrase in the part and the other"},
        sentences=array(WHOLE),
        collocations=array(having(**of_class(Contrasted))),
    ),
    "Frequencies": having(
        by={"enum": list(GROUPINGS)},
        groups={**TEXTS, "description": "periods in order and without a gap, or sources"},
        words={**array(WHOLE), "description": "terms of each group that pass the filters"},
        all_words=WHOLE,
        series=array(
            having(
                query=_TEXT,
                counts={**array(WHOLE), "description": "occurrences in each group"},
                rates={**array(NUMBER), "description": "occurrences per million words of the group"},
                total=WHOLE,
                rate=NUMBER,
                ungrouped={**WHOLE, "description": "occurrences in documents without a date or a source"},
                sentences=WHOLE,
            )
        ),
    ),
    "KeyWords": having(
        sizes={**array(WHOLE), "description": "terms of the part and of the other"},
        words=array(having(**of_class(KeyWord))),
    ),
    "Timeline": having(
        interval={"enum": list(INTERVALS)},
        periods={**TEXTS, "description": "ISO 8601 names, in order and without a gap"},
        sentences={**array(WHOLE), "description": "all sentences of each period that pass the filters"},
        series=array(
            having(
                query={"type": "string"},
                counts={**array(WHOLE), "description": "sentences with all words, by period"},
                rates={**array(NUMBER), "description": "per million sentences of the period"},
                total=WHOLE,
                undated={**WHOLE, "description": "sentences without a date, which count for no period"},
                peaks=array(having(period={"type": "string"}, count=WHOLE, sentence=reference("Hit"))),
            )
        ),
    ),
    "Similar": having(
        **_ANSWER | {"hits": array(reference("ListedHit"))},
        terms={**TEXTS, "description": "the terms of the sentence that were searched for"},
    ),
    "Values": having(
        values=array(
            having(
                value={"type": "string", "description": "as a filter takes it"},
                type={"type": ["string", "null"], "description": "the type of a name"},
                count={**WHOLE, "description": "documents with the value, or sentences with the name"},
            )
        )
    ),
    "Explanation": having(
        sentence_id={"type": "string"},
        text={"type": "string"},
        language={"type": ["string", "null"]},
        direction=_DIRECTION,
        score=NUMBER,
        first={**NUMBER, "description": "the score of the first stage"},
        terms=array(_TERM),
        length=NUMBER,
        priors=array(having(name={"type": "string"}, value=NUMBER, weight=NUMBER, adds=NUMBER)),
        features=array(
            {
                **having(feature=_TEXT, value=NUMBER, form=_TEXT, adds=NUMBER),
                "additionalProperties": {"type": "number"},
                "description": "with the parameters of the form",
            }
        ),
        boosts=array(
            having(
                boost={"type": "string"}, feature={"type": "string"}, value=NUMBER, weight=NUMBER, adds=NUMBER
            )
        ),
        boosted={"type": "object", "description": "what each boost adds in all"},
        second={"type": ["object", "null"], "description": "the second stage, where there is one"},
        tree={"type": ["object", "null"], "description": "the dependency tree, if the sentence was parsed"},
        unseen=TEXTS,
        plan={"type": "object", "description": "what the engine executed"},
    ),
    "Document": having(
        **of_class(Document, without=["sentences"]),
        direction=_DIRECTION,
        sentences=array(
            having(
                **of_class(Sentence, without=["parse", "quotes"]),
                score={"type": ["number", "null"], "description": "null without a query"},
                hit={"type": "boolean", "description": "whether it contains a word of the query"},
            )
        ),
    ),
    "Documents": having(
        documents=array(reference("Document")),
        missing={**TEXTS, "description": "ids of documents that do not exist"},
    ),
    "Comparison": having(
        left=reference("Side"),
        right=reference("Side"),
        shared={**WHOLE, "description": "sentences in both lists"},
        moved={**WHOLE, "description": "sentences in both lists whose ranks differ"},
    ),
    "Side": _SIDE,
    "Completions": having(
        completions=array(
            having(
                text={"type": "string"},
                kind={"enum": list(get_args(get_type_hints(Completion)["kind"]))},
                frequency={
                    **WHOLE,
                    "description": "about how many sentences, or documents with a value, have it",
                },
                query={"type": "string", "description": "the query with it"},
            )
        )
    ),
    "Analysis": having(
        analyzer={"type": "string"},
        version={"type": "integer"},
        text={"type": "string", "description": "as it was analysed: without blanks at its ends"},
        tokens=array(
            having(
                start={**WHOLE, "description": "where the word begins, in code points of the text"},
                end={**WHOLE, "description": "where the word ends; bigrams overlap"},
                term={"type": "string"},
            )
        ),
    ),
    "Catalogue": having(
        default=_TEXT,
        models=array(having(**_DESCRIBED, contexts=TEXTS, candidates=_TEXT, parameters=_PARAMETERS)),
        contexts={"type": "object", "additionalProperties": _TEXT},
        candidates={"type": "object", "additionalProperties": _TEXT},
        priors=array(having(**_DESCRIBED)),
        features=array(
            having(
                **_DESCRIBED, needs={"anyOf": [TEXTS, {"type": "null"}]}, column=_TEXT_OR_NULL, version=WHOLE
            )
        ),
        forms=array(having(**_DESCRIBED, trained={"type": "boolean"}, parameters=_PARAMETERS)),
        boosts=array(having(**_DESCRIBED, parameters=_PARAMETERS)),
        signals=array(having(**_DESCRIBED, parameters=_PARAMETERS)),
    ),
    "Parameter": having(
        name=_TEXT,
        description=_TEXT,
        default={"type": ["number", "string", "null"]},
        range=_TEXT,
        choices=TEXTS,
        only_with=_TEXT_OR_NULL,
        grid=array({"type": "number"}),
    ),
    "Status": {**having(**_STATUS, **_OF_ONE_ENGINE), "required": list(_STATUS)},
    "Request": {
        **named("query", "size", "sort", "_source"),
        "description": "the body for `_search` of the alias",
    },
}
