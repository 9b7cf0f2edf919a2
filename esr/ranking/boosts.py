"""Boosts: what a query implies beyond its words, added to its plan as weighted terms and steps on features.

`BOOSTS` is the registry. A boost's function returns its expansion at weight 1, so that a plan can be rebuilt
with other weights without expanding again. The boosts are answer_type, feedback, speech and variants.
Functions at the end of the module add expansions to a plan.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from esr.errors import UsageError
from esr.index.contract import Index
from esr.index.hits import Hit
from esr.index.questions import Features, TermsWithPrefix
from esr.models.static_scores import Adjustment
from esr.plans.plan import PlanTerm, StaticScore
from esr.registry import Parameter, Registry, check_parameters, describe, parse_values

WEIGHT = "w"
"""The parameter that every boost has: it multiplies everything the boost adds."""
Settings = Mapping[str, float]


class BoostQuery(Struct, frozen=True):
    """The input of boosts: the query's text, c(t,q), the index, and a search without boosts.

    `top_hits(n)` returns the best n sentences of the whole index, with their texts.
    """

    text: str
    counts: Mapping[str, int]
    index: Index
    top_hits: Callable[[int], Sequence[Hit]]


class Expansion(Struct, frozen=True):
    """What a boost of weight 1 adds: weighted terms, and features that add 1 where their value is above 0.

    A term of weight x adds x times what one occurrence in the query would add.
    """

    terms: Mapping[str, float] = field(default_factory=dict)
    features: Sequence[str] = ()


class Boost(Struct, frozen=True):
    """A boost: data about itself, and a function from a query to its expansion at weight 1.

    `uses_first_search`: the expansion depends on the results of a search without boosts.
    """

    name: str
    description: str
    source: str
    expand: Callable[[Settings, BoostQuery], Expansion]
    parameters: tuple[Parameter, ...]
    uses_first_search: bool = False

    def settings(self, values: Mapping[str, Any]) -> dict[str, float]:
        """Check parameters and fill in defaults. Raises UsageError for a bad name or value."""
        checked = check_parameters(f"boost {self.name}", self.parameters, values)
        return {name: float(value) for name, value in checked.items()}

    def as_dict(self) -> dict[str, Any]:
        return describe(self)


BOOSTS: Registry[Boost] = Registry("boost", "boosts", Boost)
register = BOOSTS.register
get = BOOSTS.find


def weight_parameter(default: float, grid: tuple[float, ...]) -> Parameter:
    # Sums of much greater weights overflow.
    return Parameter(WEIGHT, "weight", default, high=1e6, grid=grid)


def from_json(data: Any) -> dict[str, dict[str, Any]]:
    """Read the boosts of a ranking file: `{"variants": 0.2, "feedback": {"w": 0.1, "terms": 10}}`.

    A number is the weight. Returns the checked parameters in the file, without defaults. Raises UsageError.
    """
    if not isinstance(data, Mapping):
        raise UsageError(f'boosts must be a JSON object such as {{"variants": 0.2}}, not {data!r}')
    boosts = {}
    for name, value in data.items():
        values = dict(value) if isinstance(value, Mapping) else {WEIGHT: value}
        settings = get(str(name)).settings(values)
        boosts[str(name)] = {key: settings[key] for key in values}
    return boosts


def to_json(boosts: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The boosts as in a ranking file, with every default filled in."""
    settings = {name: get(name).settings(values) for name, values in boosts.items()}
    return {name: values[WEIGHT] if len(values) == 1 else values for name, values in settings.items()}


def parse(text: str) -> tuple[str, dict[str, str]]:
    """Read a boost as `NAME[:WEIGHT][:PARAMETER=VALUE...]`: `variants:0.3` or `feedback:0.1:terms=10`."""
    name, *parts = text.split(":")
    return name, parse_values("--boost", text, parts)


# The boost answer_type

PERSON, PLACE, COMPANY, NUMBER = "pers", "loc", "org", "numbers"

_NOUNS = {
    PERSON: "person actor actress artist author composer director emperor king leader man musician "
    "philosopher player politician pope president prince queen scientist singer woman writer",
    PLACE: "area city continent country county district island location nation neighborhood place province "
    "region river state street town village",
    COMPANY: "agency band club company corporation government group institution league newspaper "
    "organization organisation party school team university",
    NUMBER: "age amount century date day decade distance height month number percent percentage population "
    "portion year",
}
_FEATURE_OF_NOUN = {noun: feature for feature, nouns in _NOUNS.items() for noun in nouns.split()}
_FEATURE_OF_INTERROGATIVE = {"who": PERSON, "whom": PERSON, "whose": PERSON, "where": PLACE, "when": NUMBER}
_INTERROGATIVE = re.compile(
    r"\b(who|whom|whose|where|when|why|what|which|how)\b(?:'s)?(?:\s+(\w+))?", re.IGNORECASE
)
_OPENING = re.compile(r"\W*(?:(?:about|at|by|for|from|in|of|on|since|to|until|with)\s+)?", re.IGNORECASE)


