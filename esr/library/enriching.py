"""The settings of `enrich`, as the keywords of the Python API give them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from esr.enrichment.enricher import DEFAULT_SETTINGS, Enricher, VectorSettings
from esr.enrichment.recipe import check_parts
from esr.features.feature import DEFAULT_RULE
from esr.index.contract import Index
from esr.index.runs.enrichment_run import EnrichmentReport
from esr.index.runs.reuse_run import run_reuse
from esr.index.runs.table_run import run_table
from esr.library.options import value_of
from esr.text.sentence_enrichment import DEFAULT_PARTS, REUSE, TABLE

OF_WHOLE_INDEX = {TABLE, REUSE}
"""The parts that are computed for the whole index at once."""


def read_enricher(parts: Sequence[str], options: Mapping[str, Any], analyzer: str) -> Enricher:
    """The enricher that computes these parts, by default DEFAULT_PARTS, with the settings of `esr enrich`."""
    models, lexica = value_of(options, "spacy_model", ()), value_of(options, "lexicon", ())
    return Enricher(
        check_parts(parts) if parts else DEFAULT_PARTS,
        [models] if isinstance(models, str) else list(models),
        [*map(Path, [lexica] if isinstance(lexica, str | PathLike) else lexica)],
        value_of(options, "subjectivity", DEFAULT_RULE),
        analyzer,
        read_vectors(options),
    )


def read_vectors(options: Mapping[str, Any]) -> VectorSettings:
    """How sentences are encoded, by the settings of `esr enrich`."""
    return VectorSettings(
        value_of(options, "encoder", DEFAULT_SETTINGS.encoder),
        value_of(options, "title_weight", DEFAULT_SETTINGS.title_weight),
    )


def enrich_whole(
    index: Index, parts: Collection[str], options: Mapping[str, Any], workers: int
) -> EnrichmentReport:
    """Compute these of the parts of OF_WHOLE_INDEX. The report counts the documents of the last."""
    enriched = EnrichmentReport()
    if TABLE in parts:
        table = run_table(index, read_vectors(options), sample=options.get("sample"), workers=workers)
        enriched = EnrichmentReport(table.documents, table.sentences, seconds=table.seconds)
    if REUSE in parts:
        reuse = run_reuse(index)
        enriched = EnrichmentReport(
            enriched.documents, enriched.sentences + reuse.new, seconds=enriched.seconds + reuse.seconds
        )
    return enriched
