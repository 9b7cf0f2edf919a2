"""The columns of a segment that are made of its terms: postings, counts, lengths and likelihoods.

A key is the number of a term and that of a sentence, or of a document, in one. So one sort brings all
terms to where they are wanted, and what is sorted by sentences is sorted by documents too. The rest is done
for some terms at a time: it stays near the processor, and takes little more memory than the keys.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from esr.engines.segments.store.arrays import smallest

Array = npt.NDArray[Any]
_AT_A_TIME = 2**17


class Texts(NamedTuple):
    """The numbers of all terms, how many each text has, and how many sentences each document has.

    A document's texts are its sentences, then its title.
    """

    tokens: Array
    lengths: Array
    sizes: Array


class _Runs(NamedTuple):
    """Keys, ascending, each once; how many there are of it, and where it begins among all."""

    keys: Array
    counts: Array
    starts: Array


def columns(texts: Texts, terms: int) -> dict[str, Array]:
    """The columns by name. `terms` is how many there are."""
    is_title = np.zeros(len(texts.lengths), bool)
    is_title[np.cumsum(texts.sizes + 1) - 1] = True
    in_title = np.repeat(is_title, texts.lengths)
    lengths, title_lengths = texts.lengths[~is_title], texts.lengths[is_title]
    document = np.repeat(np.arange(len(texts.sizes), dtype=np.int32), texts.sizes)
    document_length = np.bincount(document, lengths, len(texts.sizes)).astype(np.int64) + title_lengths
    around = surrounding(lengths, document)
    tokens = texts.tokens[~in_title]
    postings = _Postings(document, lengths, around, document_length)
    postings.add(_sorted_keys(tokens, lengths), _sorted_keys(texts.tokens[in_title], title_lengths), terms)
    return {
        "length": smallest(lengths),
        "surrounding_length": smallest(around),
        "document_length": smallest(document_length),
        "document": smallest(document),
        "first": np.concatenate([[0], np.cumsum(texts.sizes)]),
        "occurrences": smallest(np.bincount(tokens, minlength=terms)),
        **postings.columns(),
    }


def surrounding(values: Array, document: Array) -> Array:
    """Each value plus its neighbours' within the same document."""
    total = values.astype(np.int64)
    joined = document[1:] == document[:-1]
    total[1:] += np.where(joined, values[:-1], 0)
    total[:-1] += np.where(joined, values[1:], 0)
    return total


def _sorted_keys(tokens: Array, lengths: Array) -> Array:
    """A key of each term with the number of its text, whose length says which it is."""
    keys = tokens.astype(np.int64)
    keys <<= _bits(lengths)
    keys |= np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
    keys.sort()
    return keys


def _bits(numbered: Array) -> int:
    """The bits of a key that hold the number of one of these."""
    return len(numbered).bit_length()


class _Postings:
    """Gathers postings in sentences and in documents, and the likelihoods of sentences, term by term."""

    def __init__(self, document: Array, lengths: Array, around: Array, document_length: Array) -> None:
        self._document = document
        self._around = around
        self._document_length = document_length
        self._bits, self._document_bits = _bits(lengths), _bits(document_length)
        self._likelihood = np.zeros(len(lengths))
        self._around_likelihood = np.zeros(len(lengths))
        self._parts: dict[str, list[Array]] = {
            f"{kind}_{what}": [np.zeros(0 if what != "starts" else 1, np.int32)]
            for kind in ("sentence", "document")
            for what in ("starts", "numbers", "counts")
        }

    def add(self, in_sentences: Array, in_titles: Array, terms: int) -> None:
        """Take all keys, sorted."""
        start = start_titles = first = 0
        while first < terms:
            last = terms
            if start + _AT_A_TIME < len(in_sentences):
                last = int(in_sentences[start + _AT_A_TIME] >> self._bits) + 1
            stop = int(np.searchsorted(in_sentences, last << self._bits))
            stop_titles = int(np.searchsorted(in_titles, last << self._document_bits))
            self._add(in_sentences[start:stop], in_titles[start_titles:stop_titles], range(first, last))
            start, start_titles, first = stop, stop_titles, last

    def _add(self, in_sentences: Array, in_titles: Array, terms: range) -> None:
        found = _runs(in_sentences)
        sentence = found.keys & ((1 << self._bits) - 1)
        document = self._document[sentence]
        above = _runs(found.keys >> self._bits << self._document_bits | document, found.counts)
        keys, counts, in_own = _with_titles(above, _runs(in_titles))
        self._put("sentence", found.keys, self._bits, found.counts, terms)
        self._put("document", keys, self._document_bits, counts, terms)
        in_document = np.repeat(in_own, np.diff(above.starts, append=len(sentence)))
        likelihood = found.counts * np.log(in_document / self._document_length[document])
        np.add.at(self._likelihood, sentence, likelihood)
        in_surrounding = _in_surrounding(found, document)
        likelihood = found.counts * np.log(in_surrounding / self._around[sentence])
        np.add.at(self._around_likelihood, sentence, likelihood)

    def _put(self, kind: str, keys: Array, bits: int, counts: Array, terms: range) -> None:
        starts = self._parts[f"{kind}_starts"]
        ends = np.searchsorted(keys, np.arange(terms.start + 1, terms.stop + 1) << bits)
        starts.append(starts[-1][-1] + ends)
        self._parts[f"{kind}_numbers"].append((keys & ((1 << bits) - 1)).astype(np.int32))
        self._parts[f"{kind}_counts"].append(counts.astype(np.int32))

    def columns(self) -> dict[str, Array]:
        joined = {name: np.concatenate(parts) for name, parts in self._parts.items()}
        narrow = {name: smallest(each) for name, each in joined.items() if name != "sentence_numbers"}
        return {
            **narrow,
            "sentence_numbers": joined["sentence_numbers"],
            "document_likelihood": self._likelihood,
            "surrounding_likelihood": self._around_likelihood,
        }


def _runs(keys: Array, counts: Array | None = None) -> _Runs:
    """The runs of sorted keys. Each stands for one, or for what `counts` says."""
    begins = np.ones(len(keys), bool)
    np.not_equal(keys[1:], keys[:-1], out=begins[1:])
    starts = np.flatnonzero(begins)
    found = np.diff(starts, append=len(keys)) if counts is None else np.add.reduceat(counts, starts)
    return _Runs(keys[starts], found, starts)


def _with_titles(documents: _Runs, titles: _Runs) -> tuple[Array, Array, Array]:
    """Keys and counts in documents with their titles, and the counts of those that stand in sentences."""
    places = np.searchsorted(documents.keys, titles.keys)
    new = np.ones(len(places), bool)
    inside = places < len(documents.keys)
    new[inside] = documents.keys[places[inside]] != titles.keys[inside]
    counts = documents.counts.copy()
    counts[places[~new]] += titles.counts[~new]
    keys = np.insert(documents.keys, places[new], titles.keys[new])
    return keys, np.insert(counts, places[new], titles.counts[new]), counts


def _in_surrounding(found: _Runs, document: Array) -> Array:
    """c(t, c_s) of each posting, whose documents are given. A term's neighbours stand side by side."""
    after = np.flatnonzero(np.diff(found.keys) == 1) + 1
    after = after[document[after] == document[after - 1]]
    total = found.counts.copy()
    total[after] += found.counts[after - 1]
    total[after - 1] += found.counts[after]
    return total
