"""What is loaded and searched: documents and their sentences."""

from esr.documents.document import Document, Located, ParseWord, Sentence

__all__ = ["Document", "Located", "ParseWord", "Sentence"]
