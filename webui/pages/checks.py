"""The page that checks the quotations of a text: pasted, or in the address of a permanent link."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from flask import Flask, Response, request

from esr.arguments.types import read_whole
from esr.errors import EsrError, InputError, UsageError
from esr.evidence.alignment import Difference
from esr.evidence.draft_check import CheckedSentence, DraftCheck
from esr.evidence.draft_files import read_draft
from esr.evidence.quotation_check import Appearance, CheckedQuotation, QuotationCheck
from esr.following.timeline import name_of
from esr.index.contract import Index
from esr.index.filters import NO_FILTERS
from esr.index.questions import ByDay
from esr.ranking.searcher import Searcher
from webui.answers.checks import check_draft, check_text, read_records
from webui.arguments.links import split_links
from webui.arguments.request import decode_arguments
from webui.pages.rendering import PageRenderer
from webui.pages.wording import write_period
from webui.running.problems import RequestError, wants_json
from webui.running.served_indexes import ServedIndexes, Visit
from webui.running.settings import Settings
from webui.translations.language import _, as_sentence, ngettext

SHOWN = 8
"""Later appearances that are shown at once; the others are behind a click."""
Piece = tuple[str, bool]
"""A piece of a text, and whether it differs."""


def install(app: Flask, indexes: ServedIndexes, settings: Settings, render: PageRenderer) -> None:
    """Add the page and its template functions to the application."""
    app.jinja_env.globals.update(
        split_quoted=split_quoted,
        split_original=split_original,
        split_pasted=split_pasted,
        split_numbers=split_numbers,
        describe_verdict=describe_verdict,
        shown_appearances=SHOWN,
    )

    page = partial(_render, settings, render)

    @indexes.route(app, "/check")
    def check(visit: Visit) -> Response:
        arguments = decode_arguments(request.query_string, settings, "checked", "page")
        text = arguments.first("text")
        try:
            return page(visit, text, check_text(visit.searcher, text) if text else None)
        except UsageError as error:
            if wants_json():
                raise
            return refuse(visit, text, error)

    def refuse(visit: Visit, text: str, error: EsrError) -> Response:
        """The form with the text, and what is wrong with it."""
        response = page(visit, text[: settings.text_chars], None, as_sentence(str(error)))
        response.status_code = 400
        return response

    @indexes.route(app, "/check", "check_answer", method="POST", seconds=settings.batch_deadline)
    def check_answer(visit: Visit) -> Response:
        text = request.form.get("text", "").replace("\r\n", "\n")
        try:
            uploaded = _read_upload()
            text = text if uploaded is None else uploaded
            if len(text) > (most := settings.text_chars):
                raise RequestError(
                    f"the text has {len(text):,} characters: at most {most:,} are allowed", "text"
                )
            is_draft = uploaded is not None or "draft" in request.form
            examine = check_draft if is_draft else check_text
            if number := request.form.get("use", ""):
                text = use_words_found(text, examine(visit.searcher, text).quotations, number)
            return page(visit, text, examine(visit.searcher, text))
        except EsrError as error:
            if wants_json() or not isinstance(error, UsageError | InputError):
                raise
            return refuse(visit, text, error)


def _render(
    settings: Settings,
    render: PageRenderer,
    visit: Visit,
    text: str,
    check: QuotationCheck | DraftCheck | None,
    message: str | None = None,
) -> Response:
    """The page with a text and, if given, what was found in it or why nothing was."""
    page_links, others = split_links(request.query_string, settings, "checked", "q")
    quotations = check.quotations if check else ()
    return render(
        visit,
        "check.html",
        text=text,
        found=check,
        draft=check if isinstance(check, DraftCheck) else None,
        records=read_records(visit.searcher, check),
        sizes=write_size(visit.searcher.index),
        holdings=describe_holdings(visit.searcher, any(q.verdict == "none" for q in quotations)),
        message=message,
        own=page_links,
        others=others,
        is_short=len(text) <= settings.query_chars,
    )


_SUFFIXES = frozenset({".txt", ".md", ".markdown", ".docx", ".odt"})
"""Endings of files that the page takes."""


def _read_upload() -> str | None:
    """The text of an uploaded file; None without one. Raises RequestError, UsageError and InputError."""
    upload = request.files.get("file")
    if upload is None or not upload.filename:
        return None
    suffix = Path(upload.filename).suffix.lower()
    if suffix not in _SUFFIXES:
        raise RequestError("the file is none of " + ", ".join(sorted(_SUFFIXES)), "file")
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"draft{suffix}"
        upload.save(path)
        try:
            return read_draft(path)
        except (UsageError, InputError) as error:
            message = str(error).replace(str(path), "the file")
            raise RequestError(message, "file") from error


def describe_holdings(searcher: Searcher, has_dates: bool) -> str:
    """What was looked through: the number of sentences and, if asked, the days of the oldest and newest."""
    index = searcher.index
    number = write_size(index)
    days = index.count([None], NO_FILTERS, ByDay())[0] if has_dates else {}
    if not days:
        return number
    first, last = (write_period(name_of(day, "day")) for day in (min(days), max(days)))
    return _("%(sentences)s from %(first)s to %(last)s", sentences=number, first=first, last=last)


def write_size(index: Index) -> str:
    """The number of sentences of an index."""
    number = index.statistics([]).collection.sentences
    return ngettext("%(num)s sentence", "%(num)s sentences", number)


def use_words_found(text: str, quotations: Sequence[CheckedQuotation], number: str) -> str:
    """The text with the words of the first appearance in its quotation of this number from 1.

    Raises RequestError if there is no such quotation.
    """
    place = read_whole(number) or 0
    if not 0 < place <= len(quotations):
        raise RequestError(f"there is no quotation {number!r}: check the text again", "use")
    quotation = quotations[place - 1]
    words = quotation.text
    for difference in sorted(quotation.differences, key=lambda item: item.start, reverse=True):
        before, after = words[: difference.start], words[difference.end :]
        if not difference.text and difference.original:  # beside a word, without a blank of its own
            gap = (" ", "") if before else ("", " ")
            words = f"{before}{gap[0]}{difference.original}{gap[1]}{after}"
        elif not difference.original:
            words = before.rstrip() + after if before.strip() else after.lstrip()
        else:
            words = before + difference.original + after
    return text[: quotation.start] + words + text[quotation.end :]


def split_quoted(quotation: CheckedQuotation) -> list[Piece]:
    """The quotation in pieces, with the words that differ from the first appearance."""
    return list(_split(quotation.text, [(d.start, d.end) for d in quotation.differences]))


def split_original(appearance: Appearance) -> list[Piece]:
    """The text of an appearance in pieces, with the words that differ from the quotation."""
    return list(_split(appearance.text, [(d.original_start, d.original_end) for d in appearance.differences]))


def split_pasted(text: str, quotations: Sequence[CheckedQuotation]) -> list[tuple[str, int]]:
    """The checked text in pieces, each with the number of its quotation from 1, or 0."""
    pieces, at = [], 0
    for number, quotation in enumerate(quotations, 1):
        if quotation.start >= at:
            pieces += [(text[at : quotation.start], 0), (quotation.text, number)]
            at = quotation.end
    return [piece for piece in [*pieces, (text[at:], 0)] if piece[0]]


def split_numbers(sentence: CheckedSentence) -> list[tuple[str, str]]:
    """A sentence of a draft in pieces, each with the verdict of the number in it, or empty."""
    pieces, at = [], 0
    for number in sentence.numbers:
        start, end = number.start - sentence.start, number.end - sentence.start
        if start >= at:
            pieces += [(sentence.text[at:start], ""), (sentence.text[start:end], number.verdict)]
            at = end
    return [piece for piece in [*pieces, (sentence.text[at:], "")] if piece[0]]


def _split(text: str, spans: Iterable[tuple[int, int]]) -> Iterator[Piece]:
    at = 0
    for start, end in sorted(spans):
        if at <= start < end:
            if start > at:
                yield text[at:start], False
            yield text[start:end], True
            at = end
    if at < len(text):
        yield text[at:], False


def describe_verdict(quotation: CheckedQuotation) -> str:
    """The verdict in a few words, with the numbers of sources."""
    if quotation.first is None:
        return _("Not found")
    if quotation.verdict == "near":
        number = sum(_count_words(difference) for difference in quotation.differences)
        return ngettext("Nearly: %(num)s word differs", "Nearly: %(num)s words differ", number)
    all_of = [quotation.first, *quotation.later]
    exact = {appearance.source for appearance in all_of if appearance.verdict == "exact"}
    near = {appearance.source for appearance in all_of} - exact
    sentence = ngettext("Exact in %(num)s source", "Exact in %(num)s sources", len(exact))
    return sentence + (_(", nearly in %(number)s more", number=len(near)) if near else "")


def _count_words(difference: Difference) -> int:
    return max(len(difference.text.split()), len(difference.original.split()))
