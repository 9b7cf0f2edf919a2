"""Where the words of a segment's texts stand: the input of its word table."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from esr.engines.segments.store.word_places import text_starts
from esr.engines.segments.store.word_table import save_words
from esr.engines.segments.writer.columns import TokenizedTexts


def save_word_table(folder: Path, words: list[str], texts: TokenizedTexts) -> None:
    """Write the table. The numbers of `texts.tokens` are those of `words`."""
    order = np.array(sorted(range(len(words)), key=words.__getitem__), np.int64)
    number = np.empty(len(words), np.int64)
    number[order] = np.arange(len(words))
    is_title = np.zeros(len(texts.lengths), bool)
    is_title[np.cumsum(texts.sizes + 1) - 1] = True
    in_order = np.argsort(is_title, kind="stable")  # of the table: sentences, then titles
    lengths = texts.lengths[in_order].astype(np.int64)
    starts = np.empty(len(lengths), np.int64)
    starts[in_order] = text_starts(lengths)[:-1]
    before = np.cumsum(texts.lengths, dtype=np.int64) - texts.lengths
    places = np.repeat(starts - before, texts.lengths) + np.arange(len(texts.tokens))
    save_words(folder, [words[n] for n in order.tolist()], number[texts.tokens], places, lengths)
