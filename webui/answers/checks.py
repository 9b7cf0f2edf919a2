"""Checks of quotations, for the API and for the page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from esr.evidence import quotation_check
from esr.evidence.quotation_check import Appearance, CheckedQuotation, QuotationCheck
from esr.index.hits import SentenceRecord
from esr.index.questions import Records
from esr.ranking.searcher import Searcher
from webui.answers.hit_writer import sentence_link
from webui.running.problems import blame_argument
from webui.running.rate_limit import count_queries


def check_text(searcher: Searcher, text: str) -> QuotationCheck:
    """Check the quotations of a text. Each counts as a query of its client. Raises RequestError."""
    count_queries(len(quotation_check.find_quotations(text)))
    with blame_argument("text"):
        return quotation_check.check_text(searcher, text)


def list_appearances(quotations: Iterable[CheckedQuotation]) -> Iterator[Appearance]:
    """All appearances of quotations, and the sentences nearest to them."""
    for quotation in quotations:
        if quotation.first:
            yield quotation.first
        yield from quotation.later
        yield from quotation.nearest


def read_records(searcher: Searcher, quotations: Iterable[CheckedQuotation]) -> Mapping[str, SentenceRecord]:
    """The first sentences of all appearances, by id."""
    ids = list(dict.fromkeys(each.sentence_id for each in list_appearances(quotations)))
    return dict(zip(ids, searcher.index.read(ids, Records()), strict=True)) if ids else {}


def write_check(searcher: Searcher, found: QuotationCheck, index_name: str) -> dict[str, Any]:
    """The answer of the API: as the command's, with a permalink of each appearance."""
    records = read_records(searcher, found.quotations)
    answer = found.as_dict()
    for quotation in answer["quotations"]:
        first = [quotation["first"]] if quotation["first"] else []
        for appearance in (*first, *quotation["later"], *quotation["nearest"]):
            record = records[appearance["sentence_id"]]
            appearance["permalink"] = sentence_link(record, True, index_name or None)
    return answer
