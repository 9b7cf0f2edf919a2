"""What `esr load` does with documents before the index gets them: the options, what is set aside, dry runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any, TypeVar

import click

from esr.cli.options import FILE
from esr.documents import Located
from esr.errors import EsrError, InputError, UsageError
from esr.loaders import Malformed, Reading, documents, mapping
from esr.loaders.duplicates import HANDLING, Duplicates
from esr.loaders.language import Languages
from esr.loaders.limits import DEFAULT_LIMITS, Limits

F = TypeVar("F", bound=Callable[..., Any])

_SHOWN = 3
_PROBLEMS_SHOWN = 20
_OPTIONS = (
    click.option("--format", "source_format", default="auto", show_default=True, help="See esr formats."),
    click.option(
        "--mapping",
        "pairs",
        multiple=True,
        metavar="FIELD=COLUMN",
        help=f"Take a field ({', '.join(mapping.FIELDS)}) from a column of another name. May be repeated.",
    ),
    click.option("--detect-language", is_flag=True, help="Record the language of documents that give none."),
    click.option(
        "--duplicates",
        type=click.Choice(list(HANDLING)),
        default="keep",
        show_default=True,
        help="Of the same text, or nearly: " + "; ".join(f"{k}: {v}" for k, v in HANDLING.items()) + ".",
    ),
    click.option(
        "--bad-documents",
        type=FILE,
        metavar="FILE",
        help="Write malformed documents and the reason to FILE (JSON Lines) and go on; the exit status is then 1.",
    ),
    click.option(
        "--max-expansion",
        type=click.IntRange(1),
        default=DEFAULT_LIMITS.expansion,
        show_default=True,
        help="How many times its size a packed file may unpack to.",
    ),
    click.option(
        "--max-unpacked",
        type=click.FloatRange(0, min_open=True),
        default=DEFAULT_LIMITS.unpacked / 2**30,
        show_default=True,
        metavar="GIB",
        help="How much a packed file may unpack to.",
    ),
)


def sources(command: F) -> F:
    """The options that say how sources are read. The command gets them as arguments of Incoming."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


class Incoming:
    """The documents of some sources, and what there is to report of them when they are through."""

    def __init__(
        self,
        paths: Sequence[str],
        *,
        source_format: str,
        pairs: Sequence[str],
        detect_language: bool,
        duplicates: str,
        bad_documents: Path | None,
        max_expansion: int,
        max_unpacked: float,
    ) -> None:
        self._paths = paths
        self._format = source_format
        self._mapping = mapping.parsed(pairs)
        self._limits = Limits(max_expansion, int(max_unpacked * 2**30))
        self._languages = Languages() if detect_language else None
        self._duplicates = Duplicates(duplicates == "drop") if duplicates != "keep" else None
        self._file = bad_documents
        self.malformed: list[Malformed] = []  # the first ones
        self.count = 0

    @contextmanager
    def documents(self, all_problems: bool = False) -> Iterator[Iterator[Located]]:
        """The documents. What is malformed raises InputError, unless it goes to a file or all is wanted."""
        with _opened(self._file) as file:

            def set_aside(bad: Malformed) -> None:
                self.count += 1
                if len(self.malformed) < _PROBLEMS_SHOWN:
                    self.malformed.append(bad)
                if file:
                    file.write(json.dumps(bad._asdict()) + "\n")
                    file.flush()

            keep = set_aside if file or all_problems else None
            found = documents(self._paths, self._format, Reading(self._mapping, self._limits, keep))
            if self._languages:
                found = self._languages.added(found)
            if self._duplicates:
                found = self._duplicates.filtered(found)
            yield found

    def notes(self) -> list[str]:
        """What a report says."""
        notes = self._duplicates.notes() if self._duplicates else []
        if self._languages:
            notes.append(f"{self._languages.detected:,} documents were given the language that was detected")
        return notes

    def complain(self) -> None:
        """Raises EsrError if anything was set aside."""
        if self.count:
            first = self.malformed[0]
            raise EsrError(
                f"{self.count:,} malformed documents were set aside in {self._file}, "
                f"the first: {first.where}: {first.problem}"
            )


def dry_run(incoming: Incoming, as_json: bool) -> None:
    """Print the first documents, counts and problems. Raises EsrError if there is a problem."""
    seen = _Seen()
    try:
        with incoming.documents(all_problems=True) as found:
            for located in found:
                seen.add(located)
    except InputError as error:
        if not incoming.malformed:
            incoming.malformed.append(Malformed(error.where, error.problem))
            incoming.count += 1
    problems = [*incoming.malformed, *seen.repeated]
    count = incoming.count + seen.repetitions
    if as_json:
        click.echo(json.dumps(seen.as_dict(problems, count, incoming.notes()), indent=1))
    else:
        seen.say()
        for note in incoming.notes():
            click.echo(note)
        for problem in problems[:_PROBLEMS_SHOWN]:
            click.echo(f"{problem.where}: {problem.problem}")
    if count:
        raise EsrError(f"{count:,} documents cannot be loaded as they are; nothing was written")
    if not as_json:
        click.echo("nothing was written")


class _Seen:
    """Counts of documents, the first of them, and ids that stand twice."""

    def __init__(self) -> None:
        self.first: list[Located] = []
        self.repeated: list[Malformed] = []
        self.counts = dict.fromkeys(
            ("documents", "sentences", "without_sentences", "title", "date", "source", "language"), 0
        )
        self.repetitions = 0
        self._ids: set[int] = set()

    def add(self, located: Located) -> None:
        document = located.document
        self.counts["documents"] += 1
        self.counts["sentences"] += len(document.sentences)
        self.counts["without_sentences"] += not document.sentences
        for name in ("title", "date", "source", "language"):
            self.counts[name] += getattr(document, name) is not None
        if len(self.first) < _SHOWN:
            self.first.append(located)
        if hash(document.id) in self._ids:  # 64 bits: two ids do not meet by chance
            self.repetitions += 1
            if len(self.repeated) < _PROBLEMS_SHOWN:
                self.repeated.append(
                    Malformed(located.where, f"document id {document.id!r} stands twice", document.id)
                )
        self._ids.add(hash(document.id))

    def say(self) -> None:
        for where, document in self.first:
            known = (document.date, document.source, document.language, document.url)
            click.echo(f"{where}\n  {document.id}: {document.title or '(no title)'}")
            click.echo("  " + " · ".join(filter(None, (*known, f"{len(document.sentences)} sentences"))))
            for sentence in document.sentences[:2]:
                click.echo(f"  | {sentence.text[:200]}")
        c = self.counts
        click.echo(
            f"{c['documents']:,} documents with {c['sentences']:,} sentences; "
            f"{c['without_sentences']:,} have no sentence"
        )
        click.echo(
            f"{c['title']:,} have a title, {c['date']:,} a date, {c['source']:,} a source, "
            f"{c['language']:,} a language"
        )

    def as_dict(self, problems: Iterable[Malformed], count: int, notes: list[str]) -> dict[str, object]:
        first = [{"where": where, **asdict(document)} for where, document in self.first]
        found = [problem._asdict() for problem in problems]
        return {**self.counts, "first": first, "problem_count": count, "problems": found, "notes": notes}


@contextmanager
def _opened(file: Path | None) -> Iterator[IO[str] | None]:
    if file is None:
        yield None
        return
    try:
        stream = file.open("w", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{file}: cannot be written: {error.strerror}") from None
    with stream:
        yield stream
