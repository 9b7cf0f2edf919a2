"""`esr load --dry-run`: the first documents, counts and problems, without an index."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict

import click

from esr import analysis
from esr.analysis.survey import TermCounter
from esr.cli.analyzer_choice import AUTO, SampledDocuments, language_notes
from esr.cli.document_pipeline import MAX_EXAMPLES, MAX_PROBLEMS, DocumentPipeline
from esr.documents import Located
from esr.errors import EsrError, InputError
from esr.loaders import Malformed


def dry_run(pipeline: DocumentPipeline, analyzer: str | None, as_json: bool) -> None:
    """Print the first documents, counts and problems. Raises EsrError if there is a problem."""
    summary = _Summary()
    about_text: list[str] = []
    try:
        with pipeline.open(collect_all=True) as documents:
            sampled = SampledDocuments(documents)
            name = sampled.choose_analyzer() if analyzer in (None, AUTO) else analyzer
            terms = analysis.get(name).terms
            counter = TermCounter()
            for located in sampled:
                summary.add(located)
                for sentence in located.document.sentences:
                    counter.add(terms(sentence.text))
        about_text = [sampled.reason] if sampled.reason else []
        about_text += [*language_notes(pipeline.languages, name), *counter.survey().notes()]
    except InputError as error:
        if not pipeline.malformed:
            pipeline.malformed.append(Malformed(error.where, error.problem))
            pipeline.malformed_count += 1
    problems, problem_count = pipeline.malformed, pipeline.malformed_count
    notes = [*pipeline.notes(), *about_text]
    if as_json:
        click.echo(json.dumps(summary.as_dict(problems, problem_count, notes), indent=1))
    else:
        lines = [f"{problem.where}: {problem.problem}" for problem in problems[:MAX_PROBLEMS]]
        click.echo("\n".join([*summary.as_lines(), *notes, *lines]))
    if problem_count:
        raise EsrError(f"{problem_count:,} documents cannot be loaded; nothing was written")
    if not as_json:
        click.echo("nothing was written")


class _Summary:
    """Counts of documents, and the first documents."""

    def __init__(self) -> None:
        self.first: list[Located] = []
        self.counts = dict.fromkeys(
            ("documents", "sentences", "without_sentences", "title", "date", "source", "language"), 0
        )

    def add(self, located: Located) -> None:
        document = located.document
        self.counts["documents"] += 1
        self.counts["sentences"] += len(document.sentences)
        self.counts["without_sentences"] += not document.sentences
        for name in ("title", "date", "source", "language"):
            self.counts[name] += getattr(document, name) is not None
        if len(self.first) < MAX_EXAMPLES:
            self.first.append(located)

    def as_lines(self) -> list[str]:
        lines: list[str] = []
        for where, document in self.first:
            metadata = (document.date, document.source, document.language, document.url)
            lines += [
                f"{where}\n  {document.id}: {document.title or '(no title)'}",
                "  " + " · ".join(filter(None, (*metadata, f"{len(document.sentences)} sentences"))),
                *(f"  | {sentence.text[:200]}" for sentence in document.sentences[:2]),
            ]
        counts = self.counts
        return [
            *lines,
            f"{counts['documents']:,} documents with {counts['sentences']:,} sentences",
            f"{counts['title']:,} have a title, {counts['date']:,} a date, {counts['source']:,} a source, "
            f"{counts['language']:,} a language",
        ]

    def as_dict(self, problems: Iterable[Malformed], count: int, notes: list[str]) -> dict[str, object]:
        return {
            **self.counts,
            "first": [{"where": where, **asdict(document)} for where, document in self.first],
            "problem_count": count,
            "problems": [problem._asdict() for problem in problems],
            "notes": notes,
        }
