"""Rankings that come with esr, as ranking files that have a name."""

from __future__ import annotations

from pathlib import Path

SHIPPED = {
    "hybrid": "words and meaning: the default ranking, and how close the vectors of sentence and query are",
}
"""What each is, by name."""


def find_file(name_or_path: str | Path) -> Path:
    """The file of a shipped ranking, or the path itself."""
    if str(name_or_path) in SHIPPED:
        return Path(__file__).with_name(f"{name_or_path}.json")
    return Path(name_or_path)
