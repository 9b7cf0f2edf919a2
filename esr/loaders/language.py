"""Language detection for documents without a language, by py3langid (4 MB, 0.1 ms a document)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from esr.documents import Document, Located
from esr.extras import require

# Below these, a detected language is not reliable enough to be recorded.
_MIN_LETTERS = 40
_MIN_PROBABILITY = 0.9
_MAX_CHARACTERS = 5_000


class LanguageDetector:
    """Detects languages. `detected` counts the documents that got one."""

    def __init__(self) -> None:
        require("--detect-language", "py3langid")
        from py3langid.langid import MODEL_FILE, LanguageIdentifier

        self._model = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
        self.detected = 0

    def annotate(self, documents: Iterable[Located]) -> Iterator[Located]:
        """The documents, with an ISO 639-1 language where they had none and detection is certain enough."""
        for located in documents:
            document = located.document
            if document.language is None and (language := self._detect(document)):
                self.detected += 1
                located = located._replace(document=replace(document, language=language))
            yield located

    def _detect(self, document: Document) -> str | None:
        text = " ".join(sentence.text for sentence in document.sentences)[:_MAX_CHARACTERS]
        if sum(map(str.isalpha, text)) < _MIN_LETTERS:
            return None
        language, probability = self._model.classify(text)
        return str(language) if probability >= _MIN_PROBABILITY else None
