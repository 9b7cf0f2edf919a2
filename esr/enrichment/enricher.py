"""Computes the enrichment of documents: annotations by spaCy, features, entities, parses and vectors.

Only the pipeline components that the requested parts need are loaded. Values in the document take precedence
over computed ones.
"""

from __future__ import annotations

import re
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from esr.encoders import DEFAULT, AnyEncoder, load_encoder, quantize
from esr.encoders.encoder import Floats, normalize
from esr.encoders.encoder_folder import find_folder, is_here
from esr.enrichment import listed_names
from esr.enrichment.model_names import VERSION as NAMES_VERSION
from esr.enrichment.model_names import clean_names
from esr.enrichment.quotations.quotes import VERSION as QUOTES_VERSION
from esr.enrichment.quotations.quotes import find_quotes
from esr.enrichment.recipe import (
    DEFAULT_LANGUAGE,
    ENGLISH,
    LANGUAGES,
    LISTED_NAMES,
    MODEL,
    InstalledModel,
    Recipe,
    check_parts,
    describe_missing_models,
    installed_models,
    is_in_script,
    language_code,
    short_digest,
    spacy_version,
)
from esr.errors import UsageError
from esr.features import FEATURES
from esr.features.feature import DEFAULT_RULE, FeatureInput, check_rule
from esr.features.lexicon import Lexicon, default_lexicon, default_lexicon_name, read_lexicon
from esr.features.tone import TONE, Tone, find_tones, read_classifier
from esr.stdlib import cached_property, import_lazily
from esr.text.analyzer import get_analyzer
from esr.text.analyzer_definitions import DEFAULT_ANALYZER, get_definition
from esr.text.document import Document, ParseWord, Quote
from esr.text.sentence_enrichment import (
    DEFAULT_PARTS,
    LOCATION,
    ORGANIZATION,
    PERSON,
    QUOTES,
    VECTORS,
    Annotation,
    Entity,
    QuantizedVector,
    SentenceEnrichment,
    Token,
)

if TYPE_CHECKING:
    import spacy
    from spacy.language import Language
    from spacy.tokens import Doc
else:
    spacy = import_lazily("spacy")

# Vectors: of sentences alone, of sentences after the document's title, or a mean of both

# Increment it when a document's vectors change.
VECTORS_VERSION = 1
DEFAULT_TITLE_WEIGHT = 0.5
"""The default title weight. For news, it is better than 1."""
CACHED_TEXTS = 50_000
"""Number of cached vectors, 1.5 KB each with 384 dimensions: news repeats headings and last lines."""


@dataclass(frozen=True)
class VectorSettings:
    """How sentences are encoded. Raises UsageError.

    `encoder` is a known name or a folder. `title_weight` is from 0 (each sentence alone) to 1 (each after its
    title); between them, the vector is the weighted mean of both.
    """

    encoder: str = DEFAULT
    title_weight: float = DEFAULT_TITLE_WEIGHT

    def __post_init__(self) -> None:
        if not 0.0 <= self.title_weight <= 1.0:
            raise UsageError(f"the weight of titles must be from 0 to 1, not {self.title_weight:g}")


DEFAULT_SETTINGS = VectorSettings()


