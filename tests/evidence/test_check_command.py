"""`esr check`: a quotation, a text with several, and the draft in a file."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import call


def test_a_quotation_is_checked_as_text_and_as_json(folder: str) -> None:
    shown = call("check", "an historic moment for which there can be", "--index", folder).stdout
    assert "exactly so: “an historic moment for which there can be”" in shown
    assert "first: cnn.com, 2017-03-28, cnn.s0" in shown and "(differs: for → from)" in shown
    found = json.loads(call("check", "no way back at all", "--format", "json", "--index", folder).stdout)
    (quotation,) = found["quotations"]
    assert {"text", "verdict", "speaker", "first", "later", "differences", "nearest"} <= {*quotation}
    assert (quotation["verdict"], quotation["first"], quotation["later"]) == ("none", None, [])


def test_the_name_of_a_file_checks_the_draft_in_it(folder: str, tmp_path: Path) -> None:
    draft = tmp_path / "draft.md"
    draft.write_text("**Teresa May** said “an historic moment”. Prices rose 3 percent in Russia.")
    shown = call("check", draft, "--index", folder).stdout
    assert "name: Teresa May (0 sentences); similar: Theresa May (3)" in shown
    assert "number: 3 percent; in the evidence: 5 percent" in shown
    for given in ([draft], ["--file", draft]):
        found = json.loads(call("check", *given, "--format", "json", "--index", folder).stdout)
        assert [*found] == ["text", "quotations", "sentences", "names"]
        assert found["sentences"][1]["evidence"][0]["sentence_id"] == "dw.s1"
    piped = call("check", "--file", "-", "--format", "json", "--index", folder, input="He left the House.")
    assert json.loads(piped.stdout)["sentences"][0]["text"] == "He left the House."
    latin = call("check", "--file", "-", "--index", folder, input="He left the café.".encode("latin-1"))
    assert (
        latin.exit_code != 0
        and latin.stderr == "Error: standard input is not UTF-8: convert it first, for example with iconv\n"
    )


def test_a_call_without_one_text_is_refused(folder: str, tmp_path: Path) -> None:
    for given in ([], ["a", "--file", tmp_path / "b"], ["--file", tmp_path / "none.txt"], ["none.docx"]):
        result = call("check", *given, "--index", folder)
        assert result.exit_code != 0 and result.stderr.startswith("Error: ")
