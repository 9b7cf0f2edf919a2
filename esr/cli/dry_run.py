"""`esr load --dry-run`: reads the sources, and says what a load would do."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

import click
from msgspec import to_builtins

from esr.errors import EsrError, InputError
from esr.library.loading import AUTO, SampledDocuments
from esr.loaders import Malformed
from esr.loaders.pipeline import (
    MAX_EXAMPLES,
    MAX_PROBLEMS,
    DocumentPipeline,
    TooManyEmpty,
)
from esr.loaders.reader import NothingLeft
from esr.text.analysis.term_survey import TermCounter
from esr.text.analyzer import get_analyzer
from esr.text.document import Located
from esr.wording import count, shorten_title


def dry_run(pipeline: DocumentPipeline, analyzer: str | None, as_json: bool) -> None:
    """Print the first documents, counts and problems. Raises EsrError if there is a problem."""
    first: list[Located] = []
    about_text: list[str] = []
    refusal: TooManyEmpty | None = None
    try:
        with pipeline.open(collect_all=True) as documents:
            sampled = SampledDocuments(documents, pipeline.sample)
            name = sampled.choose_analyzer() if analyzer in (None, AUTO) else analyzer
            counter = TermCounter()
            for located in sampled:
                if len(first) < MAX_EXAMPLES:
                    first.append(located)
                terms = get_analyzer(name).for_language(located.document.language).terms
                for sentence in located.document.sentences:
                    counter.add(terms(sentence.text))
        about_text = [sampled.reason] if sampled.reason else []
        about_text += [*sampled.language_notes(pipeline.summary.languages, name), *counter.survey().notes()]
    except TooManyEmpty as error:
        refusal = error
    except InputError as error:
        # NothingLeft would repeat the message of a malformed document.
        if not (isinstance(error, NothingLeft) and pipeline.malformed):
            pipeline.malformed.insert(0, Malformed(error.where, error.problem))
            pipeline.malformed_count += 1
    problems, problem_count = [*pipeline.malformed], pipeline.malformed_count
    if refusal:
        problems.append(Malformed(refusal.where, refusal.problem))
    notes = [*pipeline.notes(), *about_text]
    if as_json:
        data = {
            **pipeline.summary.as_dict(),
            "first": [{"where": where, **to_builtins(document)} for where, document in first],
            "problem_count": problem_count,
            "problems": [problem._asdict() for problem in problems],
            "notes": notes,
        }
        click.echo(json.dumps(data, indent=1))
    else:
        lines = [f"{problem.where}: {problem.problem}" for problem in problems[:MAX_PROBLEMS]]
        counts = pipeline.summary.counts
        total = f"{count(counts['documents'], 'document')} with {count(counts['sentences'], 'sentence')}"
        click.echo("\n".join([*_preview(first), total, *pipeline.summary.lines(), *notes, *lines]))
    if problem_count:
        raise EsrError(f"{count(problem_count, 'document')} cannot be loaded; nothing was written")
    if refusal:
        raise EsrError(f"{refusal}; nothing was written")
    if not as_json:
        click.echo("nothing was written")


def _preview(first: Iterable[Located]) -> Iterator[str]:
    """Lines about the first documents."""
    for where, document in first:
        lists = (", ".join(document.authors), ", ".join(document.keywords))
        texts = (document.date, document.source, document.section, document.language, document.url)
        yield f"{where}\n  {document.id}: {shorten_title(document.title or '(no title)')}"
        yield "  " + " · ".join(filter(None, (*texts, *lists, count(len(document.sentences), "sentence"))))
        yield from (f"  | {sentence.text[:200]}" for sentence in document.sentences[:2])