def answer_feature(text: str) -> str | None:
    """The feature that answers to a question have, None if it is unclear or the text is no question.

    The first interrogative and the word after it decide, a coarse version of the classes of Li & Roth 2002. A
    question ends with a question mark, or begins with an interrogative (perhaps after a preposition) and does
    not end with a full stop.
    """
    match = _INTERROGATIVE.search(text)
    if match is None:
        return None
    opening = _OPENING.match(text)
    begins = opening is not None and opening.end() == match.start()
    end = text.rstrip()[-1]
    if end != "?" and (not begins or end == "."):
        return None
    word, noun = match[1].lower(), (match[2] or "").lower()
    if word in _FEATURE_OF_INTERROGATIVE:
        return _FEATURE_OF_INTERROGATIVE[word]
    if word == "how":
        return NUMBER if noun in ("many", "much", "old", "long", "far", "tall") else None
    return _FEATURE_OF_NOUN.get(noun) if word in ("what", "which") else None


def expand_answer_type(settings: Settings, query: BoostQuery) -> Expansion:
    """Expand by a step on the answer's feature, if the index has it.

    Raises UsageError if the index has none of the features that answers may have.
    """
    stored = query.index.status(Features())
    if not any(feature in stored for feature in _NOUNS):
        raise UsageError(
            f"boost answer_type needs one of the features {', '.join(_NOUNS)}, and no sentence has any: "
            "run esr enrich"
        )
    feature = answer_feature(query.text)
    return Expansion(features=[feature] if feature is not None and feature in stored else [])


register(
    Boost(
        "answer_type",
        "w for sentences with a person, a place, an organisation or a number, if a question asks for one: "
        "who, where, which company, when, how many; it needs esr enrich",
        "after the classes of Li & Roth 2002",
        expand_answer_type,
        (weight_parameter(1.0, (0.0, 0.2, 0.5, 1.0, 1.5, 2.0)),),
    )
)


# The boost feedback


def expand_feedback(settings: Settings, query: BoostQuery) -> Expansion:
    """Expand by the most probable terms of the best sentences: pseudo-relevance feedback with RM3.

    p(t|R) = sum over the first n sentences s of  p(s|q) c(t,s)/c(s)  (Lavrenko & Croft 2001), mixed with the
    query (Abdul-Jaleel et al. 2004). All n sentences count the same, p(s|q) = 1/n: so the boost works with
    every model, and scores that differ only in the last digit cannot change a term's weight. The weights of
    the terms add up to those of the query's terms.
    """
    probabilities: dict[str, float] = {}
    for hit in query.top_hits(int(settings["sentences"])):
        assert hit.record is not None
        counts = Counter(query.index.analyzer.terms(hit.record.text))
        for term, count in counts.items():
            probabilities[term] = probabilities.get(term, 0.0) + count / counts.total()
    ordered = sorted(probabilities, key=lambda term: (-probabilities[term], term))
    selected = ordered[: int(settings["terms"])]
    total = sum(probabilities[term] for term in selected)
    length = sum(query.counts.values())
    return Expansion({term: length * probabilities[term] / total for term in selected})


register(
    Boost(
        "feedback",
        "RM3: the terms of the best sentences of a first search, at w times the weight of the query",
        "Lavrenko & Croft 2001; Abdul-Jaleel et al. 2004",
        expand_feedback,
        (
            weight_parameter(0.1, (0.0, 0.05, 0.1, 0.2, 0.3, 0.5)),
            Parameter(
                "sentences", "number of sentences of the first search", 10.0, low=1, high=1000, integer=True
            ),
            Parameter("terms", "number of terms taken from them", 20.0, low=1, high=1000, integer=True),
        ),
        uses_first_search=True,
    )
)


# The boost speech

SPEECH = {
    "said says told": re.compile(
        r"\bwhat\s+(?:did|does|do|has|have|had)\s+\w.*?\b(?:say|said|tell|told)\b"
        r"|^\W*[\w.'’-]+(?:\s+[\w.'’-]+){0,4}?\s+(?:said|says|told|tells)\s+\w",
        re.IGNORECASE,
    ),
    "sagte sagt erklärte": re.compile(
        r"\bwas\s+(?:sagte?|hat|haben)\s+\w|^\W*[\w.-]+(?:\s+[\w.-]+){0,4}?\s+(?:sagte?|erklärte?)\s+\w",
        re.IGNORECASE,
    ),
}
"""Queries for what somebody said, by the language's verbs that report speech."""
QUOTE = "quote"
"""The feature of sentences with direct speech."""


def expand_speech(settings: Settings, query: BoostQuery) -> Expansion:
    """Expand "X said …" and "what did X say about Y" by verbs of speech, and by a step on direct speech.

    A verb of the query itself gains no weight, which would lower sentences without it. In an index without
    the feature `quote`, the expansion has only verbs.
    """
    verbs = next((verbs for verbs, asks in SPEECH.items() if asks.search(query.text)), None)
    if verbs is None:
        return Expansion()
    terms = [term for term in query.index.analyzer.terms(verbs) if term not in query.counts]
    stored = QUOTE in query.index.status(Features())
    return Expansion(dict.fromkeys(terms, 1.0), [QUOTE] if stored else [])


