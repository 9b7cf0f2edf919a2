"""What is loaded and searched: documents and their sentences."""

from esr.documents.document import Document, ParseWord, Sentence

__all__ = ["Document", "ParseWord", "Sentence"]
