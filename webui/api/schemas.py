"""The named JSON Schemas of the OpenAPI document of the API.

Schemas of answers are derived from data classes where possible. Most objects are closed: they have no further
properties.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args, get_type_hints

from esr.arguments.types import META_FIELD, Schema
from esr.corpus.choices import GROUPINGS
from esr.corpus.collocations import Collocation, Contrasted
from esr.corpus.concordance import Line
from esr.corpus.frequencies import KeyWord
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
from esr.evidence.quotation_check import Appearance
from esr.evidence.quotation_matches import Verdict
from esr.following.timeline import INTERVALS
from esr.index.copies import Appearance as CopyAppearance
from esr.index.filters import FACET_FIELDS
from esr.index.hits import SentenceRecord
from esr.index.questions import PeriodContent
from esr.query import FIELDS, TEXT, Form
from esr.query.interpretation import Reading
from esr.ranking.completions import Completion
from esr.text.attributes import ATTRIBUTES, META
from esr.text.document import CERTAIN, PROBABLE, Document, Sentence
from esr.text.periods import PERIODS
from esr.text.scripts import DIRECTIONS
from webui.api.alerts import ALERT_SCHEMAS
from webui.api.dossiers import DOSSIER_SCHEMAS
from webui.api.shapes import array, describe_fields, described, extended, having, named, reference

NUMBER: Schema = {"type": ["number", "null"], "description": "null where it is not finite"}
TEXTS: Schema = {"type": "array", "items": {"type": "string"}}
WHOLE: Schema = {"type": "integer", "minimum": 0}
_TEXT: Schema = {"type": "string"}
_TEXT_OR_NULL: Schema = {"type": ["string", "null"]}
_COUNT: Schema = {"type": ["integer", "null"], "minimum": 0}
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
    found_languages=described(TEXTS, "languages of the sentences, if the search names them"),
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
    "copies": {
        "anyOf": [
            having(
                text=described(_TEXT, "the note of the page"),
                documents=described(WHOLE, "documents that have it, with its own"),
                sources=described(TEXTS, "their sources"),
                first=described(
                    having(**describe_fields(CopyAppearance, without=("position",))), "the oldest by date"
                ),
            ),
            {"type": "null"},
        ],
        "description": "where it also stands; null without copies in other documents",
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
    "incomplete": described(_TEXT, "which periods are missing, if any"),
    "by": {"enum": [*PERIODS], "description": "by what the index is divided"},
    "periods": described(
        array(having(**describe_fields(PeriodContent))), "what a divided index has of each period"
    ),
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
        next=described(_TEXT_OR_NULL, "the cursor for the lines after these; null after the last"),
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
        chosen={"type": "object", "description": "parameters of the model that the kind of the query sets"},
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
    "Holdings": having(
        documents=WHOLE,
        sentences=WHOLE,
        first=described(_TEXT_OR_NULL, "the day of the oldest documents; null if none has a date"),
        last=described(_TEXT_OR_NULL, "the day of the newest"),
        undated=described(WHOLE, "documents without a date"),
        untitled=described(WHOLE, "documents without a title"),
        copies=described(
            {"type": ["integer", "null"]},
            "sentences that are copies of an earlier one; null where copies were not looked for, or for "
            "those who see only some documents",
        ),
        languages=array(
            having(language=described(_TEXT_OR_NULL, "its code; null: undeclared"), documents=WHOLE)
        ),
        enriched=array(having(part=described(_TEXT, "the part of enrichment"), documents=WHOLE)),
        interval={"enum": list(INTERVALS)},
        periods=described(TEXTS, "ISO 8601 names, in order and without a gap"),
        sources=array(
            having(
                source=_TEXT,
                sentences=WHOLE,
                counts=described(array(WHOLE), "sentences by period"),
            )
        ),
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
    **DOSSIER_SCHEMAS,
    **ALERT_SCHEMAS,
    "Request": {
        **named("query", "size", "sort", "_source"),
        "description": "the body for `_search` of the alias",
    },
}
