"""The arguments of the kernel: groups of arrays, and the columns of its tables. Independent of numba.

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

MIXTURE, LOGARITHM, HYPERBOLA = 0, 1, 2
"""Shapes of a plan's transform."""
DOCUMENT_LEVEL, MATCHING, SURROUNDING = 0, 1, 2
"""Candidates: all sentences of a document, sentences with an own term, or these and their neighbours."""

SENTENCE_POSTINGS, DOCUMENT_NUMBERS, DOCUMENT_COUNTS, LENGTHS, DOCUMENT_OF = range(0, 10, 2)
COUNT_BITS, FIRST_SENTENCE, FIRST_DOCUMENT = 10, 11, 12
"""Columns of `Commit.segments`.

The even ones up to DOCUMENT_OF are addresses of columns (sentence postings, numbers and counts of document
postings, lengths and documents of sentences), each followed by the width of a number in bytes. Then: the bits
of the count in a sentence posting, and the ordinals of the first sentence and document.
"""
FIRST, SIZE, LENGTH, SHORTEST, LONGEST = range(5)
"""Columns of `Commit.documents`.

A document's first sentence, its number of sentences, its length in terms, and the lengths of its shortest and
its longest sentence.
"""
IN_SENTENCE, IN_SURROUNDING, IN_DOCUMENT, LOG_COLLECTION = range(4)
"""Columns of `Transform.length_table`, by the length of a sentence.

The worth, relative to the collection's weight, of one occurrence in the sentence, of one per term of the
surrounding, and of the share in the document; then the logarithm of the collection's weight.
"""
EVIDENCE_SENTENCE, EVIDENCE_SURROUNDING, EVIDENCE_DOCUMENT, EVIDENCE_COLLECTION = range(4)
"""Columns of `Bound.evidence_table`."""
BATCH = 128
"""Number of documents whose postings are located together."""
WEIGHT, BACKGROUND, OWN = range(3)
"""Columns of `Terms.table`."""
K, CANDIDATES, ALL_DOCUMENTS, STARTS = range(4)
"""Indices in the integers of a query: first the fields of `Rule`.

From STARTS on follow `Terms.impact_starts` and `Terms.posting_ranges`.
"""
MARGIN, TERMLESS, TABLE = 0, 1, 4
"""Indices in the floats of a query: `Rule.margin`, `Terms.termless`, then `Terms.table` from TABLE on.

All numbers are passed in two arrays, since creating a small array takes longer than filling it.
"""
SENTENCES_FROM, SENTENCES_TO, DOCUMENTS_FROM, DOCUMENTS_TO = range(4)
"""Last dimension of `Terms.posting_ranges`: the ends of the ranges of a term's postings."""


class Rule(NamedTuple):
    """The number of hits and the candidate rule of a search.

    `all_documents`: documents without any term have candidates, too. `margin`: upper bound of the rounding
    difference between values of the kernel and scores.
    """

    k: int
    candidates: int
    all_documents: bool
    margin: float


class Transform(NamedTuple):
    """A transform in a commit.

    `numbers` are its parameters in the order of their declaration, `length_table` is `Bound.length_table`, of
    shape (longest sentence + 1, 4), and `high` and `low` are `Bound.log_collection_range` of each document,
    of shape (D,).
    """

    shape: int
    numbers: Doubles
    length_table: Doubles
    high: Floats
    low: Floats


class Terms(NamedTuple):
    """The terms of a plan.

    `table` has shape (T, 3), `posting_ranges` (T, G, 4). `impacts` holds the impacts of all terms,
    `impact_starts` the index of the first of each term (T,). `termless` is `Bound.termless_score`, the score
    without any term (3,).
    """

    table: Doubles
    posting_ranges: Longs
    impacts: Floats
    impact_starts: Longs
    termless: Doubles


class Commit(NamedTuple):
    """A commit: its segments (G, 13), the first document of each (G + 1,), and its documents (D, 5).

    `sizes` (D,) repeats the documents' numbers of sentences, which are often read alone. `begins` is a bit
    set of the first sentences of documents.
    """

    segments: Longs
    document_bases: Longs
    documents: Ints
    sizes: Ints
    begins: Words


class Statics(NamedTuple):
    """What priors and features add: at most in each document (D,), and to each sentence (S,).

    The scores of sentences without a value are -inf. Both arrays are empty if the plan has no statics.
    `has_gaps`: some sentences have no value.
    """

    upper_bounds: Doubles
    scores: Floats
    has_gaps: bool


class Filters(NamedTuple):
    """Masks of the documents (D,) and the sentences (S,) to search, and the latter as a bit set.

    A mask is empty if all pass. `sentence_bits` is not needed if whole documents are candidates.
    """

    documents: Mask
    sentences: Mask
    sentence_bits: Words


class Scratch(NamedTuple):
    """Buffers of one search at a time.

    These are left as they were: `bounds` (D,), -inf; `reached` (D,), False; `marks`, a bit set of sentences,
    empty. `keys` (D,) and `documents` (D + 1,) are not cleared.
    """

    bounds: Doubles
    reached: Mask
    keys: Doubles
    documents: Ints
    marks: Words


class Scoring(NamedTuple):
    """The inputs of scoring sentences, a selection of the groups above, passed from function to function.

    `impact_offsets` (T, G) is the index of a document posting's impact less the index of the posting.
    """

    candidates: int
    margin: float
    shape: int
    numbers: Doubles
    length_table: Doubles
    posting_ranges: Longs
    termless: Doubles
    impacts: Floats
    impact_offsets: Longs
    reads_surrounding: bool
    static_bounds: Doubles
    static_scores: Floats
    mask: Mask


class Batch(NamedTuple):
    """B documents that are scored one after another.

    For each document: its number, its bound, its segment (B,); the index of each term's posting of the
    document, -1 without the term, and of its first sentence posting there (T, B). The rest (B + 1,) are
    buffers of the lookup: the `members` of one segment, those `having` a term, the `wanted` numbers, and the
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
    """The sentences of a document that are being scored, each array of shape (P,).

    `places` are their positions in the document, from 1. Then: their lengths, the lengths of their
    surroundings; the worth of one occurrence in the sentence (`here`) and in the surrounding (`beside`), and
    of the document's share (`wide`). The value of a sentence is its `totals` plus the logarithm of its
    `products`.
    """

    places: Longs
    lengths: Longs
    around_lengths: Longs
    here: Doubles
    beside: Doubles
    wide: Doubles
    totals: Doubles
    products: Doubles


class Workspace(NamedTuple):
    """The terms of a plan, and the document that is being scored, whose sentences have positions 1 to P - 2.

    Of the terms: `weight`, `inverse_background` and `own` (T,). Of the document: the `present` terms; the
    `document_counts` of all terms (T,); the `share` of each present term, c(t,d)/c(d) or the document's part
    of the saturation; the `counts` in sentences, and in sentences with their neighbours (`around`) (T, P);
    and `lifts`, the most that the terms near each position add (P,). The workspace is clear if the last three
    are 0.
    """

    weight: Doubles
    inverse_background: Doubles
    own: Mask
    present: Longs
    document_counts: Doubles
    share: Doubles
    counts: Doubles
    around: Doubles
    lifts: Doubles
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
