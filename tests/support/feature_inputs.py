"""Documents tagged by hand, so that a feature is tested and not the tagger."""

from __future__ import annotations

from collections.abc import Sequence

from esr.features import FEATURES
from esr.features.feature import FeatureInput
from esr.features.lexicon import Clue, Lexicon
from esr.text.analyzer import get_analyzer
from esr.text.document import Annotation, Document, Entity, Sentence, Token

LEXICON = Lexicon(
    "by hand",
    {
        ("good", None): Clue(1, True),
        ("bad", None): Clue(-1, True),
        ("like", None): Clue(1, True),
        ("may", None): Clue(1, True),
        ("really", "adverb"): Clue(0, True),
        ("long", None): Clue(-1, False),
    },
)


def tagged(text: str, entities: Sequence[tuple[str, str]] = ()) -> Annotation:
    """ "not/RB good/JJ" as an annotation. A word without a tag has none."""
    pairs = (word.partition("/")[::2] for word in text.split())
    tokens = tuple(Token(word, tag, -1, True) for word, tag in pairs)
    return Annotation(tokens, tuple(Entity(*e) for e in entities), is_tagged=True, is_parsed=False)


def annotated(*sentences: Annotation | None, lexicon: Lexicon = LEXICON, rule: str = "score") -> FeatureInput:
    """A document of annotated sentences; one that is None has the text "…"."""
    texts = ["…" if s is None else " ".join(token.text for token in s.tokens) for s in sentences]
    return FeatureInput(document(*texts), sentences, lexicon, rule, get_analyzer("english").terms)


def from_texts(*texts: str, title: str | None = None) -> FeatureInput:
    """A document of texts, each with an empty annotation."""
    empty = Annotation((), (), is_tagged=True, is_parsed=False)
    return FeatureInput(
        document(*texts, title=title), [empty] * len(texts), LEXICON, "score", get_analyzer("english").terms
    )


def document(*texts: str, title: str | None = None) -> Document:
    return Document("d", tuple(Sentence(f"d.s{n}", text) for n, text in enumerate(texts)), title=title)


def values(name: str, inputs: FeatureInput) -> list[float | None]:
    compute = FEATURES[name].compute
    assert compute is not None
    return list(compute(inputs))
