"""Answers are parsed to what Python's own parser gives."""

from __future__ import annotations

import json

import pytest
from elasticsearch.exceptions import SerializationError

from esr.engines.elasticsearch.cluster.serializer import FastJsonSerializer


@pytest.mark.parametrize(
    "text",
    [
        '{"hits": [{"_score": 1.25, "sort": [-3.5e-7, 12]}], "timed_out": false, "max": null}',
        '["ä𝒳", "\\u00e4\\ud835\\udcb3", "\\ud800"]',
        "[123456789012345678901234567890, 1e400]",
        "{}",
    ],
)
def test_an_answer_is_what_python_reads(text: str) -> None:
    assert FastJsonSerializer().loads(text.encode()) == json.loads(text)


@pytest.mark.parametrize("text", ["{", "[1,]", "no answer"])
def test_what_is_no_json_is_an_error_of_the_client(text: str) -> None:
    with pytest.raises(SerializationError):
        FastJsonSerializer().loads(text.encode())
