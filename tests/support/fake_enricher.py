"""An enricher without language tools: numbers, entities and parses that follow from the text alone."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from esr.enrichment.recipe import Recipe
from esr.features import FEATURES
from esr.features.feature import FeatureInput
from esr.features.lexicon import Clue, Lexicon
from esr.text.analyzer import get_analyzer
from esr.text.document import CERTAIN, PROBABLE, Document, ParseWord, Quote, Sentence
from esr.text.sentence_enrichment import (
    LOCATION,
    ORGANIZATION,
    PARTS,
    PERSON,
    QUOTES,
    VECTORS,
    Annotation,
    Entity,
    QuantizedVector,
    SentenceEnrichment,
    Token,
)

NAMES = {
    PERSON: ["Ann: Bee", "Barack Obama", "Łukasz"],
    LOCATION: ["Paris", "Ohio", "Barack Obama"],
    ORGANIZATION: ["ACME", "UN"],
}
ENCODER, DIMENSIONS = "fake 0123456789ab", 4


def vector_of(digest: int) -> QuantizedVector | None:
    """A vector that follows from a number."""
    if digest % 6 == 0:
        return None
    return QuantizedVector((digest % 2**32).to_bytes(DIMENSIONS, "little"), 2.0 ** -(digest % 9))


def quotes_of(digest: int, length: int) -> tuple[Quote, ...]:
    """No, one or two quotations, by a number."""
    if length < 2:
        return ()
    speakers = [
        ("Obama", "barack obama", "said"),
        ("a judge", None, None),
        (None, None, None),
        ("the judge", "Łukasz", ""),  # no key: documents may give any name
    ]
    certainties = (None, PROBABLE, CERTAIN)
    first = Quote(0, 1 + digest % (length - 1), *speakers[digest % 4])._replace(
        certainty=certainties[digest // 16 % 3]
    )
    second = Quote(first.end, length, *speakers[digest // 4 % 4])._replace(
        certainty=certainties[digest // 48 % 3]
    )
    return (first, second)[: digest % 3]


@dataclass
class FakeEnricher:
    """`version` changes the results, as another lexicon does. `seconds` is the time for a document.

    The recipe names `tools` too, which change nothing. It does not name `variant`, which changes the results,
    so that tests see which documents were computed again.
    """

    parts: tuple[str, ...] = PARTS
    version: str = "1"
    seconds: float = 0.0
    enriched_ids: list[str] = field(default_factory=list)
    tools: Mapping[str, str] = field(default_factory=dict)
    variant: str = ""

    @property
    def recipe(self) -> Recipe:
        encoder = {"encoder": ENCODER} if VECTORS in self.parts else {}
        return Recipe(self.parts, {"fake": self.version, **encoder, **self.tools})

    def enrich(self, document: Document) -> list[SentenceEnrichment]:
        time.sleep(self.seconds)
        self.enriched_ids.append(document.id)
        return [self._enrich_sentence(sentence) for sentence in document.sentences]

    def enrich_batch(self, documents: Sequence[Document]) -> list[list[SentenceEnrichment]]:
        return [self.enrich(document) for document in documents]

    def load(self) -> None:
        """There is nothing to load."""

    def describe_missing_models(self, languages: object) -> list[str]:
        """No model is needed."""
        return []

    def _enrich_sentence(self, sentence: Sentence) -> SentenceEnrichment:
        digest = crc32(f"{self.version}{self.variant} {sentence.id} {sentence.text}".encode())
        features = {"count": float(digest % 5), "share": digest % 97 / 96, "big": float(digest)}
        if digest % 3 == 0:
            del features["share"]
        if self.version != "1":
            del features["big"]
        entities = tuple(
            Entity(name, type)
            for type, names in reversed(NAMES.items())
            for n, name in enumerate(names)
            if digest >> n + len(type) & 1
            for _ in range(1 + digest % 2)
        )
        words = sentence.text.split()
        parse = tuple(ParseWord(word, n - 1) for n, word in enumerate(words)) if digest % 4 else None
        return SentenceEnrichment(
            (features | dict(sentence.features)) if "features" in self.parts else {},
            (entities if digest % 7 else None) if "entities" in self.parts else None,
            (sentence.parse or parse) if "parse" in self.parts else None,
            vector_of(digest) if VECTORS in self.parts else None,
            (sentence.quotes or quotes_of(digest, len(sentence.text))) if QUOTES in self.parts else (),
        )


def build_slow_enricher(*_: object, **__: object) -> FakeEnricher:
    """Instead of the enricher of the command line: slow enough to be killed at any moment."""
    return FakeEnricher(seconds=0.004)


# A real encoder of a few kilobytes: an ONNX model that looks each token up in a table, and its tokenizer.


VOCABULARY = [
    "storm",
    "hurricane",
    "gale",
    "flood",
    "water",
    "river",
    "rose",
    "city",
    "town",
    "bank",
    "money",
    "fraud",
    "court",
    "relief",
    "aid",
    "food",
    "north",
    "wind",
    "china",
    "earthquake",
    "quake",
    "team",
]
SYNONYMS = {"hurricane": "storm", "gale": "storm", "quake": "earthquake", "aid": "relief", "town": "city"}
"""Words with nearly the vector of another."""
_FLOAT, _INT64, _STRING = 1, 7, 8


def write_tiny_encoder(folder: Path, dimensions: int = 16, **description: Any) -> Path:
    """Write an encoder. `description` replaces entries of its `encoder.json`. Returns the folder."""
    table = _write_tokenizer(folder, dimensions)
    nodes = _node("Gather", ["table", "input_ids"], "tokens")
    model = _model(nodes, {"table": table}, ["input_ids"], "tokens")
    (folder / "model.onnx").write_bytes(model)
    content = {"name": "tiny", "dimensions": dimensions, **description}
    (folder / "encoder.json").write_text(json.dumps(content))
    return folder


def write_tiny_text_encoder(folder: Path, dimensions: int = 16) -> Path:
    """Write an encoder like the tiny one whose model splits texts at spaces, so it has no tokenizer."""
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = {word: number for number, word in enumerate(["", *VOCABULARY])}
    keys = b"".join(_bytes(9, word.encode()) for word in vocabulary)
    attributes = [
        _bytes(1, b"keys_strings") + keys + _varint_field(20, 8),
        _bytes(1, b"values_int64s") + _numbers(8, range(len(vocabulary))) + _varint_field(20, 7),
        _bytes(1, b"default_int64") + _varint_field(3, 0) + _varint_field(20, 2),
    ]
    nodes = _node("StringSplit", ["text"], "words", outputs=["lengths"])
    nodes += _node("LabelEncoder", ["words"], "numbers", *attributes, domain="ai.onnx.ml")
    nodes += _node("Gather", ["table", "numbers"], "tokens")
    table = _token_vectors(vocabulary, dimensions)
    model = _model(nodes, {"table": table}, ["text"], "tokens", _STRING, {"": 20, "ai.onnx.ml": 2})
    (folder / "model.onnx").write_bytes(model)
    content = {"name": "tiny-text", "dimensions": dimensions, "takes_text": True}
    (folder / "encoder.json").write_text(json.dumps(content))
    return folder


def write_tiny_cross_encoder(folder: Path, dimensions: int = 16, labels: Sequence[str] = ()) -> Path:
    """Write a cross-encoder: its score is the product of the sums of the vectors of both texts.

    With `labels`, it has a number for each: the score for entailment, its negative for contradiction, else 0.
    """
    tables = {"table": _write_tokenizer(folder, dimensions)}
    tables |= {"first": np.array([1, 0], np.float32), "second": np.array([0, 1], np.float32)}
    inputs = ["input_ids", "attention_mask", "token_type_ids"]
    nodes = _node("Gather", ["table", "input_ids"], "tokens")
    nodes += _node("Gather", ["second", "attention_mask"], "is_token")
    nodes += _node("Gather", ["first", "token_type_ids"], "is_query")
    nodes += _node("Gather", ["second", "token_type_ids"], "is_text")
    factors = ["tokens", "is_query", "is_token", "tokens", "is_text", "is_token"]
    equation = b"bnd,bn,bn,bmd,bm,bm->b"
    score = "score" if labels else "logits"

    def einsum(factors: Sequence[str], output: str, equation: bytes) -> bytes:
        attribute = _bytes(1, b"equation") + _bytes(4, equation) + _varint_field(20, 3)
        return _node("Einsum", factors, output, attribute)

    nodes += einsum(factors, score, equation)
    if labels:
        signs = {"entailment": 1, "contradiction": -1}
        tables["signs"] = np.array([signs.get(label, 0) for label in labels], np.float32)
        nodes += einsum([score, "signs"], "logits", b"b,c->bc")
        (folder / "config.json").write_text(json.dumps({"id2label": dict(enumerate(labels))}))
    (folder / "model.onnx").write_bytes(_model(nodes, tables, inputs, "logits"))
    return folder


Table = np.ndarray[Any, np.dtype[np.float32]]


def _write_tokenizer(folder: Path, dimensions: int) -> Table:
    """Write a tokenizer. Returns the vectors of its tokens."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = {word: number for number, word in enumerate(["[UNK]", *VOCABULARY])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    return _token_vectors(vocabulary, dimensions)


