"""What is known of sources before they are read."""

from __future__ import annotations

from pathlib import Path

from esr.loaders.paths import count_text_bytes


def test_only_files_of_text_are_counted(tmp_path: Path) -> None:
    """Of markup, of packed files and of standard input, nobody knows how much text is in them."""
    for name in ("a.jsonl", "b.txt", "c.html", "d.jsonl.gz"):
        (tmp_path / name).write_text("12345")
    (tmp_path / "folder.jsonl").mkdir()
    assert count_text_bytes([*map(str, tmp_path.iterdir()), "-", str(tmp_path / "none.txt")]) == 10
