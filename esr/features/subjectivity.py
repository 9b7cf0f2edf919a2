"""Features of opinion: `subj_score` and `subj`, whether a sentence is subjective; `pos`, `neg` and `opt`.

`subj` is F_subj of Fernández & Losada 2012 (docs/formulas.md, B.8): it compares `subj_score` with a
threshold. Two rules compute the score: `score` weighs lexicon words and cues of style, `clues` is the rule of
Riloff & Wiebe (EMNLP 2003) by which OpinionFinder labels sentences.

`pos`, `neg` and `opt` count positive and negative words; they are F_pos, F_neg and F_opt. A word counts with
the polarity that it has in its sentence, as in the data of the papers, whose tool labels contextual polarity:
in "not good" it is negative. A negation among the four words before a word inverts its polarity (Wilson,
Wiebe & Hoffmann 2005), unless a clause ends between them; "not only" negates nothing.

All of this is for English. In other languages, a classifier says the same of whole sentences (tone.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

from esr.features.feature import Feature, FeatureInput, Values, register
from esr.features.lexicon import Lexicon
from esr.text.sentence_enrichment import Annotation, Token

MAX_CLUES = 4
MAX_PER_CUE = 3


class Cue(NamedTuple):
    """A cue of style: tokens with one of these tags, except the words in `but`, or one of these words."""

    weight: float
    tags: str = ""
    words: str = ""
    but: str = ""


CUES = {
    "pronouns": Cue(0.5, tags="PRP PRP$"),
    "first and second person": Cue(
        0.5, words="i me my mine myself we us our ours ourselves you your yours yourself yourselves"
    ),
    "modals": Cue(1.0, tags="MD", but="will 'll ’ll wo"),
    "adjectives": Cue(0.5, tags="JJ JJR JJS"),
    "adverbs": Cue(0.7, tags="RB RBR RBS", but="not n't n’t"),
    "numbers": Cue(-1.0, tags="CD"),
    "questions and exclamations": Cue(1.5, words="? !"),
    "discourse words": Cue(
        0.7,
        words="although but though however nevertheless nonetheless yet despite instead rather thus hence "
        "therefore indeed moreover furthermore besides still anyway otherwise whereas",
    ),
    "intensifiers": Cue(
        0.7,
        words="absolutely all almost always completely deeply ever extremely far fully highly incredibly "
        "just least less more most much never only quite really simply so such too totally truly utterly "
        "very",
    ),
    "negations": Cue(0.5, words="not n't n’t no never nothing nobody none neither nor nowhere hardly cannot"),
    "hedges": Cue(
        1.0,
        words="apparently arguably certainly clearly likely maybe obviously perhaps possibly presumably "
        "probably seem seems seemed seemingly supposedly surely undoubtedly unlikely "
        "appear appears believe think feel suppose guess",
    ),
}


def score(sentence: Annotation, lexicon: Lexicon) -> float:
    """The score of a tagged sentence, about -1.5 to 6. It depends on no other sentence and on no query.

    Weights were set by hand. Each count is capped, and the sum is divided by ln(2 + words), so that length
    alone does not make a sentence subjective.
    """
    counts = [0] * len(_WEIGHTS)
    clues = 0
    for token in sentence.tokens:
        text = token.text.lower()
        for cue in _CUES_BY_TAG.get(token.tag, ()):
            counts[cue] += text not in _EXCEPTIONS[cue]
        for cue in _CUES_BY_WORD.get(text, ()):
            counts[cue] += 1
        clues += lexicon.clue(text, token.tag) is not None
    style = sum(weight * min(count, MAX_PER_CUE) for weight, count in zip(_WEIGHTS, counts, strict=True))
    return (min(clues, MAX_CLUES) + style) / math.log(2 + len(sentence.tokens))


_WEIGHTS = [cue.weight for cue in CUES.values()]
_EXCEPTIONS = [frozenset(cue.but.split()) for cue in CUES.values()]


def _cues_by(field: str) -> dict[str, list[int]]:
    """By tag or word, the indices of its cues in CUES."""
    numbers: dict[str, list[int]] = {}
    for number, cue in enumerate(CUES.values()):
        for key in getattr(cue, field).split():
            numbers.setdefault(key, []).append(number)
    return numbers


_CUES_BY_TAG, _CUES_BY_WORD = _cues_by("tags"), _cues_by("words")


SUBJECTIVE, UNDECIDED, OBJECTIVE = 1.0, 0.5, 0.0


class ClueCounts(NamedTuple):
    strong: int
    weak: int


def label_sentences(sentences: Sequence[Annotation | None], lexicon: Lexicon) -> list[float | None]:
    """The labels of Riloff & Wiebe (EMNLP 2003); None for sentences without an annotation.

    SUBJECTIVE: at least two strong clues. OBJECTIVE: no strong clue, at most one strong clue in the sentences
    before and after together, and at most two weak clues in all three. UNDECIDED: all others.
    """
    counts = [None if sentence is None else count_clues(sentence, lexicon) for sentence in sentences]
    none = ClueCounts(0, 0)
    padded = [none, *(counted or none for counted in counts), none]
    return [
        None if counted is None else _label(counted, padded[n], padded[n + 2])
        for n, counted in enumerate(counts)
    ]


def count_clues(sentence: Annotation, lexicon: Lexicon) -> ClueCounts:
    """The clues among the content words of a tagged sentence."""
    clues = [lexicon.clue(token.text.lower(), token.tag) for token in sentence.tokens]
    strong = sum(clue is not None and clue.strong for clue in clues)
    return ClueCounts(strong, sum(clue is not None for clue in clues) - strong)


def _label(counts: ClueCounts, before: ClueCounts, after: ClueCounts) -> float:
    if counts.strong >= 2:
        return SUBJECTIVE
    few_around = before.strong + after.strong <= 1 and counts.weak + before.weak + after.weak <= 2
    return OBJECTIVE if counts.strong == 0 and few_around else UNDECIDED


@lru_cache(maxsize=1)  # shared with `subj`
def compute_score(inputs: FeatureInput) -> Values:
    """The style score; by the rule `clues` 1 for subjective, 0 for objective, 0.5 for undecided.

    In languages with a classifier, its score on the same scale, or by the rule `clues` 1 or 0.
    """
    if inputs.tones:
        scores = [tone.subjectivity for tone in inputs.tones]
        return [float(s >= THRESHOLD["score"]) for s in scores] if inputs.rule == "clues" else scores
    if inputs.rule == "clues":
        return label_sentences(inputs.tagged, inputs.lexicon)
    return [None if s is None else score(s, inputs.lexicon) for s in inputs.tagged]


register(
    Feature(
        "subj_score",
        "how subjective the sentence is: words of the lexicon and cues of style; under the rule `clues` "
        "1 for subjective, 0 for objective, 0.5 for undecided",
        "esr; rule `clues`: Riloff & Wiebe 2003",
        compute_score,
        ("tags", "lexicon"),
    )
)


THRESHOLD = {
    # Makes about 30 % of newswire subjective.
    "score": 1.37,
    # An undecided sentence is not subjective, as in the paper.
    "clues": 1.0,
}


def compute_subjectivity(inputs: FeatureInput) -> Values:
    threshold = THRESHOLD[inputs.rule]
    return [None if score is None else float(score >= threshold) for score in compute_score(inputs)]


register(
    Feature(
        "subj",
        "1 if the sentence is subjective, else 0",
        "Fernández & Losada 2012, F_subj",
        compute_subjectivity,
        ("tags", "lexicon"),
    )
)


# Positive and negative words

REACH = 4
_NEGATIONS = (
    "not n't n’t no never nothing nobody none neither nor nowhere cannot without hardly barely scarcely"
)
NEGATIONS = frozenset(_NEGATIONS.split())
CLAUSE_ENDS = frozenset([*",;:.!?()-–—", "but"])


class PolarWords(NamedTuple):
    positive: int
    negative: int


@lru_cache(maxsize=1)  # shared by three features
def count_polar_words(inputs: FeatureInput) -> Sequence[PolarWords | None]:
    """The counts of each sentence; None if it is not in English or the lexicon has no polarity."""
    if not inputs.lexicon.has_polarity:
        return [None] * len(inputs.annotations)
    return [None if s is None else _count_in_sentence(s, inputs.lexicon) for s in inputs.tagged]


def _count_in_sentence(sentence: Annotation, lexicon: Lexicon) -> PolarWords:
    signs = []
    texts = [token.text.lower() for token in sentence.tokens]
    for position, token in enumerate(sentence.tokens):
        clue = lexicon.clue(texts[position], token.tag)
        if clue is not None and clue.polarity:
            negated = _is_negated(position, texts, sentence.tokens)
            signs.append(-clue.polarity if negated else clue.polarity)
    return PolarWords(signs.count(1), signs.count(-1))


def _is_negated(position: int, texts: Sequence[str], tokens: Sequence[Token]) -> bool:
    for before in range(position - 1, max(position - 1 - REACH, -1), -1):
        inside_word = texts[before] == "-" and not tokens[before].space_after
        if texts[before] in CLAUSE_ENDS and not inside_word:
            return False
        if texts[before] in NEGATIONS:
            return texts[before + 1] != "only"
    return False


def select_counts(count: Callable[[PolarWords], int], inputs: FeatureInput) -> Values:
    """One of the counts of each sentence; with a classifier, 1 counts for the whole sentence."""
    if inputs.tones:
        signs = (PolarWords(int(tone.positive > 0), int(tone.negative > 0)) for tone in inputs.tones)
        return [float(count(words)) for words in signs]
    return [None if words is None else float(count(words)) for words in count_polar_words(inputs)]


_COUNTS: tuple[tuple[str, str, Callable[[PolarWords], int]], ...] = (
    ("pos", "number of positive words; a negation turns the sign", lambda words: words.positive),
    ("neg", "number of negative words; a negation turns the sign", lambda words: words.negative),
    ("opt", "number of positive and negative words: pos + neg", sum),
)
for _name, _description, _count in _COUNTS:
    _source = f"Fernández & Losada 2012, F_{_name}"
    register(Feature(_name, _description, _source, partial(select_counts, _count), ("tags", "lexicon")))
