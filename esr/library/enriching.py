"""Enrichment of an index by a program, with the settings of `esr enrich`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from esr.enrichment.enricher import DEFAULT_SETTINGS, Enricher, VectorSettings
from esr.enrichment.recipe import check_parts
from esr.features.feature import DEFAULT_RULE
from esr.index.contract import Index
from esr.index.enrichment_run import EnrichmentReport, run_enrichment
from esr.index.names import read_aliases
from esr.library.options import EnrichOptions, check_names
from esr.text.document import DEFAULT_PARTS


def enrich(
    index: Index, parts: Sequence[str], workers: int, slice: tuple[int, int], options: Mapping[str, Any]
) -> EnrichmentReport:
    """Compute these parts, by default DEFAULT_PARTS, and store them. Raises EsrError."""
    check_names(options, EnrichOptions.__annotations__)
    given = {name: value for name, value in options.items() if value is not None}
    models, lexica = given.get("spacy_model", ()), given.get("lexicon", ())
    enricher = Enricher(
        check_parts(parts) if parts else DEFAULT_PARTS,
        [models] if isinstance(models, str) else list(models),
        [*map(Path, [lexica] if isinstance(lexica, str | PathLike) else lexica)],
        given.get("subjectivity", DEFAULT_RULE),
        index.description.analyzer,
        VectorSettings(
            given.get("encoder", DEFAULT_SETTINGS.encoder),
            given.get("title_weight", DEFAULT_SETTINGS.title_weight),
        ),
    )
    aliases = read_aliases(Path(given["aliases"])) if "aliases" in given else None
    vector_index = bool(given.get("vector_index", False))
    return run_enrichment(
        index, enricher, slice=slice, workers=workers, aliases=aliases, vector_index=vector_index
    )
