"""CONTRIBUTING.md names files that exist, and its model works."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GUIDE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
FOLDERS = "esr|webui|tests|docs|index_templates|benchmarks|tools"


def test_every_file_that_the_guide_names_exists() -> None:
    paths = set(re.findall(rf"`((?:{FOLDERS})/[\w./-]+)`", GUIDE))
    assert len(paths) > 20
    assert not [path for path in paths if not (ROOT / path).exists()]


def test_every_command_of_make_that_the_guide_names_exists() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))
    assert set(re.findall(r"`make ([a-z]+)", GUIDE)) <= targets


def test_the_model_of_the_guide_ranks_sentences(tmp_path: Path) -> None:
    (model,) = re.findall(r"```python\n(.*?)```", GUIDE, re.S)
    (tmp_path / "model.py").write_text(model, "utf-8")
    program = """
import model, esr

with esr.load("index", ARTICLES) as index:
    hits = index.search("earthquake relief", k=3, model="example", share=0.4)
    assert len(hits) == 3 and hits[0].score > hits[2].score
"""
    program = program.replace("ARTICLES", repr(str(ROOT / "examples" / "articles.jsonl")))
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
