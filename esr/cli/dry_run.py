"""`esr load --dry-run`: the first documents, counts and problems, without an index."""

from __future__ import annotations

import json
from collections.abc import Iterable

import click
from msgspec import to_builtins

from esr import analysis
from esr.analysis.survey import TermCounter
from esr.cli.analyzer_choice import AUTO, SampledDocuments, language_notes
from esr.cli.document_pipeline import MAX_EXAMPLES, MAX_PROBLEMS, DocumentPipeline, TooManyEmpty
from esr.documents import Located
from esr.errors import EsrError, InputError
from esr.loaders import Malformed


def dry_run(pipeline: DocumentPipeline, analyzer: str | None, as_json: bool) -> None:
    """Print the first documents, counts and problems. Raises EsrError if there is a problem."""
    preview = _Preview()
    about_text: list[str] = []
    refusal: TooManyEmpty | None = None
    try:
        with pipeline.open(collect_all=True) as documents:
            sampled = SampledDocuments(documents)
            name = sampled.choose_analyzer() if analyzer in (None, AUTO) else analyzer
            terms = analysis.get(name).terms
            counter = TermCounter()
            for located in sampled:
                preview.add(located)
                for sentence in located.document.sentences:
                    counter.add(terms(sentence.text))
        about_text = [sampled.reason] if sampled.reason else []
        about_text += [*language_notes(pipeline.summary.languages, name), *counter.survey().notes()]
    except TooManyEmpty as error:
        refusal = error
    except InputError as error:
        if not pipeline.malformed:
            pipeline.malformed.append(Malformed(error.where, error.problem))
            pipeline.malformed_count += 1
    problems, problem_count = [*pipeline.malformed], pipeline.malformed_count
    if refusal:
        problems.append(Malformed(refusal.where, refusal.problem))
    notes = [*pipeline.notes(), *about_text]
    if as_json:
        data = {**pipeline.summary.as_dict(), **preview.as_dict(problems, problem_count, notes)}
        click.echo(json.dumps(data, indent=1))
    else:
        lines = [f"{problem.where}: {problem.problem}" for problem in problems[:MAX_PROBLEMS]]
        counts = pipeline.summary.counts
        total = f"{counts['documents']:,} documents with {counts['sentences']:,} sentences"
        click.echo("\n".join([*preview.as_lines(), total, *pipeline.summary.lines(), *notes, *lines]))
    if problem_count:
        raise EsrError(f"{problem_count:,} documents cannot be loaded; nothing was written")
    if refusal:
        raise EsrError(f"{refusal}; nothing was written")
    if not as_json:
        click.echo("nothing was written")


class _Preview:
    """The first documents."""

    def __init__(self) -> None:
        self.first: list[Located] = []

    def add(self, located: Located) -> None:
        if len(self.first) < MAX_EXAMPLES:
            self.first.append(located)

    def as_lines(self) -> list[str]:
        lines: list[str] = []
        for where, document in self.first:
            lists = (", ".join(document.authors), ", ".join(document.keywords))
            texts = (document.date, document.source, document.section, document.language, document.url)
            lines += [
                f"{where}\n  {document.id}: {document.title or '(no title)'}",
                "  " + " · ".join(filter(None, (*texts, *lists, f"{len(document.sentences)} sentences"))),
                *(f"  | {sentence.text[:200]}" for sentence in document.sentences[:2]),
            ]
        return lines

    def as_dict(self, problems: Iterable[Malformed], count: int, notes: list[str]) -> dict[str, object]:
        return {
            "first": [{"where": where, **to_builtins(document)} for where, document in self.first],
            "problem_count": count,
            "problems": [problem._asdict() for problem in problems],
            "notes": notes,
        }
