"""Documents tagged by hand, so that a feature is tested and not the tagger."""

from __future__ import annotations

from collections.abc import Sequence

from esr.analysis import get
from esr.documents import Document, Sentence
from esr.enrichment.annotation import Annotation, Entity, Word
from esr.features import FEATURES
from esr.features.feature import Reading
from esr.features.lexicon import Clue, Lexicon

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
    words = tuple(Word(word, tag, -1, True) for word, tag in pairs)
    return Annotation(words, tuple(Entity(*e) for e in entities), tagged=True, parsed=False)


def reading(*sentences: Annotation | None, lexicon: Lexicon = LEXICON, rule: str = "score") -> Reading:
    """A document of annotated sentences; one that is None reads "…"."""
    texts = ["…" if s is None else " ".join(word.text for word in s.words) for s in sentences]
    return Reading(document(*texts), sentences, lexicon, rule, get("english").terms)


def written(*texts: str, title: str | None = None) -> Reading:
    """A document of texts, each with an empty annotation."""
    nothing = Annotation((), (), tagged=True, parsed=False)
    return Reading(
        document(*texts, title=title), [nothing] * len(texts), LEXICON, "score", get("english").terms
    )


def document(*texts: str, title: str | None = None) -> Document:
    return Document("d", tuple(Sentence(f"d.s{n}", text) for n, text in enumerate(texts)), title=title)


def values(name: str, of: Reading) -> list[float | None]:
    compute = FEATURES[name].values
    assert compute is not None
    return list(compute(of))
