"""Computes the enrichment of documents: annotates, computes features, keeps what the documents came with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from esr import analysis
from esr.analysis import DEFAULT as DEFAULT_ANALYZER
from esr.documents import Document, ParseWord
from esr.documents.annotation import Annotation
from esr.documents.enrichment import PARTS, SentenceEnrichment
from esr.enrichment.annotator import Annotator, Output, installed_model, tool_versions
from esr.enrichment.language import is_english, is_latin
from esr.enrichment.recipe import Recipe, check_parts, short_digest
from esr.features import FEATURES
from esr.features.feature import DEFAULT_RULE, FeatureInput, check_rule
from esr.features.lexicon import Lexicon, default_lexicon, default_lexicon_name
from esr.features.lexicon_files import read_lexicon

# Raise it when a document's annotations, or what is computed from them, change.
VERSION = 1


class Enricher:
    """Enriches documents by one recipe. It is cheap to create and to send to another process.

    `parts` are of PARTS; `model` is an installed English model of spaCy (default: the first of
    annotator.MODELS that is installed); `lexicon` are files of a user's lexicon in place of the default one;
    `rule` decides which sentence is subjective (features.RULES); `analyzer` makes the terms of `novelty` and
    `title_overlap`. Raises UsageError, InputError for a lexicon, and EsrError if a package is missing.
    """

    def __init__(
        self,
        parts: Iterable[str] = PARTS,
        model: str | None = None,
        lexicon: Sequence[str | Path] = (),
        rule: str = DEFAULT_RULE,
        analyzer: str = DEFAULT_ANALYZER,
    ) -> None:
        self._parts = check_parts(parts)
        self._model = installed_model(model)
        self._lexicon_files = tuple(map(Path, lexicon))
        if self._lexicon_files:
            self._lexicon = read_lexicon(self._lexicon_files)
        self._rule = check_rule(rule)
        self._analyzer = analysis.get(analyzer)
        self.recipe = self._recipe()

    def __reduce__(self) -> tuple[Any, ...]:
        settings = (self._parts, self._model, self._lexicon_files, self._rule, self._analyzer.name)
        return Enricher, settings

    def enrich(self, document: Document) -> list[SentenceEnrichment]:
        """The enrichment of each sentence, in order.

        Features and parses that the document came with take precedence over computed ones.
        """
        return self.enrich_batch([document])[0]

    def enrich_batch(self, documents: Sequence[Document]) -> list[list[SentenceEnrichment]]:
        """The same for many documents at once, which is faster: the model gets full batches."""
        texts = [[s.text if _is_readable(d, s.text) else None for s in d.sentences] for d in documents]
        flat = [text for sentences in texts for text in sentences if text is not None]
        annotations = iter(self._annotator.annotate(flat))
        by_document = [[None if t is None else next(annotations) for t in sentences] for sentences in texts]
        return [self._combine(d, a) for d, a in zip(documents, by_document, strict=True)]

    def load(self) -> None:
        """Load the model and the lexicon now instead of with the first document."""
        _ = self._annotator
        if "features" in self._parts:
            _ = self._lexicon

    def _combine(
        self, document: Document, annotations: Sequence[Annotation | None]
    ) -> list[SentenceEnrichment]:
        features = self._features(document, annotations)
        return [
            SentenceEnrichment(
                {**computed, **sentence.features},
                annotation.entities if annotation and "entities" in self._parts else None,
                sentence.parse if sentence.parse is not None else _parse_of(annotation),
            )
            for sentence, annotation, computed in zip(document.sentences, annotations, features, strict=True)
        ]

    def _features(
        self, document: Document, annotations: Sequence[Annotation | None]
    ) -> list[dict[str, float]]:
        by_sentence: list[dict[str, float]] = [{} for _ in annotations]
        if "features" not in self._parts:
            return by_sentence
        inputs = FeatureInput(document, annotations, self._lexicon, self._rule, self._analyzer.terms)
        for feature in FEATURES.values():
            if feature.compute is not None:
                for features, value in zip(by_sentence, feature.compute(inputs), strict=True):
                    if value is not None:
                        features[feature.name] = value
        return by_sentence

    @cached_property
    def _annotator(self) -> Annotator:
        return Annotator(self._model, self._outputs())

    def _outputs(self) -> set[Output]:
        outputs: set[Output] = set()
        if "features" in self._parts:
            outputs |= {"tags", "entities"}
        if "entities" in self._parts:
            outputs.add("entities")
        if "parse" in self._parts:
            outputs.add("heads")
        return outputs

    @cached_property
    def _lexicon(self) -> Lexicon:
        return default_lexicon()

    def _recipe(self) -> Recipe:
        versions = {"enrichment": str(VERSION), **tool_versions(self._model)}
        if "features" in self._parts:
            computed = {f.name: f.version for f in FEATURES.values() if f.compute is not None}
            versions |= {
                "features": short_digest(computed),
                "lexicon": self._lexicon.name if self._lexicon_files else default_lexicon_name(),
                "rule": self._rule,
                "analyzer": self._analyzer.name,
            }
        return Recipe(self._parts, versions)


def _parse_of(annotation: Annotation | None) -> tuple[ParseWord, ...] | None:
    if annotation is None or not annotation.is_parsed:
        return None
    return tuple(ParseWord(token.text, token.head) for token in annotation.tokens)


def _is_readable(document: Document, text: str) -> bool:
    return is_english(document.language) is not False and is_latin(text)
