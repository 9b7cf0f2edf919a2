"""The columns of a segment, compared with plain counting."""

from __future__ import annotations

import math
import random
from collections import Counter
from itertools import accumulate

import numpy as np
import pytest

from esr.folder.format.segment import COUNT_BITS, POSTINGS, unpack
from esr.folder.write import columns
from esr.folder.write.columns import TokenizedTexts, build_columns

TERMS = 7


def random_documents(seed: int) -> list[list[list[int]]]:
    """Documents as the terms of their sentences, then of their title."""
    rng = random.Random(seed)

    def text() -> list[int]:
        return [rng.randrange(TERMS - 1) for _ in range(rng.randrange(6))]

    return [[text() for _ in range(rng.randrange(5) + 1)] for _ in range(rng.randrange(5))]


def built(documents: list[list[list[int]]]) -> dict[str, list[float]]:
    texts = [text for document in documents for text in document]
    tokens = [term for text in texts for term in text]
    tokenized = TokenizedTexts(
        np.array(tokens, np.int32),
        np.array([len(text) for text in texts], np.int32),
        np.array([len(document) - 1 for document in documents], np.int64),
    )
    built = build_columns(tokenized, TERMS)
    numbers, counts = unpack(built.pop(POSTINGS), int(built.pop(COUNT_BITS)[0]))
    return {name: column.tolist() for name, column in built.items()} | {
        "sentence_numbers": numbers.tolist(),
        "sentence_counts": counts.tolist(),
    }


def counted(documents: list[list[list[int]]]) -> dict[str, list[float]]:
    """The same, without numpy."""
    sentences = [(n, p) for n, document in enumerate(documents) for p in range(len(document) - 1)]
    in_sentence = [Counter(documents[n][p]) for n, p in sentences]
    in_document = [Counter(term for text in document for term in text) for document in documents]
    around = [
        Counter(
            term for text in documents[n][max(p - 1, 0) : min(p + 2, len(documents[n]) - 1)] for term in text
        )
        for n, p in sentences
    ]

    def likelihood(contexts: list[Counter[int]]) -> list[float]:
        logs = [
            {term: count * math.log(context[term] / context.total()) for term, count in sorted(own.items())}
            for own, context in zip(in_sentence, contexts, strict=True)
        ]
        return [sum(by_term.values()) for by_term in logs]

    def postings(kind: str, places: list[Counter[int]]) -> dict[str, list[float]]:
        lists = [[(n, c[term]) for n, c in enumerate(places) if term in c] for term in range(TERMS)]
        return {
            f"{kind}_starts": [0, *accumulate(map(len, lists))],
            f"{kind}_numbers": [n for postings in lists for n, _ in postings],
            f"{kind}_counts": [c for postings in lists for _, c in postings],
        }

    return {
        **postings("sentence", in_sentence),
        **postings("document", in_document),
        "occurrences": [sum(own[term] for own in in_sentence) for term in range(TERMS)],
        "length": [own.total() for own in in_sentence],
        "surrounding_length": [own.total() for own in around],
        "document_length": [own.total() for own in in_document],
        "document": [n for n, _ in sentences],
        "first": [0, *accumulate(len(document) - 1 for document in documents)],
        "document_likelihood": likelihood([in_document[n] for n, _ in sentences]),
        "surrounding_likelihood": likelihood(around),
    }


@pytest.mark.parametrize("chunk_keys", [1, 5, 2**17])
def test_columns_are_what_counting_gives(monkeypatch: pytest.MonkeyPatch, chunk_keys: int) -> None:
    monkeypatch.setattr(columns, "_CHUNK_KEYS", chunk_keys)
    for seed in range(60):
        documents = random_documents(seed)
        actual, expected = built(documents), counted(documents)
        assert actual.keys() == expected.keys()
        for name, column in expected.items():
            assert actual[name] == pytest.approx(column), (seed, name)
