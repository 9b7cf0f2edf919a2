from __future__ import annotations

import pytest

from esr.errors import EsrError
from esr.features import lexicon
from esr.features.lexicon import Clue


def test_the_default_lexicon_has_the_words_of_both_packages() -> None:
    words = lexicon.default_lexicon()
    assert words.has_polarity and len(words.words) > 4000
    assert words.clue("good", "JJ") == Clue(1, True)
    assert words.clue("crisis", "NN") == Clue(-1, True)
    # Of TextBlob alone: an adverb that takes no side.
    assert words.clue("really", "RB") is None or words.clue("really", "RB") == Clue(0, True)
    assert words.clue("monday", "NN") is None


@pytest.mark.parametrize("tag", ["IN", "NNP", "MD", "UH", ""])
def test_only_content_words_are_clues(tag: str) -> None:
    assert lexicon.default_lexicon().clue("like", "VBP") and not lexicon.default_lexicon().clue("like", tag)


def test_the_sign_of_vader_takes_precedence_for_words_of_both() -> None:
    words = lexicon.default_lexicon()
    vader = dict(lexicon._vader_entries())
    both = [(word, cls) for word, cls in words.words if cls is not None and word in vader]
    assert both and all(words.words[key] == vader[key[0]] for key in both)


def test_its_name_has_the_versions_of_the_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "textblob" in lexicon.default_lexicon_name() and any(
        map(str.isdigit, lexicon.default_lexicon_name())
    )
    monkeypatch.setattr(lexicon, "distribution", _missing)
    message = r"the default lexicon needs vaderSentiment, .*: pip install 'esr\[enrich\]'"
    with pytest.raises(EsrError, match=message):
        lexicon.default_lexicon_name()


def _missing(name: str) -> object:
    raise lexicon.PackageNotFoundError(name)
