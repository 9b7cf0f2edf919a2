"""`esr enrich`: compute features, named entities, parses and vectors for the sentences of an index."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from msgspec import Struct
from tqdm import tqdm

from esr.arguments.argument import COMMAND
from esr.arguments.tables.enriching import ENRICHING
from esr.cli import options
from esr.cli.arguments import add_arguments, collect_options
from esr.cli.options import parse_slice
from esr.enrichment.enricher import Enricher, VectorSettings
from esr.enrichment.recipe import check_parts
from esr.errors import UsageError, unknown
from esr.index.login_variables import redact
from esr.index.names import Aliases, read_aliases
from esr.index.runs.enrichment_run import RunEnd, run_enrichment
from esr.index.runs.reuse_run import run_reuse
from esr.index.runs.table_run import run_table
from esr.processes import exit_on_sigterm
from esr.progress import StepProgress
from esr.ranking.searcher import open_searcher
from esr.text.sentence_enrichment import DEFAULT_PARTS, PARTS, REUSE, TABLE
from esr.wording import count


class EnrichmentOptions(Struct, frozen=True):
    """The tools and tables that `esr enrich` uses."""

    spacy_models: tuple[str, ...]
    lexica: tuple[Path, ...]
    rule: str
    encoder: str
    title_weight: float
    sample: int | None
    vector_index: bool
    aliases_file: Path | None


@click.command()
@options.index
@add_arguments(ENRICHING, COMMAND)
@collect_options(EnrichmentOptions, "settings")
def enrich(
    where: str,
    slice_text: str,
    only: tuple[str, ...],
    workers: int,
    settings: EnrichmentOptions,
) -> None:
    """Compute features, names, parses, vectors and quotations.

    They are stored in the index. Searches continue meanwhile. Documents that the same tools have enriched are
    skipped, so an interrupted run resumes where it stopped. Each document is read by the spaCy model of its
    language: see docs/features.md. One without an installed model gets only the features that need none.
    Vectors, quotations and copies are computed where --only names them: docs/meaning.md, docs/quotations.md,
    docs/copies.md.

    Names that an older version of esr has stored are grouped without being searched for again. The index
    keeps the table of aliases until another is given.

    \b
    Example:
      esr enrich --index my-index --workers 2
      esr enrich --index http://localhost:9200/news --slice 2/8
      esr enrich --index my-index --only table
      esr enrich --index my-index --only vectors
      esr enrich --index my-index --only reuse
      esr enrich --index http://localhost:9200/news --only vectors --vector-index
    """
    slice = parse_slice(slice_text)
    aliases = None if settings.aliases_file is None else read_aliases(settings.aliases_file)
    vectors = VectorSettings(settings.encoder, settings.title_weight)
    names = split_names(only)
    if TABLE in names:
        if slice != (1, 1):
            raise UsageError("--only table does not work with --slice: a table is fitted to the whole index")
        fit_index(where, vectors, sample=settings.sample, workers=workers)
    if REUSE in names:
        if slice != (1, 1):
            raise UsageError("--only reuse does not work with --slice: copies are found in the whole index")
        find_reuse(where)
    others = [name for name in names if name not in (TABLE, REUSE)]
    if names and not others:
        return
    names = others
    parts = check_parts(names) if names else DEFAULT_PARTS
    enricher = Enricher(
        parts, settings.spacy_models, settings.lexica, settings.rule, read_analyzer(where), vectors
    )
    enrich_index(
        where, enricher, slice=slice, workers=workers, aliases=aliases, vector_index=settings.vector_index
    )


def split_names(only: Sequence[str]) -> list[str]:
    """Split lists of names of parts, separated by commas. Raises UsageError for an unknown name."""
    names = [name.strip() for some in only for name in some.split(",")]
    known = (*PARTS, TABLE, REUSE)
    for name in names:
        if name not in known:
            raise unknown("part", name, known)
    return names


def read_analyzer(where: str) -> str:
    with open_searcher(where) as searcher:
        return searcher.index.description.analyzer


_STEPS = {
    "sample": "encoding a sample of the documents",
    "pieces": "encoding pieces of words",
    "fit": "fitting the table of vectors",
    "table": "encoding the documents by the table",
}


def fit_index(
    where: str, vectors: VectorSettings, *, sample: int | None = None, workers: int = 1, quiet: bool = False
) -> None:
    """Fit the table of an index and encode all by it, with a progress bar. Print a report unless `quiet`."""
    exit_on_sigterm()
    with open_searcher(where) as searcher, StepProgress() as progress:
        report = run_table(
            searcher.index,
            vectors,
            sample=sample,
            workers=workers,
            on_start=lambda step, items: progress.start(_STEPS[step], items),
            on_progress=progress.update,
        )
    if not quiet:
        click.echo(
            f"fitted a table to {count(report.sample_sentences, 'sentence')} and encoded "
            f"{count(report.sentences, 'sentence')} by it in {redact(where)} in {report.seconds:.1f} s"
        )


def find_reuse(where: str, *, quiet: bool = False) -> None:
    """Find the copies in an index. Print a report unless `quiet`."""
    exit_on_sigterm()
    with open_searcher(where) as searcher:
        report = run_reuse(searcher.index)
    if not quiet:
        click.echo(
            f"compared {count(report.new, 'new sentence')} in {redact(where)} in {report.seconds:.1f} s: "
            f"{count(report.copies, 'sentence', 'stand')} in several documents, in "
            f"{count(report.groups, 'group')}"
        )


def enrich_index(
    where: str,
    enricher: Enricher,
    *,
    slice: tuple[int, int] = (1, 1),
    workers: int = 1,
    aliases: Aliases | None = None,
    vector_index: bool = False,
    quiet: bool = False,
) -> None:
    """Enrich an index with a progress bar, and print a report unless `quiet`."""
    exit_on_sigterm()
    bar = tqdm(unit=" documents", disable=None, mininterval=0.5, leave=False)

    def start_bar(done: int, total: int) -> None:
        bar.reset(total)
        bar.initial = done  # documents of earlier runs do not count for the rate
        bar.n = done
        bar.refresh()

    with open_searcher(where) as searcher, bar:
        report = run_enrichment(
            searcher.index,
            enricher,
            slice=slice,
            workers=workers,
            end=RunEnd(aliases, vector_index),
            on_start=start_bar,
            on_progress=bar.update,
        )
    if quiet:
        return
    click.echo(
        f"enriched {count(report.documents, 'document')} with {count(report.sentences, 'sentence')} "
        f"in {redact(where)} in {report.seconds:.1f} s"
    )
    if report.already:
        click.echo(f"{count(report.already, 'document', 'were')} already enriched")
    if report.regrouped:
        click.echo(f"the names in {count(report.regrouped, 'sentence')} were grouped")
    if aliases is not None:
        click.echo(f"the table of aliases is stored, names in it: {len(aliases.forms):,}")
    for note in report.notes:
        click.echo(note)
