"""What `esr load` does with documents before the index gets them: the options, and what is set aside."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any, TypeVar

import click

from esr.cli.options import FILE
from esr.documents import Document, Located
from esr.documents.fields import fields
from esr.errors import EsrError, UsageError
from esr.loaders import Malformed, PassedOver, Reading, documents, mapping
from esr.loaders.duplicates import HANDLING, Duplicates
from esr.loaders.language import Languages
from esr.loaders.limits import DEFAULT_LIMITS, Limits

F = TypeVar("F", bound=Callable[..., Any])

SHOWN = 3
PROBLEMS_SHOWN = 20
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
        help="Name documents that cannot be loaded, and why, in FILE (JSON Lines) and go on; exit status 1.",
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
        self._duplicates = Duplicates(duplicates) if duplicates != "keep" else None
        self._file = bad_documents
        self.malformed: list[Malformed] = []  # the first ones
        self.count = 0
        self._stream: IO[str] | None = None
        self._passed_over: Counter[str] = Counter()
        self._first_passed_over: dict[str, str] = {}
        self._wordless = 0
        self._first_wordless: list[str] = []

    @contextmanager
    def documents(self, all_problems: bool = False) -> Iterator[Iterator[Located]]:
        """The documents. What is malformed raises InputError, unless it goes to a file or all is wanted."""
        with _opened(self._file) as self._stream:
            keep = self._set_aside if self.sets_aside or all_problems else None
            reading = Reading(self._mapping, self._limits, keep, self._pass_over)
            found = documents(self._paths, self._format, reading)
            if self._languages:
                found = self._languages.added(found)
            if self._duplicates:
                found = self._duplicates.filtered(found)
            yield self._looked_at(found)

    @property
    def sets_aside(self) -> bool:
        return self._file is not None

    def refused(self, document: Document, problem: str) -> None:
        """Set a document aside that the index cannot take. It is written out: its place is not known."""
        self._set_aside(Malformed(document.id, problem, document.id), {"document": fields(document)})

    def _set_aside(self, bad: Malformed, more: Mapping[str, Any] = MappingProxyType({})) -> None:
        self.count += 1
        if len(self.malformed) < PROBLEMS_SHOWN:
            self.malformed.append(bad)
        if self._stream:
            self._stream.write(json.dumps({**bad._asdict(), **more}) + "\n")
            self._stream.flush()

    def _pass_over(self, found: PassedOver) -> None:
        self._passed_over[found.why] += 1
        self._first_passed_over.setdefault(found.why, found.where)

    def _looked_at(self, found: Iterable[Located]) -> Iterator[Located]:
        for located in found:
            if not located.document.sentences:
                self._wordless += 1
                if len(self._first_wordless) < SHOWN:
                    self._first_wordless.append(f"{located.document.id} at {located.where}")
            yield located

    def notes(self) -> list[str]:
        """What a report says."""
        notes = self._duplicates.notes() if self._duplicates else []
        if self._wordless:
            more = ", …" if self._wordless > len(self._first_wordless) else ""
            notes.append(
                f"{self._wordless:,} documents have no sentence: {', '.join(self._first_wordless)}{more}"
            )
        for why, count in self._passed_over.items():
            first = self._first_passed_over[why]
            notes.append(f"{count:,} documents are passed over, {why}: the first is {first}")
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