def _token_vectors(vocabulary: dict[str, int], dimensions: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    vectors = np.random.default_rng(20).normal(size=(len(vocabulary), dimensions)).astype(np.float32)
    for word, other in SYNONYMS.items():
        vectors[vocabulary[word]] = vectors[vocabulary[other]] + 0.1 * vectors[vocabulary[word]]
    vectors[0] *= 0.2  # unknown words mean little
    return vectors


def _model(
    nodes: bytes,
    tables: Mapping[str, Table],
    inputs: Sequence[str],
    output: str,
    type: int = _INT64,
    operators: Mapping[str, int] = {"": 13},
) -> bytes:
    """An ONNX model, in the encoding of Protocol Buffers, by the numbers of the fields in onnx.proto."""
    graph = nodes + _bytes(2, b"tiny")
    for name, table in tables.items():
        tensor = _numbers(1, table.shape) + _varint_field(2, _FLOAT) + _bytes(8, name.encode())
        graph += _bytes(5, tensor + _bytes(9, table.tobytes()))
    graph += b"".join(_bytes(11, _value(name, type)) for name in inputs)
    graph += _bytes(12, _value(output, _FLOAT))
    sets = [_bytes(1, name.encode()) + _varint_field(2, number) for name, number in operators.items()]
    return _varint_field(1, 8) + _bytes(7, graph) + b"".join(_bytes(8, each) for each in sets)


def _node(
    operator: str,
    inputs: Sequence[str],
    output: str,
    *attributes: bytes,
    domain: str = "",
    outputs: Sequence[str] = (),
) -> bytes:
    node = b"".join(_bytes(1, name.encode()) for name in inputs)
    node += b"".join(_bytes(2, name.encode()) for name in (output, *outputs))
    node += _bytes(4, operator.encode()) + b"".join(_bytes(5, attribute) for attribute in attributes)
    return _bytes(1, node + _bytes(7, domain.encode()))


def _value(name: str, type: int) -> bytes:
    return _bytes(1, name.encode()) + _bytes(2, _bytes(1, _varint_field(1, type)))


def _numbers(field: int, numbers: Sequence[int]) -> bytes:
    return b"".join(_varint_field(field, number) for number in numbers)


def _varint_field(field: int, number: int) -> bytes:
    return _varint(field << 3) + _varint(number)


def _bytes(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _varint(number: int) -> bytes:
    encoded = bytearray()
    while number > 127:
        encoded.append(number & 127 | 128)
        number >>= 7
    return bytes([*encoded, number])


# Documents tagged by hand, so that a feature is tested and not the tagger.


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
