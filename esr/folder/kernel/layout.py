"""The arguments of the kernel: groups of arrays, and the records in them. Independent of numba.

T is the number of the plan's terms; G, D and S are the numbers of segments, documents and sentences of a
commit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Doubles = npt.NDArray[np.float64]
Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]
Records = npt.NDArray[np.void]

MIXTURE, LOGARITHM, HYPERBOLA = 0, 1, 2
"""Shapes of a plan's transform."""
DOCUMENT_LEVEL, MATCHING, SURROUNDING = 0, 1, 2
"""Candidate rules: all sentences of a document, sentences with an own term, or these and their neighbours."""

BATCH = 128
"""Number of documents whose postings are located together."""

UNREACHED = NO_VALUE = -np.inf
"""The bound of a document that no term has reached, and the static score of a sentence without a value."""
LOST = 0.035
"""The share of a query's squared length that is usually lost when its numbers are quantized to three bits."""
ABSENT = -1
"""The posting index of a term that a document does not contain."""
NOWHERE = -2
"""A position outside any document, and next to no position in one."""

COLUMN = np.dtype([("address", np.int64), ("width", np.int64)])
"""A column of a segment in memory: its address, and the width of a number in bytes."""
SEGMENT = np.dtype(
    [
        ("sentence_postings", COLUMN),
        ("document_numbers", COLUMN),
        ("document_counts", COLUMN),
        ("lengths", COLUMN),
        ("document_of", COLUMN),
        ("count_bits", np.int64),
        ("first_sentence", np.int64),
        ("first_document", np.int64),
    ]
)
"""A segment: its sentence postings, the numbers and counts of its document postings, the lengths and
documents of its sentences; the bits of the count in a sentence posting; the ordinals of its first sentence
and document.
"""
DOCUMENT = np.dtype([(name, np.int32) for name in ("first", "size", "length", "shortest", "longest")])
"""A document: its first sentence, its number of sentences, its length in terms, and the lengths of its
shortest and its longest sentence.
"""
RANGES = np.dtype(
    [(name, np.int64) for name in ("sentences_from", "sentences_to", "documents_from", "documents_to")]
)
"""The ranges of a term's postings in a segment."""
TERM = np.dtype([(name, np.float64) for name in ("weight", "background", "own", "first_impact")])
"""A `PlanTerm`, whose `own` is 0 or 1, and the index of its first impact.

TERM and RANGES have fields of one type each. Numbers are passed as plain arrays, in which the kernel sees the
records: numpy takes 7 microseconds longer to create arrays of records, for each search.
"""
_FIELDS = ("sentence", "surrounding", "document")
AFFINE = np.dtype([("constant", np.float64), ("slope", np.float64)])
SMOOTHING = np.dtype([("share", np.float64), ("b", np.float64), ("average", np.float64)])
MIXTURE_WEIGHTS = np.dtype([("mu", np.float64), *((name, AFFINE) for name in (*_FIELDS, "collection"))])
"""`plan.Mixture` as a record."""
SATURATION_WEIGHTS = np.dtype([("k1", np.float64), *((name, SMOOTHING) for name in _FIELDS)])
"""`plan.Saturation` as a record. The logarithm has k1 0."""

IN_SENTENCE, IN_SURROUNDING, IN_DOCUMENT, LOG_COLLECTION = range(4)
"""Columns of `Transform.length_table`, by the length of a sentence.

The worth, relative to the collection's weight, of one occurrence in the sentence, of one per term of the
surrounding, and of the share in the document; then the logarithm of the collection's weight.
"""
EVIDENCE_SENTENCE, EVIDENCE_SURROUNDING, EVIDENCE_DOCUMENT, EVIDENCE_COLLECTION = range(4)
"""Columns of `Bound.evidence_table`."""


class Rule(NamedTuple):
    """The number of hits and the candidate rule of a search.

    `all_documents`: documents without any term have candidates too. `needs_term`: sentences without a term
    are no candidates. `margin`: upper bound of the difference that rounding makes between values of the
    kernel and scores.
    """

    k: int
    candidates: int
    all_documents: bool
    needs_term: bool
    margin: float


class Formula(NamedTuple):
    """The shape of a transform, and the weights for both kinds of transform, each an array of one record.

    Only the weights of the transform's kind are used.
    """

    shape: int
    mixture: Records
    saturation: Records


class Transform(NamedTuple):
    """A transform in a commit.

    `length_table` is `Bound.length_table`, of shape (longest sentence + 1, 4). `high` and `low` are
    `Bound.log_collection_range` of each document, of shape (D,).
    """

    formula: Formula
    length_table: Doubles
    high: Floats
    low: Floats


class Termless(NamedTuple):
    """`TermlessScore`: the score of a sentence without any term."""

    constant: float
    positive_weight: float
    negative_weight: float


