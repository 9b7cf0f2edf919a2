"""A command without its extra names it in one line, before it reads or searches anything."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Esr

RUNS = ("qrels.txt", "a.run")
TOPICS = ("topics.tsv", "qrels.txt", "--index", "index")


@pytest.mark.parametrize(
    ("module", "extra", "command"),
    [
        ("ir_measures", "evaluation", ("evaluate", *RUNS)),
        ("scipy", "evaluation", ("evaluate", *RUNS)),
        ("ir_measures", "evaluation", ("compare", "comparison.json", "-o", "figures.jsonl")),
        ("scipy", "evaluation", ("tune", *TOPICS, "--train", "floe:len")),
        ("ir_measures", "evaluation", ("learn", *TOPICS)),
        ("ir_measures", "evaluation", ("reproduce", "novelty", "--data", ".")),
        ("lightgbm", "learn", ("learn", *TOPICS, "--learner", "lambdamart")),
        ("matplotlib", "report", ("learn", *TOPICS, "--report", "page.html")),
        ("matplotlib", "report", ("report", *RUNS, "-o", "page.html")),
        ("ir_measures", "evaluation", ("report", *RUNS, "-o", "page.html")),
        ("spacy", "enrich", ("enrich", "--index", "INDEX")),
        ("pyarrow", "formats", ("load", "news.parquet", "--index", "new", "--format", "parquet")),
        ("datasketch", "formats", ("load", "news.jsonl", "--index", "new", "--duplicates", "drop")),
    ],
)
def test_a_command_without_its_extra_says_what_to_install(
    module: str,
    extra: str,
    command: tuple[str, ...],
    esr_error: Esr,
    index: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("qrels.txt", "a.run", "topics.tsv", "comparison.json", "news.parquet", "news.jsonl"):
        Path(name).write_text("")
    for name in [module, *(name for name in sys.modules if name.startswith(f"{module}."))]:
        monkeypatch.setitem(sys.modules, name, None)
    line = esr_error(*(str(index) if argument == "INDEX" else argument for argument in command))
    assert f" needs {module}" in line
    assert line.endswith(f"which is not installed: pip install 'esr[{extra}]'")
