"""`esr enrich`: features, named entities and parses for the sentences of an index."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from pathlib import Path

import click
from tqdm import tqdm

import esr
from esr.analysis.analyzer import DEFAULT as DEFAULT_ANALYZER
from esr.cli import options
from esr.documents.enrichment import PARTS
from esr.engines.enriching import run
from esr.engines.redact import redacted
from esr.enrichment.enricher import Enricher
from esr.enrichment.recipe import check_parts
from esr.features import RULES
from esr.features.feature import DEFAULT_RULE


@click.command()
@options.index
@click.option("--slice", "part", default="1/1", metavar="I/N", help="The I-th of N slices: one a machine.")
@click.option("--only", help=f"Make these parts, with commas between them: {', '.join(PARTS)}. Default: all.")
@click.option(
    "--workers", type=click.IntRange(1, 256), default=1, show_default=True, help="Processes at once."
)
@click.option("--spacy-model", help="Installed spaCy model to use.")
@click.option(
    "--lexicon",
    "lexica",
    multiple=True,
    type=options.FILE,
    help="Word lists of your own for subjectivity and polarity. May be repeated.",
)
@click.option(
    "--subjectivity",
    "rule",
    type=click.Choice(list(RULES)),
    default=DEFAULT_RULE,
    show_default=True,
    help="When a sentence is subjective. See docs/features.md.",
)
def enrich(
    where: str,
    part: str,
    only: str | None,
    workers: int,
    spacy_model: str | None,
    lexica: tuple[Path, ...],
    rule: str,
) -> None:
    """Find features, named entities and parses, and store them in the index.

    Searches go on meanwhile. What was done with the same tools is skipped, so a run that was stopped is
    taken up where it was.

    \b
    Example:
      esr enrich --index my-index --workers 2
      esr enrich --index http://localhost:9200/news --slice 2/8
    """
    slice = options.sliced(part)
    parts = PARTS if only is None else check_parts(name.strip() for name in only.split(","))
    enricher = made_enricher(parts, spacy_model, lexica, rule, analyzer_of(where))
    enrich_index(where, enricher, slice=slice, workers=workers)


def made_enricher(
    parts: Sequence[str] = PARTS,
    spacy_model: str | None = None,
    lexica: Sequence[Path] = (),
    rule: str = DEFAULT_RULE,
    analyzer: str = DEFAULT_ANALYZER,
) -> Enricher:
    """The enricher of these settings. Raises EsrError where something is missing for it."""
    return Enricher(parts, spacy_model, lexica, rule, analyzer)


def analyzer_of(where: str) -> str:
    """The name of an index's analyzer."""
    with esr.open(where) as searcher:
        return searcher.index.description.analyzer


def enrich_index(
    where: str, enricher: Enricher, *, slice: tuple[int, int] = (1, 1), workers: int = 1, quiet: bool = False
) -> None:
    """Enrich an index, show how far it is, and say at the end what was done."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what is done is stored
    bar = tqdm(unit=" documents", disable=None, mininterval=0.5, leave=False)

    def begun(done: int, documents: int) -> None:
        bar.reset(documents)
        bar.initial = done  # what was done before is no measure of the speed
        bar.n = done
        bar.refresh()

    with esr.open(where) as searcher, bar:
        report = run(searcher.index, enricher, slice=slice, workers=workers, begun=begun, step=bar.update)
    if quiet:
        return
    click.echo(
        f"enriched {report.documents:,} documents with {report.sentences:,} sentences "
        f"in {redacted(where)} in {report.seconds:.1f} s"
    )
    if report.already:
        click.echo(f"{report.already:,} documents were done already")
    for note in report.notes:
        click.echo(note)
