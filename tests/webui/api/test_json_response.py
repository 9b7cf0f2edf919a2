from __future__ import annotations

import json

from flask import Flask

from webui.api.json_response import json_response, replace_nonfinite


def test_numbers_that_json_does_not_have_become_null_at_any_depth() -> None:
    nan, inf = float("nan"), float("inf")
    data = {"a": nan, "b": [1.5, -inf, {"c": (inf, 2)}], "d": None, "e": "NaN", "f": True}
    assert replace_nonfinite(data) == {
        "a": None,
        "b": [1.5, None, {"c": [None, 2]}],
        "d": None,
        "e": "NaN",
        "f": True,
    }


def test_any_parser_accepts_the_json_of_an_answer() -> None:
    with Flask("test").app_context():
        text = json_response({"score": float("nan"), "text": "é"}).get_data(as_text=True)

    def reject(constant: str) -> None:
        raise ValueError(constant)

    assert json.loads(text, parse_constant=reject) == {"score": None, "text": "é"}
