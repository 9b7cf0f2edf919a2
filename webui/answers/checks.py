"""Checks of quotations, for the API and for the page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from esr.evidence import draft_check, quotation_check, quotation_marks
from esr.evidence.draft_check import DraftCheck, EvidenceFor
from esr.evidence.quotation_check import Appearance, QuotationCheck
from esr.index.hits import SentenceRecord
from esr.index.questions import Records
from esr.ranking.searcher import Searcher
from webui.answers.hit_writer import sentence_link
from webui.running.problems import blame_argument
from webui.running.rate_limit import count_queries


def check_text(searcher: Searcher, text: str) -> QuotationCheck:
    """Check the quotations of a text. Each counts as a query of its client. Raises RequestError."""
    count_queries(len(quotation_check.list_quotations(text)))
    with blame_argument("text"):
        return quotation_check.check_text(searcher, text)


def check_draft(searcher: Searcher, text: str) -> DraftCheck:
    """Check a draft. Each quotation and each sentence counts as a query. Raises RequestError."""
    spans = quotation_marks.find_quotations(text), draft_check.split_draft(text)
    count_queries(sum(map(len, spans)))
    with blame_argument("text"):
        return draft_check.check_draft(searcher, text)


def list_sentences(check: QuotationCheck | DraftCheck) -> Iterator[Appearance | EvidenceFor]:
    """All sentences that an answer shows."""
    for quotation in check.quotations:
        if quotation.first:
            yield quotation.first
        yield from quotation.later
        yield from quotation.nearest
    if isinstance(check, DraftCheck):
        for sentence in check.sentences:
            yield from sentence.evidence


def read_records(
    searcher: Searcher, check: QuotationCheck | DraftCheck | None
) -> Mapping[str, SentenceRecord]:
    """The sentences that an answer shows, by id; of an appearance in several, the first."""
    ids = list(dict.fromkeys(sentence.sentence_id for sentence in list_sentences(check))) if check else []
    return dict(zip(ids, searcher.index.read(ids, Records()), strict=True)) if ids else {}


def write_check(searcher: Searcher, check: QuotationCheck | DraftCheck, index_name: str) -> dict[str, Any]:
    """The answer of the API: as the command's, with a permalink of each sentence of the index."""
    records = read_records(searcher, check)
    answer = check.as_dict()
    shown = [sentence["evidence"] for sentence in answer.get("sentences", ())]
    for quotation in answer["quotations"]:
        first = [quotation["first"]] if quotation["first"] else []
        shown += [first, quotation["later"], quotation["nearest"]]
    for item in chain(*shown):
        item["permalink"] = sentence_link(records[item["sentence_id"]], True, index_name or None)
    return answer
