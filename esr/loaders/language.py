"""Language detection for documents without a language."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from esr.text.detection import MAX_CHARACTERS, detect_language
from esr.text.document import Document
from esr.text.validate import build_document

CONFUSED = {"am": "ti (Tigrinya)", "rw": "rn (Kirundi)"}
"""Languages that are detected although a text may be in another one, which the model does not know."""


def describe_uncertain(languages: Iterable[str | None]) -> str:
    """What detection does not tell apart in these languages, as a part of a sentence; empty if nothing."""
    uncertain = sorted({*filter(None, languages)} & {*CONFUSED})
    return ", and ".join(f"{CONFUSED[code]} is detected as {code} too" for code in uncertain)


class LanguageDetector:
    """Detects languages. `detected` counts the documents that got one, by language."""

    def __init__(self) -> None:
        self.detected: Counter[str] = Counter()

    def language_of(self, document: Document) -> str | None:
        """The declared language of a document, or else the detected one, or None."""
        return document.language or detect_language(sentence.text for sentence in document.sentences)

    def build_document(self, fields: Mapping[str, Any]) -> Document:
        """The document with these fields. If they have no language, it gets a detected one (ISO 639-1).

        Detection comes first, because the text is split into sentences by the rules of its language.
        """
        declared = fields.get("language")
        is_missing = declared is None or (isinstance(declared, str) and not declared.strip())
        language = detect_language(_texts(fields)) if is_missing else None
        document = build_document({**fields, "language": language} if language else fields)
        if language:
            self.detected[language] += 1
        return document


def _texts(fields: Mapping[str, Any]) -> Iterator[str]:
    """The texts of fields that are not validated yet."""
    text, sentences = fields.get("text"), fields.get("sentences")
    if isinstance(text, str):
        yield text[: 4 * MAX_CHARACTERS]  # blanks are collapsed later
    elif isinstance(sentences, list):
        for sentence in sentences:
            if isinstance(sentence, dict) and isinstance(text := sentence.get("text"), str):
                yield text
