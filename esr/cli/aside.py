"""Documents that an index cannot take, in a file of their own, with the reason."""

from __future__ import annotations

import json
from pathlib import Path

from esr.documents import Document
from esr.documents.fields import fields
from esr.errors import EsrError


class Aside:
    """Writes each document that is set aside as a line of JSON: its id, the problem, the document."""

    def __init__(self, file: Path, resume: bool = False) -> None:
        """Begins the file anew, or with `resume` goes on in it. Raises EsrError if it cannot be written."""
        self._file = file
        self._count = 0
        self._first = ""
        try:
            with file.open("a" if resume else "w", encoding="utf-8"):
                pass
        except OSError as error:
            raise EsrError(f"cannot write {file}: {error.strerror or error}") from error

    def add(self, document: Document, problem: str) -> None:
        line = json.dumps({"id": document.id, "problem": problem, "document": fields(document)})
        with self._file.open("a", encoding="utf-8") as stream:  # they are few, and none may be lost
            stream.write(line + "\n")
        self._first = self._first or f"{document.id}: {problem}"
        self._count += 1

    def complain(self) -> None:
        """Raises EsrError if anything was set aside."""
        if self._count:
            raise EsrError(
                f"{self._count:,} documents were set aside in {self._file}, the rest is loaded. "
                f"The first: {self._first}"
            )
