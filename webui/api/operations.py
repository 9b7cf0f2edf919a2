"""The operations of the API by name, in the order of docs/api.md, its routes and its OpenAPI 3.1 document.

The JSON Schemas of answers are derived from data classes where possible. SCHEMAS holds the named schemas of
the OpenAPI document. Most objects are closed: they have no further properties.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping, Sequence
from typing import Any, get_args, get_type_hints

from flask import Flask, Response, jsonify, request

import esr
from esr.arguments.argument import Argument
from esr.arguments.tables.table import rows
from esr.arguments.types import META_FIELD, Schema
from esr.corpus.collocations import Collocation, Contrasted
from esr.corpus.concordance import Line
from esr.corpus.frequencies import GROUPINGS, KeyWord
from esr.corpus.names_and_quotes import Companion, Edge, ListedName, NamePage, Quotation
from esr.corpus.statements import Piece
from esr.evidence.alignment import Difference
from esr.evidence.claim_evidence import ClaimEvidence, Copy, EvidenceSentence
from esr.evidence.contrast import RULES, Contrast, DifferingPart
from esr.evidence.draft_check import (
    CheckedName,
    CheckedNumber,
    CheckedSentence,
    EvidenceFor,
    NearName,
    NumberBeside,
)
from esr.evidence.quotation_check import Appearance, Verdict
from esr.following.timeline import INTERVALS
from esr.index.filters import FACET_FIELDS
from esr.index.hits import SentenceRecord
from esr.query import FIELDS, TEXT, Form
from esr.query.interpretation import Reading
from esr.ranking.completions import Completion
from esr.text.attributes import ATTRIBUTES, META
from esr.text.document import CERTAIN, PROBABLE, Document, Sentence
from esr.text.scripts import DIRECTIONS
from webui.api import handlers
from webui.api.operation import (
    BASE,
    ERRORS,
    HEADERS,
    NOT_MODIFIED,
    Call,
    Operation,
    add_etag,
    json_response,
    search_schema,
)
from webui.arguments.request import decode_rows
from webui.running.served_indexes import Page, ServedIndexes, Visit
from webui.running.settings import Settings

_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}
NUMBER: Schema = {"type": ["number", "null"], "description": "null where it is not finite"}
TEXTS: Schema = {"type": "array", "items": {"type": "string"}}
WHOLE: Schema = {"type": "integer", "minimum": 0}
_TEXT: Schema = {"type": "string"}
_TEXT_OR_NULL: Schema = {"type": ["string", "null"]}
_COUNT: Schema = {"type": ["integer", "null"], "minimum": 0}


def having(**properties: Schema) -> Schema:
    """An object with all of these properties. Later versions may add others."""
    return {"type": "object", "required": list(properties), "properties": properties}


def extended(name: str, **properties: Schema) -> Schema:
    """The named schema with these additional properties."""
    return {"allOf": [reference(name), having(**properties)]}


def describe_fields(kind: type, *, without: Sequence[str] = ()) -> dict[str, Schema]:
    """The schemas of the fields of a data class, a struct or a named tuple."""
    hints = typing.get_type_hints(kind)
    return {name: describe_type(hint) for name, hint in hints.items() if name not in without}


def describe_type(hint: Any) -> Schema:
    """The schema of a Python type. Raises TypeError for an unsupported type."""
    if hint is Any:
        return {}
    if hint in _PLAIN:
        return {"type": _PLAIN[hint]}
    origin, inside = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [describe_type(member) for member in inside]}
    if origin is Mapping:
        return {"type": "object", "additionalProperties": describe_type(inside[1])}
    if origin in (Sequence, list, tuple):
        return {"type": "array", "items": describe_type(inside[0])}
    raise TypeError(f"{hint!r} has no shape in JSON here")


def named(*names: str) -> Schema:
    """An object with at least these properties, of any type."""
    return {"type": "object", "required": list(names)}


def array(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def described(schema: Schema, text: str) -> Schema:
    """The schema with a description."""
    return {**schema, "description": text}


def reference(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


_CLAUSE = having(
    field={"anyOf": [{"enum": [TEXT, *(field.name for field in FIELDS)]}, {"pattern": "^meta[.]."}]},
    form={"enum": list(get_args(Form))},
    text=described(_TEXT, "without sign, field, quotes and star"),
)
_PLACE: dict[str, Schema] = {
    "start": described(WHOLE, "where it begins, in code points of the query"),
    "end": WHOLE,
}
QUERY = having(
    groups=array(
        having(
            reading={"enum": list(get_args(Reading))},
            **_PLACE,
            clauses=described(array(_CLAUSE), "alternatives, unless `expression` says more"),
            expression={
                "type": ["array", "null"],
                "items": {},
                "description": "`and`, `or` or `not`, and the numbers of clauses or arrays like it",
            },
            reason=described(_TEXT_OR_NULL, "why the group is ignored"),
        )
    ),
    notes=array(having(**_PLACE, message=_TEXT)),
    matching=described(_COUNT, "sentences that match the query, as facets count them; null if unknown"),
    all_words=described(_COUNT, "how many of these have all words; null if unknown"),
    any_word=described(_COUNT, "the former name of `matching`"),
    suggestions=array(
        having(
            word=_TEXT,
            **_PLACE,
            alternatives=array(
                having(
                    text=_TEXT,
                    sentences=described(WHOLE, "how many have it"),
                    query=described(_TEXT, "the query with it"),
                )
            ),
        )
    ),
    corrected=described(_TEXT_OR_NULL, "the query with the best alternatives"),
    quoted={
        "anyOf": [
            having(
                speaker=described(_TEXT, "the speaker, as the operation `quotes` takes it"),
                name=_TEXT,
                **_PLACE,
                about=described(_TEXT, "the words for its `q`; empty for everything said"),
            ),
            {"type": "null"},
        ],
        "description": "a speaker with quotations whom the query asks about, as in `what did NAME say`",
    },
    language=described(_TEXT_OR_NULL, "the language searched in, in an index by language"),
    other_languages=described(TEXTS, "other languages with all of the query's words"),
)


_DIRECTION: Schema = {"enum": list(DIRECTIONS), "description": "of writing, by the language: HTML's `dir`"}
_HIT = having(score=NUMBER, **describe_fields(SentenceRecord), direction=_DIRECTION)
_LISTED: dict[str, Schema] = {
    **_HIT["properties"],
    "more": described(WHOLE, "further sentences of its document among those read for the page"),
    "reason": described(_TEXT_OR_NULL, "why it is listed without a word of the query; null if it has one"),
    "matches": {
        **array(having(start=described(WHOLE, "in code points of the text"), end=WHOLE)),
        "description": "where words of the query stand in the text",
    },
    "metadata": {
        "type": "object",
        "additionalProperties": True,
        "description": "other fields of the document, or the requested ones among them",
    },
    "permalink": described(_TEXT, "an address that stays that of the sentence"),
    "window": {
        **having(before=TEXTS, after=TEXTS),
        "description": "sentences before and after it in its document, where they were requested",
    },
}


def _listed_hit(name: str, required: Sequence[str]) -> Schema:
    """The schema of a hit of a list, whose passage and repeats have the same schema `name`."""
    others = array(reference(name))
    passages = {
        "passage": described(
            others, "the sentence and those beside it, in their order; empty if it is alone"
        ),
        "folded": described(others, "sentences after it that repeat it; not of similar sentences"),
    }
    return {"type": "object", "required": list(required), "properties": _LISTED | passages}


_LISTED_HITS = array({"anyOf": [reference("ListedHit"), reference("ChosenHit")]})
_ANSWER: dict[str, Schema] = {
    "hits": array(reference("Hit")),
    "total": described(WHOLE, "how many sentences are candidates: the ranking considered them"),
    "took_ms": {"type": "number"},
    "unseen": described(TEXTS, "words of the query that are not in any document"),
    "incomplete": described(_TEXT_OR_NULL, "what is missing from the answer"),
    "scored": described(_COUNT, "how many candidates were scored, if known"),
    "exhaustive": described(_TEXT_OR_NULL, "why all candidates had to be scored, if they had"),
    "unknown_filters": array(reference("UnknownFilter")),
    "without_vector": described(
        _COUNT, "how many of the reranked sentences have no vector, where the ranking uses vectors"
    ),
    "without_parse": described(
        _COUNT, "how many of the reranked sentences have no parse, where the ranking uses parses"
    ),
    "by_default": described(_TEXT_OR_NULL, "the ranking, words or hybrid, if the request names none"),
    "no_meaning": described(
        _TEXT_OR_NULL, "why words alone ranked although the index has vectors and no ranking was named"
    ),
    "unread": described(
        _COUNT, "how many sentences the cross-encoder had no time for, where the ranking has one"
    ),
}
_SIDE = having(
    ranking={"type": "object", "description": "as a ranking file, defaults filled in"},
    **_ANSWER | {"hits": array(reference("ComparedHit"))},
)
_TERM = having(
    term=_TEXT,
    weight=NUMBER,
    probability=NUMBER,
    fields={"type": "object", "additionalProperties": having(count=WHOLE, length=WHOLE, adds=NUMBER)},
    background=NUMBER,
    adds=NUMBER,
    boosts={"type": "object", "description": "how much of the weight comes from which boost"},
)
_VERDICT: Schema = {"enum": list(get_args(Verdict)), "description": "exactly so, nearly, or not found"}
_CERTAINTY: Schema = {"enum": [CERTAIN, PROBABLE, None], "description": "how surely this is the speaker"}
_NEAR_NAMES: Schema = array(having(**describe_fields(NearName)))
_DIFFERENCE: Schema = having(**describe_fields(Difference))
_PARAMETERS = array(reference("Parameter"))
_DESCRIBED: dict[str, Schema] = {"name": _TEXT, "description": _TEXT, "source": _TEXT}
_STATUS: dict[str, Schema] = {
    "engine": {"enum": ["embedded", "elasticsearch"]},
    "documents": WHOLE,
    "sentences": WHOLE,
    "occurrences": described(WHOLE, "of terms"),
    "size_bytes": {"type": ["integer", "null"], "description": "null for a login that may only search"},
    "enrichment": array(
        having(part=_TEXT, documents=WHOLE, made_with={"type": "object", "additionalProperties": True})
    ),
    "analyzer": _TEXT,
    "analyzer_version": WHOLE,
    "title": {"type": "boolean", "description": "whether titles count in the context of their documents"},
}
_OF_ONE_ENGINE: dict[str, Schema] = {
    "segments": described(WHOLE, "of a folder"),
    "generation": described(WHOLE, "of a folder"),
    "loads": described(WHOLE, "of Elasticsearch"),
    "profile": described(_TEXT_OR_NULL, "of Elasticsearch; null for a login that may only search"),
    "unresolved_names": described(WHOLE, "documents whose names an older esr stored"),
}
SCHEMAS: dict[str, Schema] = {
    "Problem": having(code=_TEXT, message=_TEXT, field=described(_TEXT_OR_NULL, "the argument at fault")),
    "Error": having(error=reference("Problem")),
    "Hit": _HIT,
    "ListedHit": _listed_hit("ListedHit", _HIT["required"]),
    "ChosenHit": described(
        _listed_hit("ChosenHit", ["sentence_id"]), "a hit with the `fields` that the request chose"
    ),
    "ComparedHit": extended(
        "Hit",
        rank={"type": "integer", "minimum": 1},
        other={"type": ["integer", "null"], "description": "the rank in the other list"},
        moved={"type": ["integer", "null"], "description": "how many ranks higher it is here"},
    ),
    "UnknownFilter": {
        **having(
            field={"enum": ["source", *ATTRIBUTES, META, "entity"]},
            value=_TEXT,
            message=_TEXT,
            nearest=described(_TEXT_OR_NULL, "a value that sentences pass"),
        ),
        "description": "a source, an attribute or a name that the index does not have",
    },
    "Page": having(
        **_ANSWER | {"hits": _LISTED_HITS},
        query=reference("Query"),
        documents=described(_COUNT, "how many documents the pages list in all, where sentences are grouped"),
        offset=described(WHOLE, "how many sentences come before, or documents where they are grouped"),
        next=described(_TEXT_OR_NULL, "the `cursor` of the next page"),
    ),
    "Query": QUERY,
    "Batch": having(answers=array({"oneOf": [reference("BatchAnswer"), reference("BatchError")]})),
    "BatchAnswer": having(id=_TEXT, **_ANSWER),
    "BatchError": having(id=_TEXT, error=reference("Problem")),
    "Facets": having(
        facets=array(
            having(
                field={"anyOf": [{"enum": list(FACET_FIELDS)}, META_FIELD]},
                values=array(having(value=_TEXT, count=WHOLE)),
                more={"type": "boolean", "description": "whether the field has more values"},
            )
        )
    ),
    "Concordance": having(
        sentences=described(WHOLE, "how many have the word or phrase exactly as it is written"),
        all_words=described(_COUNT, "how many have all words in any form; null for stop words alone"),
        read=described(WHOLE, "how many of them the lines were chosen from"),
        lines=array(having(**describe_fields(Line))),
    ),
    "Collocations": having(
        node=described(WHOLE, "occurrences of the word or phrase"),
        sentences=WHOLE,
        collocations=array(having(**describe_fields(Collocation))),
    ),
    "Quotations": having(
        quotations=array(having(**describe_fields(Quotation))), sentences=described(WHOLE, "how many match")
    ),
    "Statements": having(
        name=_TEXT,
        about=_TEXT,
        statements=array(
            having(
                wordings=array(
                    having(
                        quotation=having(**describe_fields(Quotation)),
                        copies=array(having(**describe_fields(Quotation))),
                        changes=described(
                            array(
                                having(
                                    kind={"enum": ["same", "added", "removed"]},
                                    **describe_fields(Piece, without=("kind",)),
                                )
                            ),
                            "how it differs from the wording before",
                        ),
                    )
                ),
                sources=described(WHOLE, "how many sources print one of its wordings"),
            )
        ),
        quotations=described(WHOLE, "how many quotations are in the statements"),
        sentences=described(WHOLE, "how many sentences match"),
    ),
    "Check": {
        **having(quotations=array(reference("CheckedQuotation"))),
        "properties": {
            "quotations": array(reference("CheckedQuotation")),
            "text": described(_TEXT, "the draft"),
            "sentences": described(array(reference("CheckedSentence")), "of a draft"),
            "names": described(
                array(having(**describe_fields(CheckedName, without=("nearest",)), nearest=_NEAR_NAMES)),
                "of a draft, each with more frequent names that are written nearly like it",
            ),
        },
    },
    "CheckedSentence": having(
        **describe_fields(CheckedSentence, without=("evidence", "numbers")),
        evidence=array(having(**describe_fields(EvidenceFor), permalink=_TEXT)),
        numbers=array(
            having(
                **describe_fields(CheckedNumber, without=("verdict", "beside")),
                verdict={
                    "enum": ["same", "other", "none"],
                    "description": "same: the evidence has it; other: it has others for the same unit",
                },
                beside=array(having(**describe_fields(NumberBeside))),
            )
        ),
    ),
    "CheckedQuotation": having(
        text=described(_TEXT, "the quotation without its marks"),
        start=described(WHOLE, "where it begins in the text, in code points"),
        end=WHOLE,
        verdict=_VERDICT,
        speaker=described(_TEXT_OR_NULL, "who said it: a name if it is known, or else as written"),
        certainty=_CERTAINTY,
        first={
            "anyOf": [reference("Appearance"), {"type": "null"}],
            "description": "the oldest appearance with the fewest differences",
        },
        later=described(array(reference("Appearance")), "the others, oldest first"),
        differences=described(array(_DIFFERENCE), "between the quotation and `first`"),
        nearest=described(array(reference("Appearance")), "the most similar sentences if it is not found"),
    ),
    "Appearance": having(
        **describe_fields(Appearance, without=("verdict", "certainty", "differences")),
        verdict=_VERDICT,
        certainty=_CERTAINTY,
        differences=array(_DIFFERENCE),
        permalink=described(_TEXT, "an address that stays that of the sentence"),
    ),
    "Names": having(names=array(having(**describe_fields(ListedName)))),
    "NamePage": having(
        **describe_fields(
            NamePage, without=("forms", "sources", "months", "in_sentences", "in_documents", "best", "said")
        ),
        **{
            name: {"type": "object", "additionalProperties": WHOLE} for name in ("forms", "sources", "months")
        },
        **{name: array(having(**describe_fields(Companion))) for name in ("in_sentences", "in_documents")},
        best=array(reference("Hit")),
        said=array(having(**describe_fields(Quotation))),
    ),
    "NameNetwork": having(
        names=array(having(**describe_fields(ListedName))), edges=array(having(**describe_fields(Edge)))
    ),
    "Contrast": having(
        node=described(array(WHOLE), "occurrences of the word or phrase in the part and the other"),
        sentences=array(WHOLE),
        collocations=array(having(**describe_fields(Contrasted))),
    ),
    "Evidence": having(
        claim=_TEXT,
        **{
            group: described(array(reference("EvidenceText")), meaning)
            for group, meaning in {
                "says_so": "texts that have the claim's words, numbers and negations",
                "says_otherwise": "texts that a rule tells from the claim",
                "near": "other texts with some of the claim",
            }.items()
        },
        **describe_fields(
            ClaimEvidence, without=("claim", "says_so", "says_otherwise", "near", "read", "sentences")
        ),
        sentences=described(WHOLE, "texts with their copies"),
        read=described(WHOLE, "how many sentences of the ranking were compared with the claim"),
    ),
    "EvidenceText": having(
        **describe_fields(EvidenceSentence, without=("certainty", "contrasts", "differences", "copies")),
        certainty={"enum": ["certain", "probable", None]},
        contrasts=array(having(rule={"enum": list(RULES)}, **describe_fields(Contrast, without=("rule",)))),
        differences=described(
            array(
                having(
                    kind={"enum": ["number", "date", "name"]},
                    **describe_fields(DifferingPart, without=("kind",)),
                )
            ),
            "its numbers, dates and names that the claim lacks",
        ),
        copies=described(array(having(**describe_fields(Copy))), "later sentences in nearly the same words"),
    ),
    "Frequencies": having(
        by={"enum": list(GROUPINGS)},
        groups=described(TEXTS, "periods in order and without a gap, or sources"),
        words=described(array(WHOLE), "terms of each group that pass the filters"),
        all_words=WHOLE,
        series=array(
            having(
                query=_TEXT,
                counts=described(array(WHOLE), "occurrences in each group"),
                rates=described(array(NUMBER), "occurrences per million words of the group"),
                total=WHOLE,
                rate=NUMBER,
                ungrouped=described(WHOLE, "occurrences in documents without a date or a source"),
                sentences=WHOLE,
            )
        ),
    ),
    "KeyWords": having(
        sizes=described(array(WHOLE), "terms of the part and of the other"),
        words=array(having(**describe_fields(KeyWord))),
    ),
    "Timeline": having(
        interval={"enum": list(INTERVALS)},
        periods=described(TEXTS, "ISO 8601 names, in order and without a gap"),
        sentences=described(array(WHOLE), "all sentences of each period that pass the filters"),
        least_sentences=described(WHOLE, "a period with fewer sentences has no rate"),
        series=array(
            having(
                query=_TEXT,
                counts=described(array(WHOLE), "sentences with all words, by period"),
                rates=described(
                    array({"type": ["number", "null"]}),
                    "per million sentences of the period; null for few",
                ),
                total=WHOLE,
                undated=described(WHOLE, "sentences without a date, which count for no period"),
                peaks=array(
                    having(
                        period=_TEXT,
                        count=WHOLE,
                        sources=described(WHOLE, "the sources of these sentences"),
                        sentence=described(
                            reference("Hit"),
                            "the one that most others, of other documents, agree with",
                        ),
                    )
                ),
            )
        ),
    ),
    "Similar": having(
        **_ANSWER | {"hits": _LISTED_HITS},
        terms=described(TEXTS, "the terms of the sentence that were searched for"),
    ),
    "Values": having(
        values=array(
            having(
                value=described(_TEXT, "as a filter takes it"),
                type=described(_TEXT_OR_NULL, "the type of a name"),
                count=described(WHOLE, "documents with the value, or sentences with the name"),
            )
        )
    ),
    "Explanation": having(
        sentence_id=_TEXT,
        text=_TEXT,
        language={"type": ["string", "null"]},
        direction=_DIRECTION,
        score=NUMBER,
        first=described(NUMBER, "the score of the first stage"),
        terms=array(_TERM),
        length=NUMBER,
        priors=array(having(name=_TEXT, value=NUMBER, weight=NUMBER, adds=NUMBER)),
        features=array(
            {
                **having(feature=_TEXT, value=NUMBER, form=_TEXT, adds=NUMBER),
                "additionalProperties": {"type": "number"},
                "description": "with the parameters of the form",
            }
        ),
        boosts=array(having(boost=_TEXT, feature=_TEXT, value=NUMBER, weight=NUMBER, adds=NUMBER)),
        boosted={"type": "object", "description": "what each boost adds in all"},
        second={"type": ["object", "null"], "description": "the second stage, where there is one"},
        tree={"type": ["object", "null"], "description": "the dependency tree, if the sentence was parsed"},
        unseen=TEXTS,
        plan={"type": "object", "description": "what the engine executed"},
    ),
    "Document": having(
        **describe_fields(Document, without=["sentences"]),
        direction=_DIRECTION,
        sentences=array(
            having(
                **describe_fields(Sentence, without=["parse", "quotes"]),
                score={"type": ["number", "null"], "description": "null without a query"},
                hit={"type": "boolean", "description": "whether it contains a word of the query"},
            )
        ),
    ),
    "Reuse": having(
        pairs=array(
            having(
                origin=described(_TEXT, "the source in which they stood first"),
                taker=described(_TEXT, "the source that printed them later"),
                sentences=described(WHOLE, "how many different sentences"),
            )
        )
    ),
    "Documents": having(
        documents=array(reference("Document")), missing=described(TEXTS, "ids of documents that do not exist")
    ),
    "Comparison": having(
        left=reference("Side"),
        right=reference("Side"),
        shared=described(WHOLE, "sentences in both lists"),
        moved=described(WHOLE, "sentences in both lists whose ranks differ"),
    ),
    "Side": _SIDE,
    "Completions": having(
        completions=array(
            having(
                text=_TEXT,
                kind={"enum": list(get_args(get_type_hints(Completion)["kind"]))},
                frequency=described(WHOLE, "about how many sentences, or documents with a value, have it"),
                query=described(_TEXT, "the query with it"),
            )
        )
    ),
    "Analysis": having(
        analyzer=_TEXT,
        version={"type": "integer"},
        text=described(_TEXT, "as it was analysed: without blanks at its ends"),
        tokens=array(
            having(
                start=described(WHOLE, "where the word begins, in code points of the text"),
                end=described(WHOLE, "where the word ends; bigrams overlap"),
                term=_TEXT,
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


OPERATIONS = {
    operation.name: operation
    for operation in (
        Operation("search", handlers.search, "Page", errors=(409,), has_twin=True),
        Operation(
            "search_body",
            handlers.search_body,
            "Page",
            method="POST",
            path="/search",
            body=search_schema,
            errors=(409,),
        ),
        Operation(
            "batch",
            handlers.batch,
            "Batch",
            method="POST",
            body=handlers.body_schema,
            other_types=(handlers.RUN, handlers.CSV),
            deadline="batch_deadline",
        ),
        Operation("facets", handlers.facets, "Facets"),
        Operation("timeline", handlers.timeline, "Timeline", has_twin=True),
        Operation("similar", handlers.similar, "Similar", errors=(404,), has_twin=True),
        Operation("concordance", handlers.concordance, "Concordance", has_twin=True),
        Operation("collocations", handlers.collocations, "Collocations", has_twin=True),
        Operation("quotes", handlers.quotes, "Quotations", has_twin=True),
        Operation("check", handlers.check, "Check", has_twin=True),
        Operation(
            "check_body",
            handlers.check_body,
            "Check",
            method="POST",
            path="/check",
            body=handlers.check_schema,
            deadline="batch_deadline",
        ),
        Operation("names", handlers.names, "Names", has_twin=True),
        Operation("name", handlers.name, "NamePage", path="/names/page"),
        Operation("statements", handlers.statements, "Statements", path="/names/statements"),
        Operation("network", handlers.network, "NameNetwork", path="/names/network"),
        Operation("contrast", handlers.contrast, "Contrast", has_twin=True),
        Operation("reuse", handlers.reuse, "Reuse"),
        Operation("evidence", handlers.evidence, "Evidence", has_twin=True),
        Operation("frequencies", handlers.frequencies, "Frequencies", has_twin=True),
        Operation("keyness", handlers.keyness, "KeyWords"),
        Operation("values", handlers.values, "Values"),
        Operation("complete", handlers.complete, "Completions"),
        Operation("explain", handlers.explain, "Explanation", errors=(404,), has_twin=True),
        Operation("document", handlers.document, "Document", errors=(404,), has_twin=True),
        Operation("documents", handlers.documents, "Documents"),
        Operation("compare", handlers.compare, "Comparison", has_twin=True),
        Operation("analyze", handlers.analyze, "Analysis"),
        Operation("models", handlers.catalogue, "Catalogue"),
        Operation("status", handlers.status, "Status"),
        Operation("query", handlers.query, "Request"),
    )
}


# Routes and the OpenAPI document


def openapi_document(settings: Settings, server: str, others: Sequence[Operation] = ()) -> dict[str, Any]:
    """The OpenAPI document of an API at the address `server`, with the operations of plug-ins."""
    operations = [*OPERATIONS.values(), *others]
    schemas = {operation.answer: operation.schema for operation in others}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "esr",
            "version": esr.__version__,
            "description": "Search for sentences of news.",
            "license": {"name": "Apache 2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": server}],
        "security": [{}, {"key": []}],
        "paths": {
            path: {o.method.lower(): _operation(o, settings) for o in operations if o.path == path}
            for path in dict.fromkeys(operation.path for operation in operations)
        },
        "components": {
            "schemas": {**SCHEMAS, **schemas},
            "securitySchemes": {
                "key": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "a key, where the server has logins",
                }
            },
            "headers": {
                name: {
                    "description": text,
                    "schema": {"type": "string" if name == "ETag" else "integer"},
                }
                for name, text in HEADERS.items()
            },
            "responses": {f"Error{status}": _error(status) for status in ERRORS},
        },
    }


def _operation(operation: Operation, settings: Settings) -> dict[str, Any]:
    answer = {"application/json": {"schema": {"$ref": f"#/components/schemas/{operation.answer}"}}}
    others = {media: {"schema": {"type": "string"}} for media in operation.other_types}
    described: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "parameters": _parameters(operation, settings),
        "responses": {
            "200": {
                "description": operation.summary,
                "headers": _headers(operation),
                "content": answer | others,
            },
            **({"304": {"description": NOT_MODIFIED}} if operation.method == "GET" else {}),
            **{str(s): {"$ref": f"#/components/responses/Error{s}"} for s in operation.statuses},
        },
    }
    if operation.body:
        content = {"application/json": {"schema": operation.body(settings)}}
        described["requestBody"] = {"required": True, "content": content}
    return described


def _headers(operation: Operation) -> Mapping[str, Any]:
    names = [name for name in HEADERS if name != "ETag" or operation.method == "GET"]
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def _parameters(operation: Operation, settings: Settings) -> list[Mapping[str, Any]]:
    """The arguments of an operation, then their former names, except those that are arguments now."""
    rows = {row.name: row for row in operation.arguments}
    former = {
        alias.name: {
            **_parameter(row, alias.schema(row.type, settings)),
            "name": alias.name,
            "description": f"former name of {row.name}",
            "deprecated": True,
        }
        for row in rows.values()
        for alias in row.aliases
        if alias.name not in rows
    }
    return [*(_parameter(row, row.type.schema(settings)) for row in rows.values()), *former.values()]


def _parameter(row: Argument, schema: Schema) -> Mapping[str, Any]:
    described: dict[str, Any] = {
        "name": row.name,
        "in": "query",
        "description": row.help,
        "required": row.is_required,
        "schema": {"type": "array", "items": schema} if row.is_repeatable else schema,
    }
    return described | ({"style": "form", "explode": True} if row.is_repeatable else {})


def _error(status: int) -> Mapping[str, Any]:
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    described: dict[str, Any] = {"description": ERRORS[status], "content": content}
    if status in (429, 503):
        wait = {"description": "seconds to wait", "schema": {"type": "integer"}}
        described["headers"] = {"Retry-After": wait}
    return described


def install_api(
    app: Flask, indexes: ServedIndexes, settings: Settings, others: Sequence[Operation] = ()
) -> None:
    """Add the routes of all operations, of those of plug-ins, and of the OpenAPI document."""

    def answering(operation: Operation, *pages: str) -> Page:
        def view(visit: Visit) -> Response:
            allowed = rows(operation.name, *pages) if pages else operation.rows
            arguments = decode_rows(request.query_string, settings, allowed)
            answer = operation.handler(Call(visit, settings, arguments))
            response = answer if isinstance(answer, Response) else json_response(answer)
            return add_etag(response) if operation.method == "GET" else response

        return view

    for operation in (*OPERATIONS.values(), *others):
        seconds = getattr(settings, operation.deadline)
        rule, endpoint = BASE + operation.path, f"api.{operation.name}"
        indexes.route(app, rule, endpoint, operation.method, seconds)(answering(operation))
        if operation.has_twin:  # also accepts the page's other arguments
            twin = f"{operation.path}.json", f"{operation.name}_json"
            indexes.route(app, *twin)(answering(operation, "page"))

    @app.get(BASE + "/openapi.json", endpoint="api.openapi")
    def openapi() -> Response:
        return jsonify(openapi_document(settings, request.script_root + BASE, others))
