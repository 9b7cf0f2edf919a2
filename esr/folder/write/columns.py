"""The columns of a segment that are computed from its terms, and the input of its word table.

A sort key combines the number of a term with that of a sentence or a document, so one sort groups the
occurrences of each term, sorted by sentence and thereby by document. The remaining steps process a range of
terms at a time, which fits into the processor's cache and needs little memory besides the keys.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from esr.folder.format.files import Column, narrow
from esr.folder.format.segment import pack
from esr.folder.format.words import save_words, text_starts

_CHUNK_KEYS = 2**17


class TokenizedTexts(NamedTuple):
    """The term numbers of all texts, the number of terms in each text, and of sentences in each document.

    The texts of a document are its sentences, then its title.
    """

    tokens: Column
    lengths: Column
    sizes: Column


class _Groups(NamedTuple):
    """Distinct keys, ascending, with the number of occurrences of each and the index of the first."""

    keys: Column
    counts: Column
    starts: Column


def build_columns(texts: TokenizedTexts, term_count: int) -> dict[str, Column]:
    """Compute postings, counts, lengths and likelihoods, as columns by name."""
    is_title = np.zeros(len(texts.lengths), bool)
    is_title[np.cumsum(texts.sizes + 1) - 1] = True
    in_title = np.repeat(is_title, texts.lengths)
    lengths, title_lengths = texts.lengths[~is_title], texts.lengths[is_title]
    document = np.repeat(np.arange(len(texts.sizes), dtype=np.int32), texts.sizes)
    document_length = np.bincount(document, lengths, len(texts.sizes)).astype(np.int64) + title_lengths
    surrounding_length = _sum_surrounding(lengths, document)
    tokens = texts.tokens[~in_title]
    postings = _PostingsBuilder(document, lengths, surrounding_length, document_length)
    title_keys = _sorted_keys(texts.tokens[in_title], title_lengths)
    postings.add_all(_sorted_keys(tokens, lengths), title_keys, term_count)
    return {
        "length": narrow(lengths),
        "surrounding_length": narrow(surrounding_length),
        "document_length": narrow(document_length),
        "document": narrow(document),
        "first": np.concatenate([[0], np.cumsum(texts.sizes)]),
        "occurrences": narrow(np.bincount(tokens, minlength=term_count)),
        **postings.columns(),
    }


def _sum_surrounding(values: Column, document: Column) -> Column:
    """Add the values of its neighbours in the same document to each sentence's value."""
    total = values.astype(np.int64)
    are_neighbors = document[1:] == document[:-1]
    total[1:] += np.where(are_neighbors, values[:-1], 0)
    total[:-1] += np.where(are_neighbors, values[1:], 0)
    return total


def _sorted_keys(tokens: Column, lengths: Column) -> Column:
    """Sorted keys of the terms and their texts. `lengths` are the texts' lengths."""
    keys = tokens.astype(np.int64)
    keys <<= _bits(lengths)
    keys |= np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
    keys.sort()
    return keys


def _bits(items: Column) -> int:
    """The number of bits for the number of an item in a key."""
    return len(items).bit_length()


