"""Documents and sentences: what is loaded and searched."""

from esr.documents.document import Document, Located, ParseWord, Sentence

__all__ = ["Document", "Located", "ParseWord", "Sentence"]
