from __future__ import annotations

import pytest

from esr.features.lexicon import Clue, Lexicon
from esr.text.document import Annotation, Token
from tests.support.feature_inputs import annotated, tagged, values

SENTENCES = {
    "a/DT good/JJ day/NN": (1, 0),
    "Good/JJ ,/, bad/JJ and/CC good/JJ": (2, 1),
    # A preposition is no polar word, the verb is.
    "it/PRP looks/VBZ like/IN rain/NN": (0, 0),
    "they/PRP like/VBP rain/NN": (1, 0),
    # Nor is a name or a modal.
    "Theresa/NNP May/NNP": (0, 0),
    "it/PRP may/MD rain/VB": (0, 0),
    # A negation turns the sign, within a clause and four words.
    "not/RB good/JJ": (0, 1),
    "is/VBZ n't/RB a/DT very/RB good/JJ": (0, 1),
    "never/RB bad/JJ": (1, 0),
    "not/RB a/DT b/DT c/DT d/DT good/JJ": (1, 0),
    "he/PRP did/VBD not/RB ,/, good/JJ man/NN": (1, 0),
    "not/RB but/CC good/JJ": (1, 0),
    "not/RB only/RB good/JJ": (1, 0),
    # No polarity is known of it.
    "really/RB": (0, 0),
    "": (0, 0),
}


@pytest.mark.parametrize("text", SENTENCES)
def test_positive_and_negative_words_are_counted_by_the_sign_they_have_in_their_sentence(text: str) -> None:
    positive, negative = SENTENCES[text]
    of = annotated(tagged(text))
    assert [values(name, of) for name in ("pos", "neg", "opt")] == [
        [positive],
        [negative],
        [positive + negative],
    ]


def test_a_sentence_without_annotation_has_no_polarity() -> None:
    assert values("pos", annotated(tagged("good/JJ"), None)) == [1, None]


def test_a_lexicon_without_polarity_says_nothing_of_polarity() -> None:
    plain = Lexicon("plain", {("good", None): Clue(0, True)})
    assert values("opt", annotated(tagged("good/JJ"), lexicon=plain)) == [None]


def test_a_hyphen_ends_a_clause_only_between_spaces() -> None:
    for space, negative in ((False, 1), (True, 0)):
        tokens = [Token("not", "RB", -1, True), Token("so", "RB", -1, space), Token("-", "HYPH", -1, space)]
        tokens += [Token("called", "VBN", -1, True), Token("good", "JJ", -1, False)]
        assert values("neg", annotated(Annotation(tuple(tokens), (), is_tagged=True, is_parsed=False))) == [
            negative
        ]
