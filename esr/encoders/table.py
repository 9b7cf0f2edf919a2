"""A table with a vector for each word piece, which encodes much faster than the encoder that it imitates.

The vector of a sentence is the sum of the vectors of its pieces, weighted by the square roots of their
counts, plus a mean, normalized. The table is fitted by two ridge regressions, so that these sums come near
the vectors that the encoder has made of some sentences. The first finds a linear map from the encoder's
vectors of single pieces, so that pieces in none of the sentences have vectors too. The second finds what to
add to the vectors of the pieces in these sentences. Queries may still be encoded by the encoder itself.

Pieces are those of the encoder's tokenizer. For an encoder that has none, they are learned from texts of the
collection.

The same sentences give the same table. The vector of a sentence does not depend on those encoded with it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from esr.encoders.encoder import LARGEST, Floats, quantize
from esr.errors import EsrError, to_one_line
from esr.extras import require
from esr.stdlib import cached_property, import_lazily
from esr.text.sentence_enrichment import QuantizedVector

if TYPE_CHECKING:
    import tokenizers
    from scipy.sparse import csr_array
else:
    tokenizers = import_lazily("tokenizers")

Mask = npt.NDArray[np.bool_]
VERSION = 1
"""Increment it when the same table gives other vectors, or is stored in another form."""
MAP_PENALTY, PENALTY = 0.3, 1.0
"""The weights of squares in both regressions: those of the map, and those of what is added."""
_MAX_STEPS, _PRECISION = 50, 1e-6
"""Conjugate gradients end after so many steps, or when the squared error has fallen to this share."""
_COVERED = 0.3
"""What remains of the weight of a piece with each group that has it, in the choice of a sample."""
LEARNED_PIECES = 8_000
"""The most pieces that are learned from texts, for an encoder without a tokenizer of its own."""
_UNKNOWN = "[UNK]"
_BATCH = 4096
"""Number of sentences whose pieces are in memory at once."""
_MAGIC, _LENGTH = b"esr-table", 8
"""What a stored table begins with, and the bytes of the length of its header that follow."""


class TitledSentence(NamedTuple):
    """A sentence and the title of its document, which may be empty."""

    title: str
    text: str


class TableSettings(Struct, frozen=True):
    """What a table imitates. `tokenizer` is the content of a tokenizer.json: the encoder's, or a learned one.

    `made_with` has the id of the encoder and what else its vectors depend on, by name, as in their recipe.
    """

    tokenizer: str
    made_with: Mapping[str, str]
    title_weight: float


class VectorTable:
    """A fitted table. Threads may share it.

    `values`, of shape (pieces, dimensions), times `scales`, of shape (pieces,), are the vectors of pieces by
    their numbers in the tokenizer. `mean` has the shape (dimensions,), `is_fitted` says which pieces occurred
    in the sentences of the fit.
    """

    def __init__(
        self,
        settings: TableSettings,
        values: npt.NDArray[np.int8],
        scales: Floats,
        mean: Floats,
        is_fitted: Mask,
        expected_unknown: float,
    ) -> None:
        self.settings = settings
        self.expected_unknown = expected_unknown
        """The `unknown_share` of sentences of the same collection."""
        self._values, self._scales, self._mean, self._is_fitted = values, scales, mean, is_fitted

    @property
    def dimensions(self) -> int:
        return len(self._mean)

    def encode(self, sentences: Sequence[TitledSentence]) -> list[QuantizedVector]:
        """The vectors of sentences, with their titles as far as the title weight says."""
        vectors: list[QuantizedVector] = []
        for start in range(0, len(sentences), _BATCH):
            counts = self._pieces.count(sentences[start : start + _BATCH], self.settings.title_weight)
            vectors += _quantize_rows(_normalize_rows(counts @ self._vectors + self._mean))
        return vectors

    def encode_query(self, text: str) -> QuantizedVector:
        """The vector of a query: zeros for one without a piece, such as the empty query."""
        if not text.strip():
            return quantize(np.zeros(self.dimensions, np.float32))
        (vector,) = self.encode([TitledSentence("", text)])
        return vector

    def unknown_share(self, texts: Sequence[str]) -> float:
        """The share of the pieces of texts that occurred in no sentence of the fit; 0 without pieces."""
        return 1.0 - _share(self._is_fitted, self._pieces.split(texts))

    @cached_property
    def _vectors(self) -> Floats:
        return np.asarray(self._values * self._scales[:, None], np.float32)

    @cached_property
    def _pieces(self) -> PieceCounter:
        return PieceCounter(self.settings.tokenizer)

    @cached_property
    def digest(self) -> str:
        """12 hexadecimal digits, equal for tables that give equal vectors."""
        return hashlib.sha256(self.to_bytes()).hexdigest()[:12]

    def to_bytes(self) -> bytes:
        """The stored form: a header in JSON, preceded by its length, then the arrays, little-endian."""
        header = {
            "version": VERSION,
            "made_with": dict(self.settings.made_with),
            "title_weight": self.settings.title_weight,
            "tokenizer": self.settings.tokenizer,
            "unknown": self.expected_unknown,
            "pieces": len(self._scales),
            "dimensions": self.dimensions,
        }
        text = json.dumps(header, sort_keys=True).encode()
        return b"".join(
            [
                _MAGIC,
                len(text).to_bytes(_LENGTH, "little"),
                text,
                self._scales.astype("<f4").tobytes(),
                self._mean.astype("<f4").tobytes(),
                np.packbits(self._is_fitted).tobytes(),
                self._values.tobytes(),
            ]
        )

    @classmethod
    def from_bytes(cls, data: bytes | memoryview) -> VectorTable:
        """Read the stored form. Raises EsrError if it is damaged or of a newer version."""
        view = memoryview(data)
        begin = len(_MAGIC) + _LENGTH
        end = begin + int.from_bytes(view[len(_MAGIC) : begin], "little")
        try:
            if view[: len(_MAGIC)] != _MAGIC:
                raise ValueError("no table")
            header = json.loads(bytes(view[begin:end]))
            if header["version"] > VERSION:
                raise EsrError(f"the table of vectors has another version: fit it anew with {REFIT}")
            pieces, dimensions = header["pieces"], header["dimensions"]
            settings = TableSettings(header["tokenizer"], header["made_with"], header["title_weight"])
            scales = np.frombuffer(view, "<f4", pieces, start := end)
            mean = np.frombuffer(view, "<f4", dimensions, start := start + scales.nbytes)
            bits = np.frombuffer(view, np.uint8, -(-pieces // 8), start := start + mean.nbytes)
            values = np.frombuffer(view, np.int8, pieces * dimensions, start + bits.nbytes)
        except (ValueError, KeyError, TypeError) as error:
            raise EsrError(f"the table of vectors is damaged: fit it anew with {REFIT}") from error
        is_fitted = np.unpackbits(bits, count=pieces).astype(bool)
        return cls(
            settings, values.reshape(pieces, dimensions), scales, mean, is_fitted, float(header["unknown"])
        )


REFIT = "esr enrich --only table"
_PURPOSE = "the table of vectors"


def learn_tokenizer(texts: Iterable[str]) -> str:
    """Learn frequent parts of words from texts, by byte-pair encoding. Returns a tokenizer.json.

    The same texts give the same one. Raises UsageError if a package is missing.
    """
    require(_PURPOSE, "tokenizers", "scipy")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token=_UNKNOWN))
    tokenizer.normalizer = tokenizers.normalizers.Sequence(
        [tokenizers.normalizers.NFKC(), tokenizers.normalizers.Lowercase()]
    )
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=LEARNED_PIECES, special_tokens=[_UNKNOWN], show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer.to_str()


class PieceCounter:
    """Splits texts into word pieces, by an encoder's tokenizer."""

    def __init__(self, tokenizer: str) -> None:
        """Raises UsageError if a package is missing, EsrError for a bad tokenizer."""
        require(_PURPOSE, "tokenizers", "scipy")
        try:
            self._tokenizer: tokenizers.Tokenizer = tokenizers.Tokenizer.from_str(tokenizer)
        except Exception as error:  # the library raises plain Exception
            raise EsrError(f"the table of vectors has a bad tokenizer: {to_one_line(error)}") from None
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self.size: int = self._tokenizer.get_vocab_size()

    @property
    def texts(self) -> list[str]:
        """The pieces, by their numbers."""
        numbers = self._tokenizer.get_vocab()
        return sorted(numbers, key=numbers.__getitem__)

    def split(self, texts: Sequence[str]) -> list[npt.NDArray[np.int64]]:
        """The numbers of each text's pieces, without special tokens."""
        encodings = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return [np.array(encoding.ids, np.int64) for encoding in encodings]

    def count(self, sentences: Sequence[TitledSentence], title_weight: float) -> csr_array:
        """The weights of pieces in sentences, as a matrix of shape (sentences, pieces) with rows of length 1.

        A weight is proportional to the square root of the piece's count in the sentence, plus the title
        weight times its count in the title.
        """
        from scipy.sparse import csr_array

        titles = sorted({sentence.title for sentence in sentences} - {""}) if title_weight else []
        of_title = dict(zip(titles, self.split(titles), strict=True))
        of_title[""] = np.zeros(0, np.int64)
        if not title_weight:
            of_title |= {sentence.title: of_title[""] for sentence in sentences}
        parts = [
            part
            for sentence, pieces in zip(sentences, self.split([s.text for s in sentences]), strict=True)
            for part in (pieces, of_title[sentence.title])
        ]
        sizes = np.array([len(part) for part in parts])
        weights = np.repeat(np.tile([1.0, title_weight], len(sentences)), sizes)
        rows = np.repeat(np.arange(len(parts)) // 2, sizes)
        keys, places = np.unique(
            rows * self.size + np.concatenate([np.zeros(0, np.int64), *parts]), return_inverse=True
        )
        counts = np.bincount(places, weights, len(keys))
        totals = np.bincount(keys // self.size, counts, len(sentences))
        values = np.sqrt(counts / totals[keys // self.size]).astype(np.float32)
        starts = np.searchsorted(keys, np.arange(len(sentences) + 1) * self.size)
        return csr_array((values, keys % self.size, starts), shape=(len(sentences), self.size))


def choose_by_pieces(groups: Sequence[Sequence[str]], wanted: int, pieces: PieceCounter) -> list[int]:
    """Positions of groups of texts, with `wanted` texts in all, that have many pieces of all of the groups.

    Groups are chosen one after another, by the pieces that no chosen group has yet, for each of their texts.
    A piece counts by the square root of the number of texts that have it, if there are two or more.
    """
    counts = pieces.count([TitledSentence("", text) for texts in groups for text in texts], 0.0)
    frequencies = np.bincount(counts.indices, minlength=pieces.size).astype(float)
    left = np.sqrt(frequencies) * (frequencies > 1)
    sizes = np.array([len(texts) for texts in groups])
    ends = np.append(0, np.cumsum(sizes))
    present = [np.unique(counts.indices[slice(*counts.indptr[ends[[n, n + 1]]])]) for n in range(len(groups))]
    rows, columns = np.repeat(np.arange(len(groups)), [*map(len, present)]), np.concatenate(present)
    gains = np.bincount(rows, left[columns], len(groups))
    by_piece = np.argsort(columns, kind="stable")
    starts = np.searchsorted(columns[by_piece], np.arange(pieces.size + 1))
    chosen: list[int] = []
    while wanted > 0 and len(chosen) < len(groups):
        best = int(np.argmax(gains / np.maximum(sizes, 1)))
        chosen.append(best)
        wanted -= len(groups[best])
        for piece in present[best].tolist():
            loss = left[piece] * (1.0 - _COVERED)
            gains[rows[by_piece[starts[piece] : starts[piece + 1]]]] -= loss
            left[piece] -= loss
        gains[chosen] = -np.inf
    return chosen


def fit_table(
    settings: TableSettings,
    sentences: Sequence[TitledSentence],
    vectors: Floats,
    alone: Floats,
    others: Sequence[str] = (),
) -> VectorTable:
    """Fit a table to the encoder's vectors of sentences, of shape (sentences, dimensions).

    `alone` are its vectors of single pieces (`Encoder.encode_pieces`). `others` are texts of the same
    collection, which show how many pieces the sentences lack. Raises EsrError without sentences.
    """
    if not sentences:
        raise EsrError("a table of vectors cannot be fitted without encoded sentences")
    pieces = PieceCounter(settings.tokenizer)
    counts = pieces.count(sentences, settings.title_weight)
    mean = np.asarray(vectors.mean(axis=0, dtype=np.float64), np.float32)
    targets = vectors - mean
    mapped = _map_pieces(counts, targets, alone)
    present = np.unique(counts.indices)
    mapped[present] += _solve(counts[:, present], targets - counts @ mapped)
    scales = np.asarray(np.abs(mapped).max(axis=1, initial=0.0) / LARGEST, np.float32)
    values = np.rint(mapped / np.where(scales > 0, scales, 1)[:, None]).astype(np.int8)
    is_fitted = np.zeros(pieces.size, bool)
    is_fitted[present] = True
    unknown = 1.0 - _share(is_fitted, pieces.split(others))
    return VectorTable(settings, values, scales, mean, is_fitted, unknown)


def _map_pieces(features: csr_array, targets: Floats, alone: Floats) -> Floats:
    """A linear map of the vectors of single pieces, by which their sums come near the targets.

    It is a ridge regression of what the best multiple of the sums themselves leaves. So from few sentences,
    the map is nearly that multiple.
    """
    centred = np.asarray(alone - alone.mean(axis=0), np.float32)
    sums = np.asarray(features @ centred, np.float64)
    squares = float((sums * sums).sum())
    multiple = float((sums * targets).sum()) / squares if squares else 0.0
    products = sums.T @ sums + MAP_PENALTY * np.eye(sums.shape[1])
    rest = np.linalg.solve(products, sums.T @ (targets - multiple * sums)).astype(np.float32)
    return np.asarray(np.float32(multiple) * centred + centred @ rest, np.float32)


def _solve(features: csr_array, targets: Floats) -> Floats:
    """The ridge regression of targets on features, for each dimension by conjugate gradients."""
    transposed = features.T.tocsr()
    penalty, precision = np.float32(PENALTY), np.float32(_PRECISION)
    error = np.asarray(transposed @ targets, np.float32)
    solution, direction = np.zeros_like(error), error.copy()
    size = first = _square_columns(error)
    for _ in range(_MAX_STEPS):
        image = transposed @ (features @ direction) + penalty * direction
        curvature = (direction * image).sum(axis=0)
        step = size / np.where(curvature > 0, curvature, 1)
        solution += step * direction
        error -= step * image
        before, size = size, _square_columns(error)
        if size.sum() <= precision * first.sum():
            break
        direction = np.asarray(error + size / np.where(before > 0, before, 1) * direction, np.float32)
    return solution


def _share(is_fitted: Mask, numbers: Sequence[npt.NDArray[np.int64]]) -> float:
    """The share of pieces, given by their numbers, that are fitted; 1 without pieces."""
    pieces = np.concatenate([np.zeros(0, np.int64), *numbers])
    return float(is_fitted[pieces].mean()) if len(pieces) else 1.0


def _square_columns(matrix: Floats) -> Floats:
    return np.asarray((matrix * matrix).sum(axis=0), np.float32)


def _normalize_rows(vectors: Floats) -> Floats:
    lengths = np.sqrt((vectors * vectors).sum(axis=1, keepdims=True))
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1), np.float32)


def _quantize_rows(vectors: Floats) -> list[QuantizedVector]:
    """The same as `quantize` for each row."""
    scales = np.asarray(np.abs(vectors).max(axis=1, initial=0.0) / LARGEST, np.float32)
    rows = np.rint(vectors / np.where(scales > 0, scales, 1)[:, None])
    values = np.clip(rows, -LARGEST, LARGEST).astype(np.int8)
    return [QuantizedVector(row.tobytes(), scale) for row, scale in zip(values, scales.tolist(), strict=True)]