class SentenceVectors:
    """Encodes the sentences of documents. Vectors are cached, so that equal texts are encoded once."""

    def __init__(self, settings: VectorSettings) -> None:
        """Find the encoder, which is loaded for the first sentence. Raises EsrError if there is none."""
        self._settings = settings
        self._texts: OrderedDict[str, Floats] = OrderedDict()
        self.versions: Mapping[str, str] = {
            "encoder": find_folder(settings.encoder).description.id,
            "title weight": f"{settings.title_weight:g}",
            VECTORS: str(VECTORS_VERSION),
        }

    def load(self) -> None:
        """Load the encoder before the first sentence."""
        _ = self._encoder

    def encode(self, document: Document) -> list[QuantizedVector]:
        """The vector of each sentence, in order."""
        weight = self._settings.title_weight if document.title else 0.0
        bare = [sentence.text for sentence in document.sentences] if weight < 1.0 else []
        titled = [f"{document.title}. {s.text}" for s in document.sentences] if weight > 0.0 else []
        vectors = self._encode([*bare, *titled])
        if not bare or not titled:
            return [quantize(vector) for vector in vectors]
        pairs = zip(vectors[: len(bare)], vectors[len(bare) :], strict=True)
        return [
            quantize(normalize(np.asarray(weight * with_title + (1.0 - weight) * alone, np.float32)))
            for alone, with_title in pairs
        ]

    def _encode(self, texts: Sequence[str]) -> list[Floats]:
        """The vectors of texts: from the cache, or for new texts by one call of the encoder."""
        new = [text for text in dict.fromkeys(texts) if text not in self._texts]
        encoded = dict(zip(new, self._encoder.encode_passages(new), strict=True)) if new else {}
        vectors = [encoded[text] if text in encoded else self._texts[text] for text in texts]
        self._texts |= encoded
        while len(self._texts) > CACHED_TEXTS:
            self._texts.popitem(last=False)
        return vectors

    @cached_property
    def _encoder(self) -> AnyEncoder:
        return load_encoder(self._settings.encoder)


def open_tones() -> SentenceVectors | None:
    """The encoder of the classifier of tones; None if it is not on this machine, or a package is missing."""
    name = read_classifier()["encoder"]
    if not is_here(name) or any(find_spec(module) is None for module in _RUNTIME):
        return None
    return SentenceVectors(VectorSettings(name, title_weight=0.0))


_RUNTIME = ("onnxruntime", "onnxruntime_extensions")
"""What the encoder of the classifier needs."""

_LABELS = {
    PERSON: """
        PERSON PER
        PS
        PRS
        persName
        Person
    """,
    LOCATION: """
        GPE LOC FAC
        FACILITY
        GPE_LOC
        LC
        geogName placeName
        City Country County GPE_Other Province
        Bay Continental_Region Domestic_Region Geological_Region_Other Island Lake Location_Other Mountain
        Region_Other River Sea Spa
        Airport Amusement_Park Archaeological_Place_Other Bridge Canal Car_Stop Facility_Other GOE_Other
        Line_Other Museum Park Port Railroad Road Sports_Facility Station Theater Tumulus Tunnel Water_Route
        Worship_Place Zoo
    """,
    ORGANIZATION: """
        ORG
        ORGANIZATION
        GPE_ORG
        OG
        orgName
        Company Company_Group Corporation_Other Organization_Other
        Cabinet Government International_Organization Military Political_Organization_Other Political_Party
        Pro_Sports_Organization Public_Institution Research_Institute School Show_Organization Sports_League
        Sports_Organization_Other
    """,
}
"""By entity type, the labels of spaCy's models; all other labels are dropped.

Most models use the labels of OntoNotes (PERSON, GPE) or Wikipedia (PER, LOC). The Korean, Norwegian, Polish,
Romanian and Swedish ones have other labels, and ja_ginza has Sekine's extended named entities. No label has
different meanings in two models, so one table serves all.
"""

ENTITY_TYPES: Mapping[str, str] = {
    label: type for type, labels in _LABELS.items() for label in labels.split()
}


Output = Literal["tags", "entities", "heads"]
COMPONENTS: dict[Output, str] = {"tags": "tagger", "entities": "ner", "heads": "parser"}
"""The component of a spaCy pipeline that computes each output."""
SHARED = ("tok2vec", "transformer")
"""Components whose output other components use."""

BATCH_SIZE = 128
# Longer texts are tables or broken text, and would take minutes and much memory.
MAX_CHARACTERS = 10_000
_OVERLONG_WORD = re.compile(r"\S{500}")
# spaCy stores every word that it reads, .5 KB each. At this size the model is reloaded, which takes a second;
# spaCy's memory zones would slow the tagger by a tenth.
MAX_VOCABULARY = 200_000
"""Number of words above which an annotator loads its model again, to free memory."""


