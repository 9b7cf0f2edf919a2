"""Runs sentences through spaCy, with only the pipeline components that are needed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from esr.documents.annotation import Annotation, Entity, Token
from esr.enrichment.entity_labels import ENTITY_TYPES
from esr.enrichment.models import InstalledModel
from esr.errors import UsageError

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

Output = Literal["tags", "entities", "heads"]
COMPONENTS: dict[Output, str] = {"tags": "tagger", "entities": "ner", "heads": "parser"}
"""The component of a spaCy pipeline that computes each output."""
SHARED = ("tok2vec", "transformer")
"""Components that others build on."""

BATCH_SIZE = 128
# Longer texts are tables or broken text, not sentences, and would take memory and minutes.
MAX_CHARACTERS = 10_000
_OVERLONG_WORD = re.compile(r"\S{500}")
# spaCy keeps every word that it meets, 0.5 KB each. At this size the model is loaded again: that takes a
# second, while spaCy's memory zones would take a tenth of the tagger's rate.
_MAX_VOCABULARY = 200_000


class Annotator:
    """A loaded model. Threads must not share it."""

    def __init__(self, model: InstalledModel, outputs: Iterable[Output]) -> None:
        self._model = model
        self._outputs = frozenset(outputs)
        self._nlp = _load_model(model, self._outputs)

    def annotate(self, texts: Sequence[str]) -> list[Annotation | None]:
        """An annotation for each sentence, in order; None for a text that is too long for a sentence."""
        if len(self._nlp.vocab) > _MAX_VOCABULARY:
            self._nlp = _load_model(self._model, self._outputs)
        positions = [n for n, text in enumerate(texts) if _is_short_enough(text)]
        docs = (self._make_doc(texts[n]) for n in positions)
        annotations: list[Annotation | None] = [None] * len(texts)
        for n, doc in zip(positions, self._nlp.pipe(docs, batch_size=BATCH_SIZE), strict=True):
            annotations[n] = self._annotation_of(doc)
        return annotations

    def _make_doc(self, text: str) -> Doc:
        """A sentence as a Doc with one root and single spaces."""
        doc = self._nlp.make_doc(" ".join(text.split()))
        if len(doc):
            starts = np.full(len(doc), -1)  # no sentence starts here
            starts[0] = 1
            doc.from_array(["SENT_START"], cast("Any", starts.astype(np.uint64)))
        return doc

    def _annotation_of(self, doc: Doc) -> Annotation:
        # Columns of codes take a quarter of the time that a loop over tokens takes.
        string: Callable[[int], str] = doc.vocab.strings.__getitem__
        codes, spaces, tag_codes, head_offsets = doc.to_array(["ORTH", "SPACY", "TAG", "HEAD"]).T
        tags, heads = [""] * len(doc), [-1] * len(doc)
        if "tags" in self._outputs:
            tags = list(map(string, tag_codes.tolist()))
        if "heads" in self._outputs:
            offsets = enumerate(head_offsets.astype(np.int64).tolist())
            heads = [position + offset if offset else -1 for position, offset in offsets]
        tokens = tuple(map(Token, map(string, codes.tolist()), tags, heads, spaces.astype(bool).tolist()))
        entities = None
        if "entities" in self._outputs:
            entities = tuple(
                Entity(e.text, ENTITY_TYPES[e.label_]) for e in doc.ents if e.label_ in ENTITY_TYPES
            )
        return Annotation(tokens, entities, "tags" in self._outputs, "heads" in self._outputs)


def _is_short_enough(text: str) -> bool:
    return len(text) <= MAX_CHARACTERS and not _OVERLONG_WORD.search(text)


def _load_model(model: InstalledModel, outputs: frozenset[Output]) -> Language:
    import spacy

    needed = {COMPONENTS[output] for output in outputs}
    for component in sorted(needed.difference(model.components)):
        raise UsageError(f"the spaCy model {model.name!r} has no {component}: choose another one")
    nlp = spacy.load(model.name, exclude=sorted({*model.components}.difference(needed, SHARED)))
    for name, pipe in nlp.pipeline:
        # Tagger and parser share one tok2vec; the entity recognizer mostly contains its own.
        listeners = set(getattr(pipe, "listening_components", needed))
        if not listeners & needed:
            nlp.remove_pipe(name)
    return nlp
