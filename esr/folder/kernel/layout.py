"""What the kernel is given: groups of arrays, and the columns of its tables. Knows no numba.

T is the number of the plan's terms; G, D and S those of the commit's segments, documents and sentences.
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
"""Candidates: all sentences of a document, those with an own term, those and their neighbours."""

SENTENCE_POSTINGS, DOCUMENT_NUMBERS, DOCUMENT_COUNTS, LENGTHS, DOCUMENT_OF = range(0, 10, 2)
COUNT_BITS, FIRST_SENTENCE, FIRST_DOCUMENT = 10, 11, 12
"""Columns of `Commit.segments`: the addresses of a segment's postings of sentences, of the numbers and the
counts of those of documents, of the sentences' lengths and documents, each followed by the bytes of a number;
how many low bits of a posting of sentences are the count; then the ordinals of the segment's first sentence
and first document."""
FIRST, SIZE, LENGTH, SHORTEST, LONGEST = range(5)
"""Columns of `Commit.documents`: a document's first sentence, its number of sentences, its terms, the terms
in its shortest and in its longest sentence."""
IN_SENTENCE, IN_SURROUNDING, IN_DOCUMENT, LOG_COLLECTION = range(4)
"""Columns of `Transform.length_table`: by the length of a sentence, what one occurrence is worth over the
collection's weight, in the sentence, per term of the surrounding, as a share of the document; and the
logarithm of that weight."""
EVIDENCE_SENTENCE, EVIDENCE_SURROUNDING, EVIDENCE_DOCUMENT, EVIDENCE_COLLECTION = range(4)
"""Columns of `Bound.evidence_table`."""
BATCH = 128
"""Documents that are looked up together."""
WEIGHT, BACKGROUND, OWN = range(3)
"""Columns of `Terms.table`."""
K, CANDIDATES, ALL_DOCUMENTS, STARTS = range(4)
"""Places in the whole numbers of a query: those of `Rule`; from the last on `Terms.impact_starts`, and behind
them `Terms.posting_ranges`."""
MARGIN, TERMLESS, TABLE = 0, 1, 4
"""Places in the real numbers of a query: `Rule.margin`, `Terms.termless`, and from the last on `Terms.table`.
All numbers come in two arrays, since making a small array takes longer than filling it."""
SENTENCES_FROM, SENTENCES_TO, DOCUMENTS_FROM, DOCUMENTS_TO = range(4)
"""Where a term's postings begin and end: the last dimension of `Terms.posting_ranges`."""


class Rule(NamedTuple):
    """What is asked for: how many sentences, and which are candidates.

    `all_documents`: documents without a term have candidates too. `margin`: what rounding may put between the
    values of the kernel and scores.
    """

    k: int
    candidates: int
    all_documents: bool
    margin: float


class Transform(NamedTuple):
    """A transform in a commit: its shape, its parameters in the order of their declaration,
    `Bound.length_table` (longest sentence + 1, 4), and for each document what `Bound.log_collection_range`
    gives (D,)."""

    shape: int
    numbers: Doubles
    length_table: Doubles
    high: Floats
    low: Floats


class Terms(NamedTuple):
    """The plan's terms: `table` (T, 3), `posting_ranges` (T, G, 4), the impacts of all terms, the first of
    each term (T,), and `Bound.termless_score`, what a sentence has without any term (3,)."""

    table: Doubles
    posting_ranges: Longs
    impacts: Floats
    impact_starts: Longs
    termless: Doubles


class Commit(NamedTuple):
    """The segments (G, 13), the first document of each (G + 1,), the documents (D, 5), and their numbers of
    sentences (D,), which are read alone most. `begins` has a bit for each sentence: whether a document begins
    with it."""

    segments: Longs
    document_bases: Longs
    documents: Ints
    sizes: Ints
    begins: Words


class Statics(NamedTuple):
    """What priors and features add: at most in each document (D,), and in each sentence (S,), -inf where one
    has no value. Both are empty where the plan has none. `has_gaps`: some sentences have no value."""

    upper_bounds: Doubles
    scores: Floats
    has_gaps: bool


class Filters(NamedTuple):
    """The documents (D,) and the sentences (S,) that are let through, and these as bits; empty where all
    are. No bits are needed where whole documents are candidates."""

    documents: Mask
    sentences: Mask
    sentence_bits: Words


class Scratch(NamedTuple):
    """What one search at a time writes to.

    Left as they came: `bounds` (D,), -inf; `reached` (D,), False; `marks`, a bit for each sentence, 0. Not
    cleared: `keys` (D,) and `documents` (D + 1,).
    """

    bounds: Doubles
    reached: Mask
    keys: Doubles
    documents: Ints
    marks: Words


class Scoring(NamedTuple):
    """What the values of sentences are computed from, of the groups above: the kernel hands no more than that
    from function to function.

    `impact_offsets` (T, G): what is added to the place of a posting of documents for that of its impact.
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

    Of each: its number, its bound, its segment (B,); the place of each term's posting of the document, -1 if
    it lacks the term, and that of the first posting of its sentences (T, B). While these are looked up, each
    (B + 1,): the `members` of one segment, those `having` a term, the numbers `wanted`, and where these were
    `found`.
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
    """The sentences of a document that are being valued, each array (P,).

    Their places, their lengths and those of their surroundings; what one occurrence is worth in the sentence
    and in the surrounding, and what the document's share is worth; what adds up to their values, and a
    product whose logarithm does too.
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
    """The plan's terms, and the document that is being scored. Its sentences have places from 1 to P - 2.

    Of the terms: `weight`, `inverse_background` and `own` (T,). Of the document: the terms that are
    `present`; its counts of all terms (T,); what it gives for each that is present (`share`): c(t,d)/c(d), or
    its part of the saturation; the `counts` of the sentences, and of these with their neighbours (T, P); and
    `lifts`, what the terms near each place add at most (P,). It is clear where all of the last three are 0.
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
    """The sentences that may be among the k best, their values, and `top` (k,), a heap of the k best values
    less the margin, whose first is the least.

    `facts` is what the evidence of each is computed from (3 T + 3): counts of all terms in it, in its
    surrounding and in its document, and the lengths of these.
    """

    sentences: Longs
    values: Doubles
    facts: Doubles
    top: Doubles
