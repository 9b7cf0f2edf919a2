"""The commands and the encoder of docs/meaning.md are run as they stand, with the real default encoder."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest

from esr.encoders import EncoderDescription
from tests.support.distribution import find_maven
from tests.test_readme import ROOT, folder, run

__all__ = ["folder"]
PAGE = (ROOT / "docs" / "meaning.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.slow
def test_the_commands_of_the_page_work_in_their_order(folder: Path) -> None:
    find_maven()
    shutil.copy(folder / "examples" / "articles.jsonl", folder / "news.jsonl")
    run(["esr", "load", "news.jsonl", "--index", "my-index"], folder)
    commands = [line for block in blocks("sh") for line in block.splitlines() if line.startswith("esr ")]
    for line in commands:
        command = shlex.split(line)
        if command[1] == "load":
            command += ["--if-exists", "replace"]
        assert run(command, folder), line
    assert len(commands) >= 4
    by_meaning = ["esr", "search", "seismic shock", "--index", "my-index", "--ranking", "hybrid", "--json"]
    hits = json.loads(run(by_meaning, folder))["hits"]
    assert "earthquake" in hits[0]["document_id"], "found without a word in common"


def test_the_description_on_the_page_is_one_that_esr_reads() -> None:
    (block,) = blocks("json")
    description = EncoderDescription.from_dict(json.loads(block), "docs/meaning.md")
    assert description.query_prefix == "query: "
    for name in EncoderDescription.__dataclass_fields__:
        assert f"`{name}`" in PAGE, name
