from __future__ import annotations

import pytest

from esr.features.feature import FeatureInput
from esr.text.document import Document
from tests.support.feature_inputs import from_texts, values

DOCUMENTS = {
    "straight": (['"It is over," he said.'], [3 / 5]),
    "curly": (["He said: “It’s over.”"], [2 / 4]),
    "penn": (["`` It is over , '' he said ."], [3 / 5]),
    "single curly, with an apostrophe in it": (["A ‘don’t know’ place"], [2 / 4]),
    "an apostrophe is no quotation mark": (["The boys’ dog isn't John's ‘90s dog"], [0]),
    "a decade, and the boys’": (["In the ‘90s it was the boys’ dog"], [0]),
    "a speech of many paragraphs": ([*["“Rain fell."] * 13, "Done.” He left."], [*[1] * 13, 1 / 3]),
    "inches": (["He is 6' 4\" tall."], [0]),
    "a mark between spaces": (['" It is over , " he said .'], [3 / 5]),
    "two quotations": (['"Yes," he said, "no".'], [2 / 4]),
    "over sentences": (["He said: “It is over.", "We lost.", "Go home.” They went."], [3 / 5, 1, 2 / 4]),
    "over sentences, straight": (['"It is over.', 'We lost," he said.', "Rain fell."], [1, 2 / 4, 0]),
    "paragraphs that open it again": (["“One two.", "“Three four.", "“Five.” Six."], [1, 1, 1 / 2]),
    "never closed": (["He said “it is over.", "Rain fell."], [3 / 5, 0]),
    "never closed, and then another": (["He said “it is over.", "Rain fell.", "A “b” c."], [3 / 5, 0, 1 / 3]),
    "closed too late": (["“One.", *["Rain fell."] * 12, "Two.” Three."], [1, *[0] * 12, 0]),
    "never opened": (["Rain fell.” Three."], [0]),
    "no words": (["“…”", "", "!"], [None, None, None]),
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_share_of_words_in_quotation_marks(name: str) -> None:
    texts, shares = DOCUMENTS[name]
    assert values("quote", from_texts(*texts)) == shares


def test_it_is_not_known_of_a_sentence_in_another_language() -> None:
    of = from_texts("„Ja“, sagte er")
    other = FeatureInput(Document("d", of.document.sentences), [None], of.lexicon, of.rule, of.terms)
    assert values("quote", other) == [None]


def test_a_long_row_of_marks_takes_no_time() -> None:
    assert values("quote", from_texts('"' * 50_000 + " ‘a" * 20_000))[0] is not None