register(
    Boost(
        "speech",
        "w for sentences with a verb of speech or with direct speech, if the query is of the form `X said …` "
        "or `what did X say about Y`, in English or German; direct speech needs esr enrich",
        "esr",
        expand_speech,
        (weight_parameter(0.5, (0.0, 0.2, 0.5, 1.0, 1.5, 2.0)),),
    )
)


# The boost variants

MIN_PREFIX = 5
"""Minimum length of the prefix that two variants share."""
MAX_ENDING = 2
"""Maximum number of letters after the shared prefix."""
MAX_VARIANTS = 10
"""Maximum number of variants of a term, in alphabetical order."""
_MAX_TERMS_READ = 100


def find_variants(term: str, query: BoostQuery) -> list[str]:
    """Find the variants of a term in the collection, in alphabetical order. Numbers have none.

    Stemming conflates inflected forms but not derived words, such as `migrant` and `migration`. A long common
    prefix is a cheap sign that two terms are related (Xu & Croft 1998).
    """
    prefix_length = max(MIN_PREFIX, len(term) - MAX_ENDING)
    if not term.isalpha() or len(term) < prefix_length:
        return []
    candidates = query.index.vocabulary(TermsWithPrefix(term[:prefix_length], _MAX_TERMS_READ))
    variants = [other for other in candidates if _is_variant(term, other) and other not in query.counts]
    return variants[:MAX_VARIANTS]


def _is_variant(term: str, other: str) -> bool:
    return other.isalpha() and term.startswith(other[:-MAX_ENDING])


def expand_variants(settings: Settings, query: BoostQuery) -> Expansion:
    """Expand by variants. Each has its term's count in the query, or the sum for a variant of two terms."""
    terms: dict[str, float] = {}
    for term, count in query.counts.items():
        for variant in find_variants(term, query):
            terms[variant] = terms.get(variant, 0.0) + count
    return Expansion(terms)


register(
    Boost(
        "variants",
        "terms of the collection that begin like a term of the query, except for up to "
        f"{MAX_ENDING} letters at the end, with w times its weight; sentences without them lose nothing",
        "after Xu & Croft 1998",
        expand_variants,
        (weight_parameter(0.2, (0.0, 0.05, 0.1, 0.2, 0.3, 0.5)),),
    )
)


# Expansions in plans

Boosts = Mapping[str, Mapping[str, Any]]
"""The boosts of a ranking, with their parameters."""
Expansions = Mapping[str, Expansion]
"""Expansions by the name of their boost."""


def boost_weight(boosts: Boosts, name: str) -> float:
    return get(name).settings(boosts[name])[WEIGHT]


def term_weights(boosts: Boosts, expansions: Expansions) -> dict[str, float]:
    """The expansion terms in order, each with the sum of its weights from all boosts."""
    weights: dict[str, float] = {}
    for name, expansion in expansions.items():
        for term, share in expansion.terms.items():
            weights[term] = weights.get(term, 0.0) + boost_weight(boosts, name) * share
    return weights


def add_terms(
    query_terms: Sequence[PlanTerm], unit_terms: Sequence[PlanTerm], weights: Mapping[str, float]
) -> tuple[PlanTerm, ...]:
    """Return the query's terms, then the other expansion terms, which do not make sentences candidates.

    `unit_terms` are the expansion terms as if each occurred once in the query. A term that is also in the
    query gets the sum of both weights.
    """
    terms = {term.term: term for term in query_terms}
    for term in unit_terms:
        added = weights[term.term] * term.weight
        query_term = terms.get(term.term)
        terms[term.term] = (
            term._replace(weight=added, own=False)
            if query_term is None
            else query_term._replace(weight=query_term.weight + added)
        )
    return tuple(terms.values())


def weights_by_boost(
    boosts: Boosts, expansions: Expansions, terms: Sequence[PlanTerm], query_terms: Sequence[PlanTerm]
) -> dict[str, dict[str, float]]:
    """Split the weight of each expanded term of a plan by boost.

    `query_terms` are those of the plan without boosts.
    """
    plain = {term.term: term.weight for term in query_terms}
    totals = term_weights(boosts, expansions)
    added = {term.term: term.weight - plain.get(term.term, 0.0) for term in terms if term.term in totals}
    return {
        term: {
            name: weight * boost_weight(boosts, name) * expansion.terms[term] / totals[term]
            for name, expansion in expansions.items()
            if term in expansion.terms
        }
        for term, weight in added.items()
        if weight
    }


def feature_steps(boosts: Boosts, expansions: Expansions) -> Iterator[tuple[str, str, StaticScore]]:
    """Yield the boost, the feature and the static score of each step on a feature."""
    for name, expansion in expansions.items():
        for feature in expansion.features:
            step = Adjustment(feature, "step", {"w": boost_weight(boosts, name)})
            yield name, feature, step.static_score()