class Terms(NamedTuple):
    """The terms of a plan.

    `table` has a TERM for each (T,), `ranges` their RANGES in each segment (T, G). `impacts` holds those
    of all terms.
    """

    table: Records
    ranges: Records
    impacts: Floats
    termless: Termless


class Commit(NamedTuple):
    """A commit: each SEGMENT (G,), the first document of each (G + 1,), and each DOCUMENT (D,).

    `sizes` (D,) repeats the documents' numbers of sentences, which are often read alone. `filled_sizes` (D,)
    are their numbers of sentences with a term. `begins` is a bit set of the first sentences of documents,
    `filled` one of the sentences with a term.
    """

    segments: Records
    document_bases: Longs
    documents: Records
    sizes: Ints
    filled_sizes: Ints
    begins: Words
    filled: Words


class StaticScores(NamedTuple):
    """The sum that priors and features add: the most in each document (D,), and for each sentence (S,).

    Both arrays are empty if the plan has no static scores. `has_gaps`: some sentences have NO_VALUE.
    """

    upper_bounds: Doubles
    scores: Floats
    has_gaps: bool


class Filters(NamedTuple):
    """Masks of the documents (D,) and the sentences (S,) to search, and the latter as a bit set.

    A mask is empty if all pass. `sentence_bits` is unused if whole documents are candidates.
    """

    documents: Mask
    sentences: Mask
    sentence_bits: Words


class Scratch(NamedTuple):
    """Buffers of one search at a time.

    A search leaves these as it found them: `bounds` (D,), UNREACHED; `reached` (D,), False; `marks`, a bit
    set of sentences, empty. It does not clear `keys` (D,) and `documents` (D + 1,).
    """

    bounds: Doubles
    reached: Mask
    keys: Doubles
    documents: Ints
    marks: Words


class Scoring(NamedTuple):
    """The inputs of scoring sentences, a selection of the groups above, passed from function to function.

    `saturation` is the record of `Formula`. `impact_offsets` (T, G) is the index of a document posting's
    impact less the index of the posting.
    """

    candidates: int
    needs_term: bool
    margin: float
    shape: int
    saturation: np.void
    length_table: Doubles
    ranges: Records
    termless: Termless
    impacts: Floats
    impact_offsets: Longs
    reads_surrounding: bool
    static_bounds: Doubles
    static_scores: Floats
    mask: Mask


class Batch(NamedTuple):
    """B documents whose postings are located together.

    For each document: its number, its bound, its segment (B,); the index of each term's posting of the
    document, ABSENT without the term, and of its first sentence posting there (T, B). The rest (B + 1,) are
    buffers of the lookup: the `members` in one segment, those `having` a term, the `wanted` numbers, and the
    indices at which they were `found`.
    """

    documents: Longs
    bounds: Doubles
    owners: Longs
    document_postings: Longs
    sentence_postings: Longs
    members: Longs
    having: Longs
    wanted: Longs
    found: Longs


class Listed(NamedTuple):
    """The sentences of a document that are being scored. Each array has shape (P,).

    `positions` are those in the document, from 1. Then: the lengths of the sentences and of their
    surroundings; the worth of one occurrence in the sentence and in the surrounding, and of the document's
    share. The value of a sentence is its `totals` plus the logarithm of its `products`.
    """

    positions: Longs
    lengths: Longs
    surrounding_lengths: Longs
    in_sentence: Doubles
    in_surrounding: Doubles
    in_document: Doubles
    totals: Doubles
    products: Doubles


class Workspace(NamedTuple):
    """The terms of a plan, and the document that is being scored, whose sentences have positions 1 to P - 2.

    Of the terms: `weight`, `inverse_background` and `own` (T,). Of the document: the `present` terms; the
    `document_counts` of all terms (T,); the `share` of each present term, c(t,d)/c(d) or the document's part
    of the saturation; the counts in sentences and in their surroundings (T, P); and `gains`, the most that
    the terms near each position add to a sentence that is far from all of them (P,). The workspace is clear
    if the last three are 0.
    """

    weight: Doubles
    inverse_background: Doubles
    own: Mask
    present: Longs
    document_counts: Doubles
    share: Doubles
    counts: Doubles
    surrounding_counts: Doubles
    gains: Doubles
    listed: Listed


class Selection(NamedTuple):
    """The sentences that may be in the top k, and their values.

    `top` (k,) is a heap of the best k values less the margin, the least of them first. `facts` (3 T + 3
    columns) are the inputs of each sentence's evidence: the counts of all terms in the sentence, in its
    surrounding and in its document, then the lengths of these.
    """

    sentences: Longs
    values: Doubles
    facts: Doubles
    top: Doubles
