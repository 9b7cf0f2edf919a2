"""The arguments of `esr enrich` and of `enrich` in Python: what is computed for all sentences, and how."""

from __future__ import annotations

from collections.abc import Mapping

from esr.arguments.argument import COMMAND, PYTHON, Argument
from esr.arguments.types import Between, Choice, FilePath, FilePaths, Flag, Text, Texts, WholeNumber
from esr.encoders import DEFAULT as DEFAULT_ENCODER
from esr.encoders import KNOWN
from esr.enrichment.enricher import DEFAULT_TITLE_WEIGHT
from esr.features import RULES
from esr.features.feature import DEFAULT_RULE
from esr.index.runs.table_run import LEAST_SAMPLE, MOST_SAMPLE
from esr.text.sentence_enrichment import DEFAULT_PARTS, PARTS, REUSE, TABLE

_BOTH = f"{COMMAND} {PYTHON}"
SAMPLE = Argument(
    "sample",
    f"fit the table to about N sentences. Default: 2 % of the index, at least {LEAST_SAMPLE:,}, at most "
    f"{MOST_SAMPLE:,}",
    WholeNumber(),
    _BOTH,
    metavar="N",
)
ENRICHING: tuple[Argument, ...] = (
    Argument(
        "slice",
        "enrich the I-th of N slices, each on a machine of its own",
        Text(usual="1/1"),
        COMMAND,
        sets="slice_text",
        metavar="I/N",
    ),
    Argument(
        "only",
        f"only these parts, separated by commas: {', '.join(PARTS)}, or {TABLE}: vectors by a table that is "
        f"fitted to a sample, or {REUSE}: copies in other documents. Default: {', '.join(DEFAULT_PARTS)}",
        Texts(),
        COMMAND,
        is_repeatable=True,
    ),
    Argument("workers", "number of processes", WholeNumber(most=256, usual=1), COMMAND),
    Argument(
        "spacy_model",
        "installed spaCy model to use for the language that it is made for",
        Texts(),
        _BOTH,
        is_repeatable=True,
        sets="spacy_models",
    ),
    Argument(
        "lexicon",
        "your own word lists for subjectivity and polarity",
        FilePaths(),
        _BOTH,
        is_repeatable=True,
        sets="lexica",
    ),
    Argument(
        "subjectivity",
        "the rule for subjective sentences. See docs/features.md",
        Choice(labels=RULES, usual=DEFAULT_RULE),
        _BOTH,
        sets="rule",
    ),
    Argument(
        "encoder",
        f"the encoder of vectors: {', '.join(KNOWN.built_in)}, hf:OWNER/NAME of the Hugging Face hub, the "
        "address of a server, or a folder. See docs/encoders.md",
        Text(usual=DEFAULT_ENCODER),
        _BOTH,
    ),
    Argument(
        "title_weight",
        "how much of a vector is the sentence with its title before it; the rest is the sentence alone",
        Between(high=1, usual=DEFAULT_TITLE_WEIGHT),
        _BOTH,
    ),
    SAMPLE,
    Argument(
        "vector_index",
        "let Elasticsearch also index the vectors, to find nearly all of the nearest among millions. See "
        "docs/meaning.md",
        Flag(),
        _BOTH,
    ),
    Argument(
        "aliases",
        "table of aliases: a line for each name, with its aliases and ids such as id:Q567, separated by tabs",
        FilePath(),
        _BOTH,
        sets="aliases_file",
    ),
)
"""How sentences are enriched."""
ROWS: Mapping[str, Argument] = {row.name: row for row in ENRICHING}
"""All of them by name."""
