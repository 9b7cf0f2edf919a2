"""The language of documents that do not say theirs, by py3langid (4 MB, 0.1 ms a document)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from esr.documents import Document, Located
from esr.extras import require

# Less text, or a model less sure of itself, says too little to be recorded.
_LEAST_LETTERS = 40
_LEAST_PROBABILITY = 0.9
_MOST_LETTERS = 5_000


class Languages:
    """Detects languages. `detected` counts the documents that were given one."""

    def __init__(self) -> None:
        require("--detect-language", "py3langid")
        from py3langid.langid import MODEL_FILE, LanguageIdentifier

        self._model = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
        self.detected = 0

    def added(self, documents: Iterable[Located]) -> Iterator[Located]:
        """The documents, with a language (ISO 639-1) where they had none and it is sure enough."""
        for located in documents:
            document = located.document
            if document.language is None and (language := self._of(document)):
                self.detected += 1
                located = located._replace(document=replace(document, language=language))
            yield located

    def _of(self, document: Document) -> str | None:
        text = " ".join(sentence.text for sentence in document.sentences)[:_MOST_LETTERS]
        if sum(map(str.isalpha, text)) < _LEAST_LETTERS:
            return None
        language, probability = self._model.classify(text)
        return str(language) if probability >= _LEAST_PROBABILITY else None
