"""Text to sentences, by language: tables of abbreviations, and rules for each kind of script."""

from esr.documents.sentences.splitter import (
    NumberedSentence,
    split_numbered_sentences,
    split_sentences,
)

__all__ = ["NumberedSentence", "split_numbered_sentences", "split_sentences"]
