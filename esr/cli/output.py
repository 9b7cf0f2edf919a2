"""The output of commands: formats of answers, files, and descriptions of how a query was read.

A file appears only when it is complete, and never replaces an input of the same command.
"""

from __future__ import annotations

import io
import json
import os
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from textwrap import fill
from typing import IO, TYPE_CHECKING, Any, Literal

import click
from msgspec import Struct

from esr.arguments.tables.common import FORMAT
from esr.arguments.types import Choice
from esr.cli.arguments import build_option
from esr.cli.options import describe_choices
from esr.errors import EsrError, UsageError
from esr.following.exports import CITATIONS, EXPORTS, RANK, CitationFormat, Row
from esr.index.filters import Filters, find_unknown_filters
from esr.index.hits import Hit
from esr.index.login_variables import redact
from esr.query.interpretation import ReadGroup, Reading
from esr.ranking import answers
from esr.ranking.answers import COLUMNS, Passage, build_rows, build_spreadsheet_rows, guard_formula
from esr.ranking.prepared_query import Answer
from esr.ranking.query_report import QueryReport
from esr.ranking.searcher import Searcher
from esr.registry import Registry
from esr.stdlib import import_lazily
from esr.text.placed_text import describe_place
from esr.wording import count, flatten_row, shorten_title

if TYPE_CHECKING:
    import csv
    import gzip
else:
    csv = import_lazily("csv")
    gzip = import_lazily("gzip")

_NEIGHBOR, _HIT = "     ", "   > "


class AnswerFormat(Struct, frozen=True):
    """A format of answers. `has_warnings`: whether the output itself says what the answer lacks.

    `has_passages`: whether it shows passages; other formats list the hits of the answer.
    """

    name: str
    description: str
    render: Callable[[Answer, QueryReport, Sequence[Passage]], str | bytes]
    has_warnings: bool = False
    has_passages: bool = False


def to_text(answer: Answer, report: QueryReport, passages: Sequence[Passage]) -> str:
    """The ranked passages with their neighbours. Only lines of the passages' sentences begin with `>`."""
    blocks = [
        _format_passage(rank, passage) + _format_folded(passage.similar) + _format_more(passage)
        for rank, passage in enumerate(passages, 1)
    ] or ["Nothing matched."]
    return "\n".join([*blocks, f"{_describe_counts(answer, report, passages)}, {answer.took_ms:.0f} ms\n"])


def _describe_counts(answer: Answer, report: QueryReport, passages: Sequence[Passage]) -> str:
    """The numbers of sentences shown, of candidates, and of sentences with the words."""
    shown = sum(len(passage.sentences) for passage in passages)
    parts = [f"{shown:,} of {answer.total:,} candidates"]
    matching, all_words = report.counts
    if matching is None or all_words is None:
        pass
    elif len(report.terms) > 1:
        parts.append(f"{count(all_words, 'sentence')} with all words")
        parts.append(f"{matching:,} with any")
    elif report.terms:
        parts.append(f"{count(matching, 'sentence')} with the word")
    else:
        parts.append(f"{count(matching, 'sentence')} that match")
    return ", ".join(parts)


def _format_passage(rank: int, passage: Passage) -> str:
    hit, record = passage.best, answers.require_record(passage.best)
    sentences = [answers.require_record(sentence) for sentence in passage.sentences]
    before, after = sentences[0].previous, sentences[-1].next
    parts = (shorten_title(record.title or ""), record.source, record.date, describe_place(record.features))
    metadata = " · ".join(part for part in parts if part)
    lines = [click.style(f"{rank:>3}  {hit.score:.4f}  {hit.sentence_id}", bold=True)]
    lines += [f"{_NEIGHBOR}{metadata}"] if metadata else []
    lines += [click.style(_wrap(f"… {before}", _NEIGHBOR), dim=True)] if before else []
    lines += [_wrap(sentence.text or "(an empty sentence)", _HIT) for sentence in sentences]
    lines += [click.style(_wrap(f"{after} …", _NEIGHBOR), dim=True)] if after else []
    lines += [click.style(_wrap(f"({passage.reason})", _NEIGHBOR), dim=True)] if passage.reason else []
    return "\n".join(lines) + "\n"


