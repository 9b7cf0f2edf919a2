"""Documents to enrichment: annotate, compute the features, keep what was given."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from esr import analysis
from esr.analysis.analyzer import DEFAULT as DEFAULT_ANALYZER
from esr.documents import Document, ParseWord
from esr.enrichment.annotation import Annotation
from esr.enrichment.annotator import Annotator, Layer, installed_model, versions
from esr.enrichment.enriched import Enriched
from esr.enrichment.language import is_english, is_latin
from esr.enrichment.recipe import PARTS, Recipe, checked_parts, short_digest
from esr.features import FEATURES
from esr.features.feature import DEFAULT_RULE, Reading, checked_rule
from esr.features.lexicon import Lexicon, default, default_name
from esr.features.lexicon_files import read

# To be raised when a document's annotations, or what is taken from them, change.
VERSION = 1


class Enricher:
    """Enriches documents by one recipe. It is cheap to make and to send to another process.

    `parts` are of PARTS; `model` is an installed English model of spaCy (default: the first of
    annotator.MODELS); `lexicon` are files of a user's lexicon in place of the default one; `rule` says
    which sentence is subjective (features.RULES); `analyzer` makes the terms of `novelty` and
    `title_overlap`. Raises UsageError, InputError for a lexicon, and EsrError if something is not installed.
    """

    def __init__(
        self,
        parts: Iterable[str] = PARTS,
        model: str | None = None,
        lexicon: Sequence[str | Path] = (),
        rule: str = DEFAULT_RULE,
        analyzer: str = DEFAULT_ANALYZER,
    ) -> None:
        self._parts = checked_parts(parts)
        self._model = installed_model(model)
        self._lexicon_files = tuple(map(Path, lexicon))
        if self._lexicon_files:
            self._lexicon = read(self._lexicon_files)
        self._rule = checked_rule(rule)
        self._analyzer = analysis.get(analyzer)
        self.recipe = self._recipe()

    def __reduce__(self) -> tuple[Any, ...]:
        settings = (self._parts, self._model, self._lexicon_files, self._rule, self._analyzer.name)
        return Enricher, settings

    def enrich(self, document: Document) -> list[Enriched]:
        """One a sentence, in order. Features and parses that the document gives win over computed ones."""
        return self.enrich_all([document])[0]

    def enrich_all(self, documents: Sequence[Document]) -> list[list[Enriched]]:
        """The same for many documents at once, which is faster: the model gets full batches."""
        texts = [[s.text if _readable(d, s.text) else None for s in d.sentences] for d in documents]
        found = iter(self._annotator.annotate([t for some in texts for t in some if t is not None]))
        annotated = [[None if t is None else next(found) for t in some] for some in texts]
        return [self._enriched(d, a) for d, a in zip(documents, annotated, strict=True)]

    def load(self) -> None:
        """Load the model and the lexicon now, and not with the first document."""
        _ = self._annotator
        if "features" in self._parts:
            _ = self._lexicon

    def _enriched(self, document: Document, annotations: Sequence[Annotation | None]) -> list[Enriched]:
        features = self._features(document, annotations)
        return [
            Enriched(
                {**computed, **sentence.features},
                annotation.entities if annotation and "entities" in self._parts else None,
                sentence.parse if sentence.parse is not None else self._parse(annotation),
            )
            for sentence, annotation, computed in zip(document.sentences, annotations, features, strict=True)
        ]

    def _parse(self, annotation: Annotation | None) -> tuple[ParseWord, ...] | None:
        if annotation is None or not annotation.parsed:
            return None
        return tuple(ParseWord(word.text, word.head) for word in annotation.words)

    def _features(
        self, document: Document, annotations: Sequence[Annotation | None]
    ) -> list[dict[str, float]]:
        computed: list[dict[str, float]] = [{} for _ in annotations]
        if "features" not in self._parts:
            return computed
        reading = Reading(document, annotations, self._lexicon, self._rule, self._analyzer.terms)
        for feature in FEATURES.values():
            if feature.values is not None:
                for known, value in zip(computed, feature.values(reading), strict=True):
                    if value is not None:
                        known[feature.name] = value
        return computed

    @cached_property
    def _annotator(self) -> Annotator:
        return Annotator(self._model, self._layers())

    def _layers(self) -> set[Layer]:
        layers: set[Layer] = set()
        if "features" in self._parts:
            layers |= {"tags", "entities"}
        if "entities" in self._parts:
            layers.add("entities")
        if "parse" in self._parts:
            layers.add("heads")
        return layers

    @cached_property
    def _lexicon(self) -> Lexicon:
        return default()

    def _recipe(self) -> Recipe:
        made_with = {"enrichment": str(VERSION), **versions(self._model)}
        if "features" in self._parts:
            computed = {f.name: f.version for f in FEATURES.values() if f.values is not None}
            made_with |= {
                "features": short_digest(computed),
                "lexicon": self._lexicon.name if self._lexicon_files else default_name(),
                "rule": self._rule,
                "analyzer": self._analyzer.name,
            }
        return Recipe(self._parts, made_with)


def _readable(document: Document, text: str) -> bool:
    return is_english(document.language) is not False and is_latin(text)
