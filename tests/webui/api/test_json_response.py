from __future__ import annotations

import json

from flask import Flask

from webui.api.json_response import finite, json_answer


def test_numbers_that_json_does_not_know_become_null_wherever_they_stand() -> None:
    nan, inf = float("nan"), float("inf")
    data = {"a": nan, "b": [1.5, -inf, {"c": (inf, 2)}], "d": None, "e": "NaN", "f": True}
    assert finite(data) == {"a": None, "b": [1.5, None, {"c": [None, 2]}], "d": None, "e": "NaN", "f": True}


def test_an_answer_is_json_that_any_reader_takes() -> None:
    with Flask("test").app_context():
        text = json_answer({"score": float("nan"), "text": "é"}).get_data(as_text=True)

    def refuse(constant: str) -> None:
        raise ValueError(constant)

    assert json.loads(text, parse_constant=refuse) == {"score": None, "text": "é"}
