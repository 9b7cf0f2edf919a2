"""The command `esr check`."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

import click

import esr
from esr.evidence.draft_check import CheckedName, DraftCheck
from esr.evidence.draft_files import read_draft
from esr.evidence.quotation_check import Appearance, CheckedQuotation, QuotationCheck
from esr.plugin import UsageError, index_option
from esr.plugin.provisional import (
    TABLE,
    ArgumentRow,
    add_arguments,
    argument_types,
    build_option,
    count,
    data_format_option,
    print_answer,
    read_standard_input,
)

_VERDICTS = {"exact": "exactly so", "near": "nearly", "none": "not found"}
_LISTED = 10
"""Later appearances that the text lists of each quotation."""


_FILE = ArgumentRow(
    "file", "check the draft in this file; - reads standard input", argument_types.FilePath(), sets="path"
)


@click.command()
@add_arguments(TABLE, "check", "text", text={"required": False})
@index_option
@build_option(_FILE)
@data_format_option("text", "json", help="Print text for people, or json for programs.")
def check(text: str | None, where: str, path: Path | None, format_name: str) -> None:
    """Check quotations, or a draft, against an index.

    TEXT is a quotation, or a text with several in quotation marks: were they printed exactly or nearly so,
    who said them, and where first? Case, punctuation and kinds of marks do not count. An ellipsis or
    [brackets] stand for other words.

    If TEXT is the name of a file (plain text, Markdown, DOCX or another format that esr load reads), the
    draft in it is checked: each quotation, each sentence with its best evidence, each number beside those of
    the evidence, and each name with similar ones.

    \b
    Example:
      esr check "an historic moment from which there can be no turning back" --index my-index
      esr check draft.docx --format json --index my-index
    """
    path, text = _choose_input(text, path)
    with esr.open(where) as index:
        if path is None:
            answer = index.check(text)
            print_answer(format_name, answer.as_dict(), (), lambda: _draw(answer))
            return
        draft = index.check_draft(read_standard_input() if str(path) == "-" else read_draft(path))
    print_answer(format_name, draft.as_dict(), (), lambda: _draw_draft(draft))


_PATH_CHARS = 1_000
_FILE_NAME = re.compile(r"\S*[^\s.]\.(?:txt|md|markdown|docx|odt|pdf|html?)", re.IGNORECASE)
"""What is the name of a file rather than a quotation."""


def _choose_input(text: str | None, path: Path | None) -> tuple[Path | None, str]:
    """The file of a draft, or else the text to check."""
    if (text is None) == (path is None):
        raise UsageError("give a text, the name of a file or --file, one of them")
    if text is not None and "\n" not in text and len(text) < _PATH_CHARS and os.path.isfile(text):
        return Path(text), ""
    if text and _FILE_NAME.fullmatch(text):
        raise UsageError(f"there is no file {text}")
    return path, text or ""


def _draw(check: QuotationCheck) -> str:
    return "\n\n".join(_draw_quotation(quotation) for quotation in check.quotations)


def _draw_draft(draft: DraftCheck) -> str:
    blocks = [_draw_quotation(quotation) for quotation in draft.quotations]
    for sentence in draft.sentences:
        lines = [click.style(sentence.text, bold=True)]
        for evidence in sentence.evidence:
            place = ", ".join(
                filter(None, (evidence.source, (evidence.date or "")[:10], evidence.sentence_id))
            )
            lines += [f"  {evidence.share:.0%} {place}", f"    {evidence.text}"]
        if not sentence.evidence:
            lines.append("  no evidence")
        for number in sentence.numbers:
            beside = ", ".join(dict.fromkeys(other.text for other in number.beside)) or "no number"
            lines.append(f"  number: {number.text}; in the evidence: {beside}")
        blocks.append("\n".join(lines))
    names = [_draw_name(name) for name in draft.names]
    return "\n\n".join([*blocks, "\n".join(names)] if names else blocks)


def _draw_name(name: CheckedName) -> str:
    near = "; ".join(f"{near.name} ({near.sentences:,})" for near in name.nearest)
    return f"name: {name.text} ({count(name.sentences, 'sentence')})" + (f"; similar: {near}" if near else "")


def _draw_quotation(quotation: CheckedQuotation) -> str:
    lines = [click.style(f"{_VERDICTS[quotation.verdict]}: ", bold=True) + f"“{quotation.text}”"]
    if quotation.speaker:
        lines.append(f"  speaker: {_name_speaker(quotation)}")
    lines += [
        f"  differs: {_describe(appearance)}"
        for appearance in [quotation.first]
        if appearance and appearance.differences
    ]
    lines += _list("first", [quotation.first] if quotation.first else [])
    lines += _list("later", quotation.later[:_LISTED])
    if more := len(quotation.later) - _LISTED:
        lines += [f"  and {count(more, 'other')} later"] if more > 0 else []
    lines += _list("near it", quotation.nearest)
    return "\n".join(lines)


def _name_speaker(quotation: CheckedQuotation) -> str:
    """The speaker, with the certainty and, if another appearance than the first names the speaker, its id."""
    speaker = quotation.speaker, quotation.certainty
    spoken = [appearance for appearance in (quotation.first, *quotation.later) if appearance]
    by = next(
        (appearance for appearance in spoken if (appearance.speaker, appearance.certainty) == speaker), None
    )
    place = f"in {by.sentence_id}" if by and by is not quotation.first else ""
    notes = ", ".join(filter(None, (quotation.certainty, place)))
    return f"{quotation.speaker} ({notes})" if notes else f"{quotation.speaker}"


def _list(label: str, appearances: Sequence[Appearance]) -> list[str]:
    lines = []
    for appearance in appearances:
        day = (appearance.date or "")[:10]
        place = ", ".join(filter(None, (appearance.source, day, appearance.sentence_id)))
        nearly = f" (differs: {_describe(appearance)})" if label == "later" and appearance.differences else ""
        lines += [f"  {label}: {place}{nearly}", f"    {appearance.text}"]
    return lines


def _describe(appearance: Appearance) -> str:
    """The words of the quotation, and those in their place."""
    return "; ".join(f"{d.text or '–'} → {d.original or '–'}" for d in appearance.differences)
