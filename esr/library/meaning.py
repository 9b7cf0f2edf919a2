"""Vectors of loaded documents: whether a load fits a table to them (`esr/index/runs`), or why not."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from esr.errors import EsrError, UsageError
from esr.extras import require
from esr.index.contract import Index
from esr.index.questions import StoredTable, Summary
from esr.stdlib import import_lazily
from esr.text.analyzer_definitions import get_definition
from esr.text.sentence_enrichment import VECTORS

if TYPE_CHECKING:
    from esr.enrichment import table_enricher
    from esr.enrichment.enricher import VectorSettings
    from esr.index.runs import table_run
    from esr.ranking import searcher
else:
    searcher = import_lazily("esr.ranking.searcher")
    table_enricher = import_lazily("esr.enrichment.table_enricher")
table_run = import_lazily("esr.index.runs.table_run")

VARIABLE = "ESR_MEANING"
MEANING_VARIABLES = {VARIABLE: "no: loads fit no table of vectors, unless --meaning is given"}
LEAST_SENTENCES = 2_000
"""Loads fit a table by default to an index of at least so many sentences."""
_PURPOSE = "ranking by meaning"
_MOST_WORKERS = 8


def check_meaning(choice: bool | None) -> None:
    """Check before a load what it needs: packages and the encoder, which is fetched at its first use.

    `choice` is that of `--meaning` or `--no-meaning`, None without either. Raises EsrError if something
    that `--meaning` needs is missing, UsageError for a bad value of the variable.
    """
    if choice:
        _require_packages()
        table_enricher.find_tokenizer(table_enricher.default_settings())
    elif choice is None:
        _is_refused()


def fit_loaded(
    where: str, choice: bool | None, fit: Callable[[VectorSettings, int], object] | None = None
) -> list[str]:
    """Fit the table of a loaded index, by `fit` if given, which gets settings and a number of processes.

    By default, that is done if the index has at least LEAST_SENTENCES sentences, in the encoder's language,
    and the packages and the encoder are there. Returns notes for users, such as what is missing. Raises
    EsrError only if `choice` is True: otherwise, a failure is a note.
    """
    if choice is False or (choice is None and _is_refused()):
        return []
    try:
        with searcher.open_searcher(where) as opened:
            reason = None if choice else _find_obstacle(opened.index)
            if reason is None and fit is None:
                settings = table_enricher.default_settings()
                table_run.run_table(opened.index, settings, workers=count_workers())
        if reason is None and fit is not None:
            fit(table_enricher.default_settings(), count_workers())
        elif reason:
            return [f"ranks by words alone: {reason}"]
    except EsrError as error:
        if choice:
            raise
        return [f"ranks by words alone, since no table of vectors was fitted: {error}"]
    return []


def count_workers() -> int:
    """The number of processes that encode after a load: one for each processor, and 8 at most."""
    affinity = getattr(os, "sched_getaffinity", None)
    processors = len(affinity(0)) if affinity else os.cpu_count() or 1
    return min(processors, _MOST_WORKERS)


def _is_refused() -> bool:
    value = os.environ.get(VARIABLE, "").lower()
    if value not in ("", "yes", "no"):
        raise UsageError(f"{VARIABLE} is yes or no, not {value!r}")
    return value == "no"


def _find_obstacle(index: Index) -> str | None:
    """Why no table is to be fitted by default; empty if that is no news for users; None for no reason."""
    summary = index.status(Summary())
    if summary["sentences"] < LEAST_SENTENCES or index.status(StoredTable()) is not None:
        return ""
    try:
        _require_packages()
    except UsageError as error:
        return str(error)
    settings = table_enricher.default_settings()
    missing = table_enricher.describe_missing_encoder(settings)
    if missing is not None:
        return missing
    language = table_enricher.language_of(settings)
    languages = get_definition(index.description.analyzer).languages
    if language and [*languages] != [language]:
        return f"the encoder {settings.encoder} is for {language}, and the index may have other languages"
    made_with = table_enricher.versions_of(settings)
    parts = [part for part in summary["enrichment"] if part["part"] == VECTORS]
    if any(part["made_with"] != made_with or part["documents"] == summary["documents"] for part in parts):
        return ""
    return None


def _require_packages() -> None:
    require(_PURPOSE, "onnxruntime", "tokenizers", "scipy")
