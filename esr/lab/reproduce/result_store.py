"""Results of an experiment that a later call of the same experiment reuses, in a file of JSON Lines.

Training a system and testing a setting take most of the time. Their results are appended as soon as they are
known, so a stopped call loses at most the one that it was computing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from esr.plugin import EsrError


def make_digest(*parts: object) -> str:
    """A digest of values whose `repr` is the same in every process."""
    return hashlib.sha256("\n".join(map(repr, parts)).encode("utf-8", "surrogatepass")).hexdigest()


class ResultStore:
    """The results in a file, by keys that are JSON values.

    `experiment` is a digest of everything that the results depend on besides their keys. Results of other
    experiments stay in the file and are ignored.
    """

    def __init__(self, path: Path, experiment: str) -> None:
        self._path = path
        self._experiment = experiment
        self._results: dict[str, Any] = {}
        self._is_cut = False  # the last line, by a call that was stopped
        if path.exists():
            lines = path.read_text("utf-8", "replace")
            self._is_cut = bool(lines) and not lines.endswith("\n")
            for line in lines.splitlines():
                with suppress(ValueError, KeyError, TypeError):
                    entry = json.loads(line)
                    if entry["experiment"] == experiment:
                        self._results[entry["key"]] = entry["result"]

    def find_or_compute(self, key: object, compute: Callable[[], Any]) -> Any:
        """The result of a key. One that is missing is computed, and appended to the file.

        A result is a JSON value, and not None. Raises EsrError if the file cannot be written.
        """
        text = json.dumps(key, sort_keys=True)
        if text not in self._results:
            self._append(text, compute())
        return self._results[text]

    def _append(self, text: str, result: Any) -> None:
        self._results[text] = result
        line = json.dumps({"experiment": self._experiment, "key": text, "result": result})
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a", encoding="utf-8") as file:
                file.write("\n" * self._is_cut + line + "\n")
        except OSError as error:
            raise EsrError(f"cannot write {self._path}: {error.strerror or error}") from None
        self._is_cut = False