class _PostingsBuilder:
    """Collects the postings of sentences and documents, and the likelihoods of sentences, term by term."""

    def __init__(
        self, document: Column, lengths: Column, surrounding_length: Column, document_length: Column
    ) -> None:
        self._document = document
        self._surrounding_length = surrounding_length
        self._document_length = document_length
        self._bits, self._document_bits = _bits(lengths), _bits(document_length)
        self._document_likelihood = np.zeros(len(lengths))
        self._surrounding_likelihood = np.zeros(len(lengths))
        self._parts: dict[str, list[Column]] = {
            f"{kind}_{name}": [np.zeros(1 if name == "starts" else 0, np.int32)]
            for kind in ("sentence", "document")
            for name in ("starts", "numbers", "counts")
        }

    def add_all(self, sentence_keys: Column, title_keys: Column, term_count: int) -> None:
        """Add all keys, which must be sorted."""
        start = title_start = first = 0
        while first < term_count:
            end = term_count
            if start + _CHUNK_KEYS < len(sentence_keys):
                end = int(sentence_keys[start + _CHUNK_KEYS] >> self._bits) + 1
            stop = int(np.searchsorted(sentence_keys, end << self._bits))
            title_stop = int(np.searchsorted(title_keys, end << self._document_bits))
            self._add(sentence_keys[start:stop], title_keys[title_start:title_stop], range(first, end))
            start, title_start, first = stop, title_stop, end

    def _add(self, sentence_keys: Column, title_keys: Column, terms: range) -> None:
        """Add the keys of a range of terms."""
        in_sentences = _group(sentence_keys)
        sentence = in_sentences.keys & ((1 << self._bits) - 1)
        document = self._document[sentence]
        document_keys = in_sentences.keys >> self._bits << self._document_bits | document
        in_documents = _group(document_keys, in_sentences.counts)
        keys, counts, counts_of_present = _add_titles(in_documents, _group(title_keys))
        self._append("sentence", in_sentences.keys, self._bits, in_sentences.counts, terms)
        self._append("document", keys, self._document_bits, counts, terms)
        document_count = np.repeat(counts_of_present, np.diff(in_documents.starts, append=len(sentence)))
        likelihood = in_sentences.counts * np.log(document_count / self._document_length[document])
        np.add.at(self._document_likelihood, sentence, likelihood)
        surrounding_count = _surrounding_counts(in_sentences, document)
        likelihood = in_sentences.counts * np.log(surrounding_count / self._surrounding_length[sentence])
        np.add.at(self._surrounding_likelihood, sentence, likelihood)

    def _append(self, kind: str, keys: Column, bits: int, counts: Column, terms: range) -> None:
        starts = self._parts[f"{kind}_starts"]
        ends = np.searchsorted(keys, np.arange(terms.start + 1, terms.stop + 1) << bits)
        starts.append(starts[-1][-1] + ends)
        self._parts[f"{kind}_numbers"].append((keys & ((1 << bits) - 1)).astype(np.int32))
        self._parts[f"{kind}_counts"].append(counts.astype(np.int32))

    def columns(self) -> dict[str, Column]:
        columns = {name: np.concatenate(parts) for name, parts in self._parts.items()}
        sentences, counts = columns.pop("sentence_numbers"), columns.pop("sentence_counts")
        return {
            **{name: narrow(column) for name, column in columns.items()},
            **pack(sentences, counts),
            "document_likelihood": self._document_likelihood,
            "surrounding_likelihood": self._surrounding_likelihood,
        }


def _group(keys: Column, counts: Column | None = None) -> _Groups:
    """Group sorted keys. Each key counts once, or as many times as `counts` says."""
    is_first = np.ones(len(keys), bool)
    np.not_equal(keys[1:], keys[:-1], out=is_first[1:])
    starts = np.flatnonzero(is_first)
    totals = np.diff(starts, append=len(keys)) if counts is None else np.add.reduceat(counts, starts)
    return _Groups(keys[starts], totals, starts)


def _add_titles(documents: _Groups, titles: _Groups) -> tuple[Column, Column, Column]:
    """Add the counts in titles to those in documents.

    Returns the keys, their counts, and the counts of only those keys that occur in sentences.
    """
    places = np.searchsorted(documents.keys, titles.keys)
    is_new = np.ones(len(places), bool)
    is_inside = places < len(documents.keys)
    is_new[is_inside] = documents.keys[places[is_inside]] != titles.keys[is_inside]
    counts = documents.counts.copy()
    counts[places[~is_new]] += titles.counts[~is_new]
    keys = np.insert(documents.keys, places[is_new], titles.keys[is_new])
    return keys, np.insert(counts, places[is_new], titles.counts[is_new]), counts


def _surrounding_counts(postings: _Groups, document: Column) -> Column:
    """c(t, c_s) of each posting.

    Postings of neighbouring sentences are adjacent, and their keys differ by one.
    """
    after = np.flatnonzero(np.diff(postings.keys) == 1) + 1
    after = after[document[after] == document[after - 1]]
    total = postings.counts.copy()
    total[after] += postings.counts[after - 1]
    total[after - 1] += postings.counts[after]
    return total


def save_word_table(folder: Path, words: list[str], texts: TokenizedTexts) -> None:
    """Write the word table of a segment. `texts.tokens` are indices of `words`."""
    order = np.array(sorted(range(len(words)), key=words.__getitem__), np.int64)
    number = np.empty(len(words), np.int64)
    number[order] = np.arange(len(words))
    is_title = np.zeros(len(texts.lengths), bool)
    is_title[np.cumsum(texts.sizes + 1) - 1] = True
    in_order = np.argsort(is_title, kind="stable")  # in the order of the table: sentences, then titles
    lengths = texts.lengths[in_order].astype(np.int64)
    starts = np.empty(len(lengths), np.int64)
    starts[in_order] = text_starts(lengths)[:-1]
    before = np.cumsum(texts.lengths, dtype=np.int64) - texts.lengths
    places = np.repeat(starts - before, texts.lengths) + np.arange(len(texts.tokens))
    save_words(folder, [words[n] for n in order.tolist()], number[texts.tokens], places, lengths)
