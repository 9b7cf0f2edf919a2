"""The evidence for the selected sentences: to the last digit that of `esr.plans.evaluate`."""

from __future__ import annotations

import numpy as np

from esr.engines.embedded.search.kernel.columns import column_number, lower_bound
from esr.engines.embedded.search.kernel.layout import (
    BACKGROUND,
    COUNT_BITS,
    DOCUMENT_COUNTS,
    DOCUMENT_NUMBERS,
    DOCUMENT_OF,
    DOCUMENTS_FROM,
    DOCUMENTS_TO,
    FIRST,
    FIRST_DOCUMENT,
    FIRST_SENTENCE,
    LENGTH,
    LENGTHS,
    MIXTURE,
    OWN,
    SENTENCE_POSTINGS,
    SENTENCES_FROM,
    SENTENCES_TO,
    SIZE,
)
from esr.engines.embedded.search.kernel.numba_support import compiled, inlined


@inlined
def weigh_fields(transform, lengths, shares, n):
    """What one occurrence in each field is worth in a sentence, and of a mixture the collection's part."""
    numbers = transform.numbers
    if transform.shape == MIXTURE:
        mu = numbers[0]
        beta = 0.0 if mu == 0 else mu / (lengths[0] + mu)
        for field in range(3):
            share = numbers[1 + 2 * field] + numbers[2 + 2 * field] * beta
            shares[field, n] = share / max(lengths[field], 1.0)
        shares[3, n] = numbers[7] + numbers[8] * beta
    else:
        for field in range(3):
            share, b, average = numbers[1 + 3 * field], numbers[2 + 3 * field], numbers[3 + 3 * field]
            norm = 1.0 - b + b * lengths[field] / average
            shares[field, n] = share / (norm if norm > 0 else 1.0)
        shares[3, n] = 0.0


@compiled
def compute_evidence(transform, terms, commit, ordinals):
    """What `esr.plans.evaluate.combine_evidence` gives for these sentences, ascending, of shape (T, n).

    Each number is computed by the same steps.
    """
    segments, records, ranges, table = commit.segments, commit.documents, terms.posting_ranges, terms.table
    documents, lengths = np.empty(len(ordinals), np.int64), np.empty(3)
    shares, evidence = np.empty((4, len(ordinals))), np.empty((len(table), len(ordinals)))
    begin = 0
    for g in range(len(segments)):
        first, first_document = segments[g, FIRST_SENTENCE], segments[g, FIRST_DOCUMENT]
        end = begin
        while end < len(ordinals) and (
            g + 1 == len(segments) or ordinals[end] < segments[g + 1, FIRST_SENTENCE]
        ):
            s = ordinals[end]
            d = documents[end] = first_document + column_number(segments, g, DOCUMENT_OF, s - first)
            low, high = max(s - 1, records[d, FIRST]), min(s + 1, records[d, FIRST] + records[d, SIZE] - 1)
            lengths[0], lengths[1] = column_number(segments, g, LENGTHS, s - first), 0
            lengths[2] = records[d, LENGTH]
            for beside in range(low, high + 1):
                lengths[1] += column_number(segments, g, LENGTHS, beside - first)
            weigh_fields(transform, lengths, shares, end)
            end += 1
        bits = segments[g, COUNT_BITS]
        count_mask = (1 << bits) - 1
        for t in range(len(table)):
            sentence_at, document_at = ranges[t, g, SENTENCES_FROM], ranges[t, g, DOCUMENTS_FROM]
            sentences_to, documents_to = ranges[t, g, SENTENCES_TO], ranges[t, g, DOCUMENTS_TO]
            for n in range(begin, end):
                s, d = ordinals[n], documents[n]
                low = max(s - 1, records[d, FIRST])
                high = min(s + 1, records[d, FIRST] + records[d, SIZE] - 1)
                sentence_at = lower_bound(
                    segments, g, SENTENCE_POSTINGS, sentence_at, sentences_to, (low - first) << bits
                )
                here, around, wide, at = 0, 0, 0, sentence_at
                while at < sentences_to:
                    posting = column_number(segments, g, SENTENCE_POSTINGS, at)
                    sentence, count = first + (posting >> bits), posting & count_mask
                    if sentence > high:
                        break
                    around += count
                    if sentence == s:
                        here = count
                    at += 1
                local = d - first_document
                document_at = lower_bound(segments, g, DOCUMENT_NUMBERS, document_at, documents_to, local)
                if (
                    document_at < documents_to
                    and column_number(segments, g, DOCUMENT_NUMBERS, document_at) == local
                ):
                    wide = column_number(segments, g, DOCUMENT_COUNTS, document_at)
                least = shares[3, n] * table[t, BACKGROUND]
                x = least + shares[0, n] * here + shares[1, n] * around + shares[2, n] * wide
                evidence[t, n] = x if transform.shape != MIXTURE or table[t, OWN] > 0 else x / least
        begin = end
    return evidence
