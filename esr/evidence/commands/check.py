"""The command `esr check`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

import esr
from esr.evidence.quotation_check import Appearance, CheckedQuotation, QuotationCheck
from esr.plugin import UsageError, index_option
from esr.plugin.provisional import FILE, count, data_format_option, print_answer

_VERDICTS = {"exact": "exactly so", "near": "nearly", "none": "not found"}
_LISTED = 10
"""Later appearances that the text lists of each quotation."""


@click.command()
@click.argument("text", required=False)
@index_option
@click.option("--file", "path", type=FILE, help="Check the text of this file; - reads standard input.")
@data_format_option("text", "json", help="Print text for people, or json for programs.")
def check(text: str | None, where: str, path: Path | None, format_name: str) -> None:
    """Check quotations: whether the index has them word by word or nearly, who said them, and where first.

    TEXT is a quotation, or a text with several in quotation marks. Case, punctuation and kinds of marks do
    not count. An ellipsis or [brackets] stand for other words.

    \b
    Example:
      esr check "an historic moment from which there can be no turning back" --index my-index
      esr check --file speech.txt --format json --index my-index
    """
    read = _read_text(text, path)
    with esr.open(where) as index:
        found = index.check(read)
    answer = found.as_dict()
    print_answer(format_name, answer, answer["quotations"], lambda: _draw(found))


def _read_text(text: str | None, path: Path | None) -> str:
    if (text is None) == (path is None):
        raise UsageError("give a text or --file, one of both")
    if path is None:
        return text or ""
    if str(path) == "-":
        return sys.stdin.read()
    try:
        return path.read_text("utf-8-sig")
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8 text: save it as UTF-8") from None


def _draw(found: QuotationCheck) -> str:
    return "\n\n".join(_draw_quotation(quotation) for quotation in found.quotations)


def _draw_quotation(quotation: CheckedQuotation) -> str:
    lines = [click.style(f"{_VERDICTS[quotation.verdict]}: ", bold=True) + f"“{quotation.text}”"]
    if quotation.speaker:
        lines.append(f"  speaker: {_name_speaker(quotation.speaker, quotation.certainty)}")
    lines += [f"  differs: {_describe(each)}" for each in [quotation.first] if each and each.differences]
    lines += _list("first", [quotation.first] if quotation.first else [])
    lines += _list("later", quotation.later[:_LISTED])
    if more := len(quotation.later) - _LISTED:
        lines += [f"  and {count(more, 'other')} later"] if more > 0 else []
    lines += _list("near it", quotation.nearest)
    return "\n".join(lines)


def _name_speaker(speaker: str, certainty: str | None) -> str:
    return f"{speaker} ({certainty})" if certainty else speaker


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
