"""Clients of the API, generated from its OpenAPI document as users of the API generate theirs."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from flask import Flask
from werkzeug.serving import make_server

from tests.support.api_calls import CALLS, choose_call
from tests.support.distribution import cache_folder, fill_and_rename, locked
from tests.support.runs import end_test, need
from tests.support.web_servers import serving
from webui.api.operation import BASE
from webui.api.operations import OPERATIONS, openapi_document
from webui.running.settings import Settings

PACKAGES = ("openapi-python-client==0.29.1", "typer==0.27.3")
"""The generator, and the release of typer that it asks for, which is older than spaCy's."""


def generate_client(document: dict[str, Any], folder: Path) -> None:
    """Write the client's package into a folder. Fails where the generator leaves anything out."""
    folder.mkdir()
    (folder / "openapi.json").write_text(json.dumps(document))
    (folder / "config.yml").write_text("post_hooks: []\n")
    paths = [f"--path={folder / 'openapi.json'}", f"--config={folder / 'config.yml'}"]
    output = [f"--output-path={folder / 'esr_client'}", "--meta=none", "--fail-on-warning"]
    done = subprocess.run(
        [sys.executable, "-m", "openapi_python_client", "generate", *paths, *output],
        env={**os.environ, "PYTHONPATH": str(_install())},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def _install() -> Path:
    """The folder with the generator, apart from the environment: installed once per user."""
    final = cache_folder() / PACKAGES[0].replace("==", "-")
    with locked(final.parent):
        if not final.is_dir():
            try:
                fill_and_rename(final, _fetch)
            except subprocess.CalledProcessError as error:
                end_test(f"needs {PACKAGES[0]} of a package registry: {error.stderr.strip()}")
    return final


def _fetch(folder: Path) -> None:
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    command = [*pip, "--no-deps", "--target", str(folder), *PACKAGES]
    subprocess.run(command, check=True, capture_output=True, text=True)


NODE_PACKAGES = ("openapi-typescript@7.13.0", "openapi-fetch@0.17.0", "typescript@5.9.3")


def generate_types(document: dict[str, Any], folder: Path) -> None:
    """Write the types of the API into a folder, for programs in TypeScript that import `./schema.js`."""
    modules = _install_node_packages() / "node_modules"
    folder.mkdir()
    (folder / "node_modules").symlink_to(modules)
    (folder / "package.json").write_text('{"type": "module"}')
    (folder / "openapi.json").write_text(json.dumps(document))
    _run(folder, str(modules / ".bin" / "openapi-typescript"), "openapi.json", "-o", "schema.ts")


def run_typescript(folder: Path, program: str) -> str:
    """What a program prints, compiled with strict checks. Raises AssertionError if it does not compile."""
    (folder / "program.ts").write_text(program)
    options = ["--strict", "--target", "es2022", "--module", "nodenext", "--lib", "es2022,dom"]
    _run(folder, "node_modules/.bin/tsc", *options, "--exactOptionalPropertyTypes", "program.ts")
    return _run(folder, "node", "program.js")


def _run(folder: Path, *command: str) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _install_node_packages() -> Path:
    """The folder with the packages of node, installed once per user."""
    if not (shutil.which("node") and shutil.which("npm")):
        end_test("needs node and npm")
    final = cache_folder() / NODE_PACKAGES[0].replace("@", "-")
    with locked(final.parent):
        if not final.is_dir():
            try:
                fill_and_rename(final, _fetch_node_packages)
            except subprocess.CalledProcessError as error:
                end_test(f"needs {NODE_PACKAGES[0]} of the registry of npm: {error.stderr.strip()}")
    return final


def _fetch_node_packages(folder: Path) -> None:
    command = [
        "npm",
        "install",
        "--no-audit",
        "--no-fund",
        "--silent",
        "--prefix",
        str(folder),
        *NODE_PACKAGES,
    ]
    subprocess.run(command, check=True, capture_output=True, text=True)


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """The package of a generated client."""
    for module in ("attrs", "httpx", "dateutil"):
        need(module)
    folder = tmp_path_factory.mktemp("generated") / "client"
    generate_client(openapi_document(Settings(), BASE), folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield importlib.import_module("esr_client")


@pytest.mark.slow
@pytest.mark.parametrize("name", OPERATIONS)
def test_a_generated_client_reads_all_of_an_answer(
    generated: ModuleType, app: Flask, name: str, where: str, tmp_path: Path
) -> None:
    import httpx

    app, arguments = choose_call(name, app, where, tmp_path)

    base = f"http://localhost{BASE}"
    client = generated.Client(base_url=base)
    client.set_httpx_client(httpx.Client(transport=httpx.WSGITransport(app=app), base_url=base))
    call = importlib.import_module(f"esr_client.api.default.{name}").sync_detailed
    if OPERATIONS[name].body:
        models = importlib.import_module("esr_client.models")
        body = getattr(models, "".join(word.capitalize() for word in name.split("_")) + "Body")
        arguments = {"body": body.from_dict(arguments)}
    answer = call(client=client, **arguments)
    assert answer.status_code == (400 if name == "query" else 200), answer.content
    expected = "Error" if name == "query" else OPERATIONS[name].answer
    assert type(answer.parsed).__name__ == expected
    assert answer.parsed.to_dict() == json.loads(answer.content)


@pytest.mark.slow
def test_a_generated_client_tells_answers_of_a_batch_from_errors(generated: ModuleType, app: Flask) -> None:
    models = importlib.import_module("esr_client.models")
    answers = app.test_client().post(f"{BASE}/batch", json=CALLS["batch"]).get_json()
    kinds = [type(answer) for answer in models.Batch.from_dict(answers).answers]
    assert kinds == [models.BatchAnswer, models.BatchError]


@pytest.mark.slow
def test_a_generated_comparison_has_typed_hits(generated: ModuleType, app: Flask) -> None:
    models = importlib.import_module("esr_client.models")
    data = app.test_client().get(f"{BASE}/compare?q=storm").get_json()
    (hit, *_) = models.Comparison.from_dict(data).left.hits
    assert type(hit) is models.ComparedHit
    assert (hit.rank, hit.sentence_id) == (1, data["left"]["hits"][0]["sentence_id"])
    assert hit.additional_properties == {}


@pytest.mark.slow
def test_a_generated_hit_has_what_was_asked_for_and_no_more(generated: ModuleType, app: Flask) -> None:
    models = importlib.import_module("esr_client.models")
    data = app.test_client().get(f"{BASE}/search?q=storm&fields=text,matches&window=1").get_json()
    (hit, *_) = models.Page.from_dict(data).hits
    assert (hit.matches[0].start, hit.window.before) == (data["hits"][0]["matches"][0]["start"], [])
    assert hit.score is importlib.import_module("esr_client.types").UNSET


@contextmanager
def listening(app: Flask) -> Iterator[str]:
    """The address of the API while the application is served."""
    with serving(make_server("127.0.0.1", 0, app, threaded=True)) as server:
        yield f"http://127.0.0.1:{server.port}{BASE}"


PROGRAM = """
import createClient from "openapi-fetch";
import type { paths } from "./schema.js";

const client = createClient<paths>({ baseUrl: "%s" });
const kinds: Record<string, string> = {};
function tell(name: string, response: Response, data: object | string | undefined): void {
  kinds[name] = `${response.status} ${data === undefined ? "error" : typeof data}`;
}
%s
const query = { q: "storm", fields: ["text", "score"] as ("text" | "score")[], k: 1 };
const { data } = await client.GET("/search", { params: { query } });
const hit = data!.hits[0]!;
const text: string = hit.text ?? "";
console.log(JSON.stringify({ kinds, text, score: hit.score! < 0 }));
"""


@pytest.fixture(scope="module")
def typed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the types of the API in TypeScript."""
    folder = tmp_path_factory.mktemp("typed") / "client"
    generate_types(openapi_document(Settings(), BASE), folder)
    return folder


def call_in_typescript(name: str) -> str:
    operation, arguments = OPERATIONS[name], CALLS[name]
    query = {key.replace("prior_", "prior."): value for key, value in arguments.items()}
    given = {"body": arguments} if operation.body else {"params": {"query": query}} if query else {}
    call = f"await client.{operation.method}({json.dumps(operation.path)}, {json.dumps(given)})"
    return f"{{ const {{ data, response }} = {call}; tell({json.dumps(name)}, response, data); }}"


@pytest.mark.slow
def test_a_generated_typescript_client_calls_every_operation_without_a_desk(app: Flask, typed: Path) -> None:
    with listening(app) as address:
        program = PROGRAM % (address, "\n".join(map(call_in_typescript, CALLS)))
        printed = json.loads(run_typescript(typed, program))
    assert printed["kinds"] == {name: "400 error" if name == "query" else "200 object" for name in CALLS}
    assert "storm" in printed["text"].lower() and printed["score"]


@pytest.mark.slow
def test_a_program_in_typescript_that_misuses_the_api_does_not_compile(typed: Path) -> None:
    wrong = PROGRAM % (
        "http://localhost",
        'await client.GET("/search", { params: { query: { k: "three" } } });',
    )
    with pytest.raises(AssertionError, match=r"program\.ts"):
        run_typescript(typed, wrong)


@pytest.mark.slow
def test_a_generated_status_has_typed_fields(generated: ModuleType, app: Flask) -> None:
    models = importlib.import_module("esr_client.models")
    status = models.Status.from_dict(app.test_client().get(f"{BASE}/status").get_json())
    assert (status.documents, status.sentences, status.title) == (32, 65, True)