def _format_folded(repeats: Sequence[Hit]) -> str:
    if not repeats:
        return ""
    say = "says" if len(repeats) == 1 else "say"
    ids = ", ".join(hit.sentence_id for hit in repeats)
    return click.style(_wrap(f"{len(repeats):,} more {say} the same: {ids}", _NEIGHBOR), dim=True) + "\n"


def _format_more(passage: Passage) -> str:
    if not passage.more:
        return ""
    document = answers.require_record(passage.best).document_id
    line = f"{passage.more:,} more of this document: --document {document}"
    return click.style(_wrap(line, _NEIGHBOR), dim=True) + "\n"


def _wrap(text: str, indent: str) -> str:
    return fill(text, 96, initial_indent=indent, subsequent_indent=indent)


def to_json(answer: Answer, report: QueryReport, passages: Sequence[Passage]) -> str:
    """The answer as in the API, with all stored data of each sentence."""
    return json.dumps(answers.answer_dict(answer, report, passages), indent=1, ensure_ascii=False) + "\n"


def to_csv(answer: Answer, report: QueryReport, passages: Sequence[Passage]) -> str:
    """The same table as the search page's download."""
    return write_csv([COLUMNS, *build_spreadsheet_rows(answer.hits)])


def write_csv(rows: Iterable[Iterable[Any]]) -> str:
    """Rows as CSV."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def write_table(columns: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """Rows as CSV under the names of their columns, with no text that a spreadsheet takes for a formula."""
    guarded = ([guard_formula(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    return write_csv([columns, *guarded])


def print_answer(
    format_name: str,
    data: Any,
    rows: Iterable[Mapping[str, Any]],
    draw: Callable[[], str],
    columns: Iterable[str] = (),
) -> None:
    """Print an answer as JSON, its rows as CSV, or the text that `draw` returns.

    `columns` is the head of a CSV without rows.
    """
    if format_name == "json":
        click.echo(json.dumps(data, indent=1, ensure_ascii=False))
    elif format_name == "csv":
        flat = [flatten_row(row) for row in rows]
        click.echo(write_table(flat[0] if flat else columns, (row.values() for row in flat)), nl=False)
    else:
        click.echo(draw())


def note_unknown(searcher: Searcher, filters: Filters) -> None:
    """Write a line about each source, name or attribute in the filters that the index does not have."""
    if filters.sources or filters.attributes or filters.entities:
        for unknown in find_unknown_filters(searcher.index, filters):
            click.echo(unknown.message, err=True)


def to_tsv(answer: Answer, report: QueryReport, passages: Sequence[Passage]) -> str:
    """A line per sentence without quoting, for cut and awk. Tabs and line ends become blanks."""
    rows = ([" ".join(cell.split()) for cell in row] for row in build_rows(answer.hits))
    return "".join("\t".join(row) + "\n" for row in (COLUMNS, *rows))


def _cite(citation: CitationFormat) -> Callable[[Answer, QueryReport, Sequence[Passage]], str]:
    return lambda answer, report, passages: citation.render(map(answers.require_record, answer.hits))


def _export(name: str) -> Callable[[Answer, QueryReport, Sequence[Passage]], bytes]:
    """A writer of the same file as the search page's."""

    def render(answer: Answer, report: QueryReport, passages: Sequence[Passage]) -> bytes:
        format = EXPORTS.find(name)
        format.check()
        hits = enumerate(answer.hits, 1)
        return b"".join(format.write((Row(h, {RANK: n, **answers.hit_dict(h)}) for n, h in hits), ()))

    return render


FORMATS: Registry[AnswerFormat] = Registry("output format")
for _format in (
    AnswerFormat("text", "sentences between their neighbours, for people", to_text, has_passages=True),
    AnswerFormat("json", "the answer as in the API", to_json, True, True),
    AnswerFormat("csv", "a table for spreadsheets, with an apostrophe before formulas", to_csv),
    AnswerFormat("tsv", "a line for each sentence, for cut and awk", to_tsv),
    AnswerFormat("jsonl", "a line of JSON for each sentence", _export("jsonl")),
    AnswerFormat("xlsx", "an Excel file; needs the extra excel", _export("xlsx")),
    *(
        AnswerFormat(citation.name, f"citations as {citation.label}", _cite(citation))
        for citation in CITATIONS.values()
    ),
):
    FORMATS.register(_format)