class Annotator:
    """A loaded model. Not safe to share between threads."""

    def __init__(self, model: InstalledModel, outputs: Iterable[Output]) -> None:
        self._model = model
        self._outputs = frozenset(outputs)
        self.nlp: Language = _load_model(model, self._outputs)
        """The pipeline of spaCy, with the needed components alone."""

    def annotate(self, texts: Sequence[str]) -> list[Annotation | None]:
        """The annotation of each sentence, in order; None for a text too long to be a sentence."""
        if len(self.nlp.vocab) > MAX_VOCABULARY:
            self.nlp = _load_model(self._model, self._outputs)
        positions = [n for n, text in enumerate(texts) if _is_short_enough(text)]
        docs = (self._make_doc(texts[n]) for n in positions)
        annotations: list[Annotation | None] = [None] * len(texts)
        for n, doc in zip(positions, self.nlp.pipe(docs, batch_size=BATCH_SIZE), strict=True):
            annotations[n] = self._annotation_of(doc)
        return annotations

    def _make_doc(self, text: str) -> Doc:
        """A sentence as a Doc with one root and single spaces."""
        doc = self.nlp.make_doc(" ".join(text.split()))
        if len(doc):
            starts = np.full(len(doc), -1)  # no sentence starts here
            starts[0] = 1
            doc.from_array(["SENT_START"], cast("Any", starts.astype(np.uint64)))
        return doc

    def _annotation_of(self, doc: Doc) -> Annotation:
        # Reading columns of codes is four times as fast as a loop over tokens.
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
            marked = (Entity(e.text, ENTITY_TYPES[e.label_]) for e in doc.ents if e.label_ in ENTITY_TYPES)
            language = self._model.language
            entities = tuple(marked if language == ENGLISH else clean_names(marked, language))
        return Annotation(tokens, entities, "tags" in self._outputs, "heads" in self._outputs)


def _is_short_enough(text: str) -> bool:
    return len(text) <= MAX_CHARACTERS and not _OVERLONG_WORD.search(text)


def _load_model(model: InstalledModel, outputs: frozenset[Output]) -> Language:
    needed = {COMPONENTS[output] for output in outputs}
    for component in sorted(needed.difference(model.components)):
        raise UsageError(f"the spaCy model {model.name!r} has no {component}: choose another one")
    nlp = spacy.load(model.name, exclude=sorted({*model.components}.difference(needed, SHARED)))
    for name, pipe in nlp.pipeline:
        # Tagger and parser share one tok2vec; most entity recognizers contain another one.
        listeners = set(getattr(pipe, "listening_components", needed))
        if not listeners & needed:
            nlp.remove_pipe(name)
    return nlp


# Increment it when annotations, or values computed from them, change.
VERSION = 2


