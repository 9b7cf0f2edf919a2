from __future__ import annotations

import json

from flask import Flask

from webui.api.operation import json_response


def test_any_parser_accepts_the_json_of_an_answer() -> None:
    with Flask("test").app_context():
        text = json_response({"score": float("nan"), "text": "é"}).get_data(as_text=True)

    def reject(constant: str) -> None:
        raise ValueError(constant)

    assert json.loads(text, parse_constant=reject) == {"score": None, "text": "é"}
