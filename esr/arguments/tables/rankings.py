"""The arguments of a ranking."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from esr import models
from esr.arguments.argument import COMMAND, PYTHON, SEARCHES, Alias, Argument
from esr.arguments.operations import RANKED
from esr.arguments.types import Choice, Named, Number, Parts, Text, Type, Weighted, WholeNumber
from esr.models.priors import PRIORS
from esr.plans.plan import CANDIDATES
from esr.ranking.second_stage.reranker import DEPTH

PARAMETER = "params."
PRIOR = "prior."
RERANK_DEPTH = "rerank_depth"
VERSUS = "vs."
"""The prefix of the second ranking in a comparison, as in vs.model and vs.params.mu."""
NAME = "NAME"
"""Placeholder for any name at the end of an argument: params.NAME covers params.mu and all others."""
MAX_DEPTH = 1_000
"""Maximum depth of a second stage, which reads the parse of each sentence it rescores."""


def _ranking(
    name: str,
    help: str,
    type: Type,
    *,
    is_repeatable: bool = False,
    doors: str = f"{COMMAND} {PYTHON} page {RANKED}",
    spelled: Mapping[str, str] | None = None,
    aliases: tuple[Alias, ...] = (),
) -> Argument:
    return Argument(
        name,
        help,
        type,
        doors,
        "ranking",
        is_repeatable=is_repeatable,
        spelled=dict(spelled or {}),
        aliases=aliases,
    )


RANKING: tuple[Argument, ...] = (
    _ranking("model", "the ranking model", Named(labels=models.MODELS, usual=models.DEFAULT.name)),
    _ranking("context", "the text around a sentence that the model uses", Named(labels=models.CONTEXTS)),
    _ranking(
        PARAMETER + NAME,
        "a parameter of the model",
        Text(),
        spelled={COMMAND: "set", PYTHON: ""},
    ),
    _ranking(
        PRIOR + NAME,
        "a prior of sentences and its weight",
        Weighted(),
        spelled={COMMAND: "prior", PYTHON: "prior"},
    ),
    _ranking(
        "feature", "a feature that adjusts the score, as in len:log:0.1", Weighted(), is_repeatable=True
    ),
    _ranking("boost", "an expansion of the query, as in variants:0.2", Weighted(), is_repeatable=True),
    _ranking(
        "rerank",
        "a signal of the second stage, as in mrf_sdm:0.5, or cross for the configured cross-encoder",
        Weighted(),
        is_repeatable=True,
    ),
    _ranking(
        RERANK_DEPTH,
        "how many of the best sentences the second stage ranks again",
        WholeNumber(high=MAX_DEPTH, usual=DEPTH),
        aliases=(Alias("depth", "0.3", applies_to=f"page {RANKED}"),),
    ),
    _ranking("candidates", "which sentences are ranked", Named(labels=CANDIDATES)),
    _ranking(
        "ranking",
        "all of these, from a JSON file or by the name of a ranking that esr ships; the others take "
        "precedence over it",
        Parts(),
        doors=SEARCHES,
    ),
)
SECOND_RANKING = tuple(
    replace(
        row,
        name=VERSUS + row.name,
        applies_to="compare",
        aliases=tuple(
            replace(alias, name=VERSUS + alias.name, applies_to="compare") for alias in row.aliases
        ),
    )
    for row in RANKING
    if row.is_for("page")
)
"""The arguments of the second ranking of a comparison."""


def expand(of: Iterable[Argument]) -> list[Argument]:
    """The rows, in which each placeholder is replaced by a row for each model parameter or prior."""
    return [expanded for row in of for expanded in (_expand(row) if row.name.endswith(NAME) else [row])]


def _expand(row: Argument) -> list[Argument]:
    prefix = row.name.removesuffix(NAME)
    if prefix.endswith(PRIOR):
        weights = ((prior.name, f"weight of the prior {prior.name}") for prior in PRIORS.values())
        return [replace(row, name=prefix + name, help=help, type=Number()) for name, help in weights]
    meanings: dict[str, dict[str, list[str]]] = {}  # several models may share a name
    choices: dict[str, dict[str, str]] = {}
    for model in models.MODELS.values():
        for parameter in model.parameters:
            meaning = f"{parameter.description}, {parameter.range}"
            meanings.setdefault(parameter.name, {}).setdefault(meaning, []).append(model.name)
            choices.setdefault(parameter.name, {}).update(dict.fromkeys(parameter.choices, ""))
    return [
        replace(
            row,
            name=prefix + name,
            help="; ".join(f"{', '.join(of_models)}: {meaning}" for meaning, of_models in texts.items()),
            type=Choice(labels=choices[name]) if choices[name] else Number(),
        )
        for name, texts in meanings.items()
    ]


def is_ranking_argument(name: str) -> bool:
    """Whether an argument says how to rank."""
    return name in _RANKING_NAMES or name.startswith((PARAMETER, PRIOR))


_RANKING_NAMES = frozenset(row.name for row in RANKING if row.is_for("page"))


def ranking_of(door: str) -> tuple[Argument, ...]:
    """The arguments of a ranking that a door or an operation takes."""
    return tuple(row for row in RANKING if row.is_for(door))