class Enricher:
    """Enriches documents by one recipe. It is cheap to create and to send to another process.

    `parts` are of PARTS. `models` are installed models of spaCy, each used for its language; by default, each
    language gets the first installed one of LANGUAGES. `lexicon` are files of a user's lexicon
    that replaces the default one. `rule` decides which sentence is subjective (features.RULES). `analyzer`
    makes the terms of `novelty` and `title_overlap`; its language is that of documents that name none.
    `vectors` says how sentences are encoded. Only what the parts need is loaded.

    Raises UsageError, InputError for a lexicon, and EsrError if a package is missing.
    """

    def __init__(
        self,
        parts: Iterable[str] = DEFAULT_PARTS,
        models: Sequence[str] = (),
        lexicon: Sequence[str | Path] = (),
        rule: str = DEFAULT_RULE,
        analyzer: str = DEFAULT_ANALYZER,
        vectors: VectorSettings = DEFAULT_SETTINGS,
    ) -> None:
        self._parts = check_parts(parts)
        self._requested_models = tuple(models)
        self._vector_settings = vectors
        self._vectors = SentenceVectors(vectors) if VECTORS in self._parts else None
        self._tones = open_tones() if "features" in self._parts else None
        self._uses_spacy = any(part in DEFAULT_PARTS for part in self._parts)
        self._models = installed_models(self._requested_models) if self._uses_spacy else {}
        self.annotators: dict[str, Annotator] = {}
        """The loaded annotators by language."""
        self._lexicon_files = tuple(map(Path, lexicon))
        if self._lexicon_files:
            self._lexicon = read_lexicon(self._lexicon_files)
        self._rule = check_rule(rule)
        self._analyzer = get_analyzer(analyzer)
        languages = get_definition(analyzer).languages
        self._default_language = language_code(languages[0]) if len(languages) == 1 else ""
        self.recipe: Recipe = self._recipe()

    def __reduce__(self) -> tuple[Any, ...]:
        return Enricher, (
            self._parts,
            self._requested_models,
            self._lexicon_files,
            self._rule,
            self._analyzer.name,
            self._vector_settings,
        )

    def enrich(self, document: Document) -> list[SentenceEnrichment]:
        """The enrichment of each sentence, in order.

        Features and parses in the document take precedence over computed ones.
        """
        return self.enrich_batch([document])[0]

    def enrich_batch(self, documents: Sequence[Document]) -> list[list[SentenceEnrichment]]:
        """The same as `enrich` for many documents, which is faster because the model gets full batches."""
        annotations: list[list[Annotation | None]] = [[None] * len(d.sentences) for d in documents]
        for language, places in self._readable_sentences(documents).items():
            texts = [documents[d].sentences[s].text for d, s in places]
            for (d, s), annotation in zip(places, self.open_annotator(language).annotate(texts), strict=True):
                annotations[d][s] = annotation
        vectors = map(self._vectors.encode, documents) if self._vectors else repeat(repeat(None))
        return [self._combine(d, a, v) for d, a, v in zip(documents, annotations, vectors, strict=False)]

    def load(self) -> None:
        """Load the lexicon, the encoder and the model of the default language before the first document.

        Other models are loaded with the first document in their language.
        """
        if self._default_language in self._models:
            self.open_annotator(self._default_language)
        if "features" in self._parts:
            _ = self._lexicon
        if self._vectors:
            self._vectors.load()

    def describe_missing_models(self, languages: Mapping[str | None, int]) -> list[str]:
        """A line about the documents that no model could read, from the number of documents by language."""
        if not self._uses_spacy:
            return []
        documents: Counter[str] = Counter()
        for language, count in languages.items():
            documents[self._code(language)] += count
        return describe_missing_models(documents, self._models)

    def _readable_sentences(self, documents: Sequence[Document]) -> dict[str, list[tuple[int, int]]]:
        """By language with a model, the (document, sentence) positions of sentences in the model's script."""
        places: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for d, document in enumerate(documents):
            code = self._code(document.language)
            if code in self._models:
                script = LANGUAGES[code].script if code in LANGUAGES else None
                for s, sentence in enumerate(document.sentences):
                    if is_in_script(sentence.text, script):
                        places[code].append((d, s))
        return places

    def _code(self, language: str | None) -> str:
        return language_code(language) or self._default_language

    def _combine(
        self,
        document: Document,
        annotations: Sequence[Annotation | None],
        vectors: Iterable[QuantizedVector | None],
    ) -> list[SentenceEnrichment]:
        features, quotes = self._features(document, annotations), self._quotes(document)
        entities = self._entities(document, annotations)
        return [
            SentenceEnrichment(
                {**computed, **sentence.features},
                entities_of,
                sentence.parse if sentence.parse is not None else _parse_of(annotation),
                vector,
                quotes_of,
            )
            for sentence, annotation, computed, vector, quotes_of, entities_of in zip(
                document.sentences, annotations, features, vectors, quotes, entities, strict=False
            )
        ]

    def _entities(
        self, document: Document, annotations: Sequence[Annotation | None]
    ) -> Sequence[tuple[Entity, ...] | None]:
        """The names of each sentence: by the model, or by lists in languages for which none is installed."""
        code = self._code(document.language)
        if "entities" not in self._parts:
            return [None] * len(annotations)
        if code in listed_names.LANGUAGES and code not in self._models:
            return listed_names.find_names(document, code)
        return [annotation.entities if annotation else None for annotation in annotations]

    def _quotes(self, document: Document) -> Sequence[tuple[Quote, ...]]:
        """The quotations of each sentence: those in the document, if it has any, or else computed ones."""
        if QUOTES not in self._parts:
            return [()] * len(document.sentences)
        declared = [sentence.quotes for sentence in document.sentences]
        if any(declared):
            return declared
        return find_quotes(document, self._code(document.language))

    def _features(
        self, document: Document, annotations: Sequence[Annotation | None]
    ) -> list[dict[str, float]]:
        by_sentence: list[dict[str, float]] = [{} for _ in annotations]
        if "features" not in self._parts:
            return by_sentence
        terms = self._analyzer.for_language(document.language).terms
        tones = self._find_tones(document)
        inputs = FeatureInput(document, annotations, self._lexicon, self._rule, terms, tones)
        for feature in FEATURES.values():
            if feature.compute is not None:
                for features, value in zip(by_sentence, feature.compute(inputs), strict=True):
                    if value is not None:
                        features[feature.name] = value
        return by_sentence

    def _find_tones(self, document: Document) -> Sequence[Tone]:
        """What the classifier says of each sentence, empty if there is none for the document's language."""
        if self._tones is None or self._code(document.language) not in read_classifier()["languages"]:
            return ()
        return find_tones([encoded.array * encoded.scale for encoded in self._tones.encode(document)])

    def open_annotator(self, language: str) -> Annotator:
        """The annotator of a language, loaded on first use."""
        if language not in self.annotators:
            self.annotators[language] = Annotator(self._models[language], self._outputs(language))
        return self.annotators[language]

    def _outputs(self, language: str) -> set[Output]:
        outputs: set[Output] = set()
        if "features" in self._parts:
            outputs.add("entities")
            if language == ENGLISH:
                outputs.add("tags")  # for the lexicon and the cues of style, which are English only
        if "entities" in self._parts:
            outputs.add("entities")
        if "parse" in self._parts:
            outputs.add("heads")
        return outputs

    @cached_property
    def _lexicon(self) -> Lexicon:
        return default_lexicon()

    def _recipe(self) -> Recipe:
        models = {
            MODEL + language: str(model) if language == ENGLISH else f"{model}, names {NAMES_VERSION}"
            for language, model in sorted(self._models.items())
        }
        versions: dict[str, str] = {}
        if self._uses_spacy:
            versions |= {"enrichment": str(VERSION), "spacy": spacy_version(), **models}
            if self._default_language:
                versions[DEFAULT_LANGUAGE] = self._default_language
        if "entities" in self._parts:
            versions[LISTED_NAMES] = str(listed_names.VERSION)
        if "features" in self._parts:
            computed = {f.name: f.version for f in FEATURES.values() if f.compute is not None}
            versions |= {
                "features": short_digest(computed),
                "lexicon": self._lexicon.name if self._lexicon_files else default_lexicon_name(),
                "rule": self._rule,
                "analyzer": self._analyzer.name,
            }
            if self._tones is not None:
                versions[TONE] = f"{read_classifier()['version']} {self._tones.versions['encoder']}"
        if self._vectors:
            versions |= self._vectors.versions
        if QUOTES in self._parts:
            versions |= {QUOTES: str(QUOTES_VERSION)}
            if self._default_language:
                versions[DEFAULT_LANGUAGE] = self._default_language
        return Recipe(self._parts, versions)


def _parse_of(annotation: Annotation | None) -> tuple[ParseWord, ...] | None:
    if annotation is None or not annotation.is_parsed:
        return None
    return tuple(ParseWord(token.text, token.head) for token in annotation.tokens)
