"""The messages of the pages that stand in tables of esr, such as the labels of arguments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

from esr import models
from esr.arguments.tables.counting import SCALES
from esr.arguments.tables.table import PAGE
from esr.arguments.types import Choice
from esr.corpus.choices import GROUPINGS, ORDERS, UNITS
from esr.corpus.concordance import OUTSIDE
from esr.corpus.formulas import FORMULAS, SYMBOLS
from esr.corpus.names_and_quotes import ONLY_SOME_WORDS
from esr.dossiers.exports.formats import FORMATS
from esr.dossiers.imports import JUDGEMENT_COLUMNS
from esr.evidence.choices import EVIDENCE_ORDERS
from esr.evidence.claim_evidence import GROUPS
from esr.evidence.contrast import RULES
from esr.features import FEATURES
from esr.following.timeline import INTERVALS
from esr.index.names import ENTITY_TYPES
from esr.models.forms import FORMS
from esr.models.priors import PRIORS
from esr.plans.plan import CANDIDATES
from esr.query.interpretation import Reading
from esr.query.query import MESSAGES
from esr.ranking.boosts import BOOSTS
from esr.ranking.second_stage.signal_types import signal_types
from webui.arguments.rankings import OFFERED_SIGNALS, first_phrase
from webui.pages.rendering import without_remarks
from webui.pages.words import LINE_ORDERS
from webui.running.settings import Settings

_NO_CONTEXT = "none: the sentence alone"


def table_messages() -> Iterator[tuple[str, str]]:
    """Each message, after the folder of its table."""
    rows = [row for row in PAGE.values() if row.label]
    for row in rows:
        yield from _in("esr/arguments", row.label, row.empty, row.phrase)
        if isinstance(row.type, Choice):
            yield from _in("esr/arguments", *row.type.labels.values())
        if row.phrase and "{}" in row.phrase:  # a chip names the argument
            yield from _in("esr/arguments", row.name)
    yield from _in(
        "esr/arguments", *SCALES.values(), *(row.name for row in PAGE.values() if row.group == "filter")
    )
    yield from _in("webui/running", Settings().motto)
    yield from _in("webui/arguments", _NO_CONTEXT)
    yield from _in("esr/following", *INTERVALS)
    yield from _in("esr/corpus", *GROUPINGS, *ORDERS, *UNITS, *SYMBOLS.values(), ONLY_SOME_WORDS)
    for formula in FORMULAS.values():
        yield from _in("esr/corpus", formula.label, formula.meaning)
    yield from _in("webui/pages", *LINE_ORDERS.values(), *OUTSIDE.values())
    yield from _in("esr/dossiers", FORMATS["text"].label, *JUDGEMENT_COLUMNS.values())
    yield from _in("esr/evidence", *RULES, *RULES.values(), *GROUPS.values())
    yield from _in("esr/evidence", *EVIDENCE_ORDERS, *EVIDENCE_ORDERS.values())
    yield from _in("esr/index", *ENTITY_TYPES)
    yield from _in("esr/ranking", *SCORE_PARTS)
    yield from _descriptions_of_rankings()
    yield from _in("esr/query", *get_args(Reading), *MESSAGES.values())


SCORE_PARTS = (
    "term",
    "prior",
    "feature",
    "boost",
    "signal",
    "field",
    "dependency",
    "sentence",
    "window",
    "surrounding",
    "length",
    "document",
)
"""Kinds of parts of a score, and the fields whose words add to it."""


def _descriptions_of_rankings() -> Iterator[tuple[str, str]]:
    """What `webui/templates/ranking.html` says of models, priors, features, forms, boosts and signals."""
    for model in models.MODELS.values():
        yield from _in("esr/models", first_phrase(model.description))
        yield from _in("esr/models", *(parameter.description for parameter in model.parameters))
    for form in FORMS.values():
        if not form.is_trained:
            yield from _in("esr/models", form.description)
            yield from _in("esr/models", *(each.description for each in form.parameters if each.name != "w"))
    yield from _in("esr/models", *models.CONTEXTS.values())
    yield from _in("esr/models", *(without_remarks(prior.description) for prior in PRIORS.values()))
    yield from _in("esr/plans", *CANDIDATES.values())
    yield from _in("esr/features", *(feature.description for feature in FEATURES.values()))
    yield from _in("esr/ranking", *(boost.description for boost in BOOSTS.values()))
    signals = (signal for signal in signal_types().values() if signal.group in OFFERED_SIGNALS)
    yield from _in("esr/ranking", *(signal.description for signal in signals))


def _in(place: str, *texts: str) -> Iterator[tuple[str, str]]:
    return ((place, text) for text in texts if text and text != "{}")
