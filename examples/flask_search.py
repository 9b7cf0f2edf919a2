"""A search service with Flask: `ESR_INDEX=my-index flask --app examples/flask_search run`."""

import os

from flask import Flask, Response, jsonify, request

import esr

app = Flask(__name__)
index = esr.open(os.environ["ESR_INDEX"])  # all threads share it, and so may processes forked from this one


@app.get("/search")
def search() -> Response:
    hits = index.search(
        request.args.get("q", ""),
        request.args.get("k", 10, type=int),
        source=request.args.getlist("source"),
        after=request.args.get("after"),
    )
    return jsonify(total=hits.total, hits=hits.as_dicts(), **hits.facets("source"))


@app.errorhandler(esr.UsageError)
def tell(error: esr.UsageError) -> tuple[Response, int]:
    return jsonify(error=str(error)), 422
