from __future__ import annotations

import math

import pytest

from esr.features.subjectivity import THRESHOLD, score
from tests.support.feature_inputs import LEXICON, annotated, tagged, values


@pytest.mark.parametrize(
    ("text", "weight"),
    [
        ("the/DT x/NN", 0),
        ("good/NN", 1),
        ("good/NN good/NN good/NN good/NN good/NN", 4),  # at most four clues
        ("she/PRP", 0.5),
        ("I/PRP", 1.0),  # a pronoun, and of the first person
        ("could/MD", 1.0),
        ("will/MD ’ll/MD", 0),
        ("red/JJ", 0.5),
        ("red/JJ red/JJ red/JJ red/JJ", 1.5),  # at most three of a cue
        ("slowly/RB", 0.7),
        ("not/RB", 0.5),  # a negation, and no adverb
        ("very/RB", 1.4),
        ("7/CD", -1),
        ("?/.", 1.5),
        ("However/RB", 1.4),
        ("perhaps/RB", 1.7),
        ("good/NNP May/MD", 1.0),  # a name is no clue
        ("", 0),
    ],
)
def test_the_score_is_the_weighted_sum_of_clues_and_cues_by_length(text: str, weight: float) -> None:
    sentence = tagged(text)
    assert score(sentence, LEXICON) == pytest.approx(weight / math.log(2 + len(sentence.tokens)))


def test_a_sentence_is_subjective_from_the_threshold_on() -> None:
    of = annotated(tagged("good/JJ bad/JJ !/."), tagged("the/DT day/NN"), None)
    assert values("subj", of) == [1, 0, None]
    scores = values("subj_score", of)
    assert scores[0] and scores[0] >= THRESHOLD["score"] and scores[1:] == [0, None]


def test_the_rule_of_clues_looks_at_the_neighbours() -> None:
    strong, weak, nothing = tagged("good/JJ"), tagged("long/JJ"), tagged("day/NN")
    two = tagged("good/JJ bad/JJ")

    def middle(before: object, own: object, after: object) -> list[float | None]:
        of = annotated(before, own, after, rule="clues")  # type: ignore[arg-type]
        return [values(name, of)[1] for name in ("subj", "subj_score")]

    assert middle(nothing, two, nothing) == [1, 1.0]
    assert middle(nothing, strong, nothing) == [0, 0.5]
    assert middle(strong, nothing, nothing) == [0, 0.0]
    assert middle(strong, nothing, strong) == [0, 0.5]
    assert middle(weak, weak, nothing) == [0, 0.0]
    assert middle(weak, weak, weak) == [0, 0.5]
    assert middle(None, nothing, None) == [0, 0.0]
    assert middle(two, None, two) == [None, None]


def test_words_of_a_lexicon_count_only_as_content_words() -> None:
    of = annotated(tagged("like/IN like/IN may/MD"), tagged("like/VBP good/JJ"), rule="clues")
    assert values("subj", of) == [0, 1]
