"""`esr load --dry-run`: the first documents, counts and problems of what would be loaded."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict

import click

from esr.cli.loading import PROBLEMS_SHOWN, SHOWN, Incoming
from esr.documents import Located
from esr.errors import EsrError, InputError
from esr.loaders import Malformed
from esr.loaders.seen import Seen


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
        for problem in problems[:PROBLEMS_SHOWN]:
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
        self._ids = Seen()

    def add(self, located: Located) -> None:
        document = located.document
        self.counts["documents"] += 1
        self.counts["sentences"] += len(document.sentences)
        self.counts["without_sentences"] += not document.sentences
        for name in ("title", "date", "source", "language"):
            self.counts[name] += getattr(document, name) is not None
        if len(self.first) < SHOWN:
            self.first.append(located)
        if first := self._ids.first(document.id.encode(), located.where):
            self.repetitions += 1
            if len(self.repeated) < PROBLEMS_SHOWN:
                problem = f"document id {document.id!r} is duplicated: first used at {first}"
                self.repeated.append(Malformed(located.where, problem, document.id))

    def say(self) -> None:
        for where, document in self.first:
            known = (document.date, document.source, document.language, document.url)
            click.echo(f"{where}\n  {document.id}: {document.title or '(no title)'}")
            click.echo("  " + " · ".join(filter(None, (*known, f"{len(document.sentences)} sentences"))))
            for sentence in document.sentences[:2]:
                click.echo(f"  | {sentence.text[:200]}")
        c = self.counts
        click.echo(f"{c['documents']:,} documents with {c['sentences']:,} sentences")
        click.echo(
            f"{c['title']:,} have a title, {c['date']:,} a date, {c['source']:,} a source, "
            f"{c['language']:,} a language"
        )

    def as_dict(self, problems: Iterable[Malformed], count: int, notes: list[str]) -> dict[str, object]:
        first = [{"where": where, **asdict(document)} for where, document in self.first]
        found = [problem._asdict() for problem in problems]
        return {**self.counts, "first": first, "problem_count": count, "problems": found, "notes": notes}