def data_format_option(
    *choices: str, help: str = "Print text for people, json or csv for programs."
) -> Callable[[Any], Any]:
    """The option `--format` of commands that show no hits, with these choices, by default the first."""
    labels = dict.fromkeys(choices, "")
    return build_option(FORMAT, values=Choice(labels=labels, usual=choices[0]), help=help)


def format_option(default: str | None) -> Callable[[Any], Any]:
    """The option `--format`.

    Without a default, the value is None if the option is not given, which means text.
    """
    choices = describe_choices({name: format.description for name, format in FORMATS.items()})
    help = choices if default else f"{choices} Default: text."
    return build_option(FORMAT, values=Choice(labels=FORMATS, usual=default), help=help)


# Files


def check_output(output: str | Path, *inputs: str | Path | None) -> None:
    """Raise UsageError if the output is one of the inputs, and EsrError if its folder does not exist."""
    if str(output) == "-":
        return
    for source in inputs:
        if source is not None and os.path.exists(source) and os.path.realpath(source) == _target(output):
            raise UsageError(f"{output} is an input of this command: write to another file")
    folder = os.path.dirname(_target(output))
    if not os.path.isdir(folder):
        raise EsrError(f"cannot write {output}: create the folder {os.path.dirname(str(output))} first")


@contextmanager
def open_output(output: str | Path, *inputs: str | Path | None) -> Iterator[IO[str]]:
    """A text file that appears when it is complete; `-` is standard output. One named `*.gz` is compressed.

    It is written under another name in the same folder, then renamed. Links are followed; devices and pipes
    are written directly. Raises like `check_output`, and EsrError if writing fails, for example on a full
    disk.
    """
    check_output(output, *inputs)
    if str(output) == "-":
        yield sys.stdout
        return
    target = _target(output)
    is_in_place = os.path.exists(target) and not os.path.isfile(target)
    new_file = target if is_in_place else f"{target}.{os.urandom(4).hex()}.new"
    try:
        mode: Literal["wt", "xt"] = "wt" if is_in_place else "xt"
        with (
            gzip.open(new_file, mode, 6, encoding="utf-8")
            if str(output).endswith(".gz")
            else open(new_file, mode, encoding="utf-8")
        ) as file:
            yield file
        if not is_in_place:
            os.replace(new_file, target)
    except OSError as error:
        raise EsrError(f"cannot write {output}: {error.strerror}") from error
    finally:
        if not is_in_place:
            Path(new_file).unlink(missing_ok=True)


def _target(output: str | Path) -> str:
    return os.path.realpath(output)


# Descriptions of queries


_TOLD: tuple[Reading, ...] = ("required", "excluded", "ignored")


def describe_query(
    report: QueryReport, unseen: Sequence[str], where: str, is_answered: bool = True
) -> Iterator[str]:
    """Lines about a query: unknown words; required, excluded and ignored ones; notes and suggestions.

    `where` is the index. `is_answered`: whether there is an answer without the unknown words. A query of
    plain words that all occur in the index yields no line.
    """
    if report.language is not None:
        others = f" (all words also occur in: {', '.join(report.other_languages)})"
        hint = others if report.other_languages else ""
        beside = [code for code in report.found_languages if code != report.language]
        by_meaning = f", and by meaning in {', '.join(beside)}" if beside else ""
        yield (
            f"Searched in the language {report.language}{by_meaning}{hint}; choose another with "
            "--query-language."
        )
    if unseen:
        without = f"; without {'it' if len(unseen) == 1 else 'them'}:" if is_answered else "."
        yield f"No sentence has {', '.join(unseen)}{without}"
    phrases = [f"{reading}: {texts}" for reading in _TOLD if (texts := _texts(report.groups, reading))]
    if phrases:
        yield " · ".join(phrases)
    for note in report.notes:
        yield f"Character {note.start + 1}: {note.message}"
    for suggestion in report.suggestions:
        alternatives = ", ".join(f"{word.text} ({word.sentences:,})" for word in suggestion.alternatives)
        yield f"Did you mean, for {suggestion.word}: {alternatives}?"
    if (quoted := report.quoted) is not None:
        about, option = (f" about {quoted.about}", ["--about", quoted.about]) if quoted.about else ("", [])
        command = ["esr", "quotes", quoted.speaker, *option, "--index", redact(where)]
        yield f"What {quoted.name} said{about}: {shlex.join(command)}"


def _texts(groups: Sequence[ReadGroup], reading: Reading) -> str:
    return ", ".join(group.label for group in groups if group.reading == reading)
