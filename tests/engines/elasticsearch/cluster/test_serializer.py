"""Requests are written and answers parsed as Python's own JSON does."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from elasticsearch.exceptions import SerializationError
from elasticsearch.serializer import JsonSerializer

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


@pytest.mark.parametrize(
    "request_body",
    [
        {"query": {"term": {"text": {"value": "ä𝒳", "boost": 0.1}}}, "size": 10, "track_total_hits": False},
        {"params": {"numbers": [1e-300, 12345678901234567890, -0.0, 9.070897348695905e-05, True, None]}},
        {"tuple": (1, 2), "quoted": 'a "b" \\ \n', "half a surrogate pair": "\ud800"},
        {"numpy": [np.float64(0.5), np.int64(3), np.float32(0.25)]},
    ],
)
def test_a_request_says_what_python_writes(request_body: dict[str, Any]) -> None:
    written = FastJsonSerializer().dumps(request_body).decode("utf-8", "surrogatepass")
    assert json.loads(written) == json.loads(JsonSerializer().dumps(request_body))


def test_what_json_does_not_have_is_an_error_of_the_client() -> None:
    with pytest.raises(SerializationError):
        FastJsonSerializer().dumps({"object": object()})
