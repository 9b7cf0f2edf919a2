"""The steps of the trial. Each prints what it finds, and raises Failed."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tools.containers.stack import THREE_NODES, Failed, Stack, docker
from tools.containers.traffic import Traffic

_VERSION_LABEL = "org.opencontainers.image.version"
LARGEST_IMAGE_MB = 375
"""The goal for the size of the image. The names of all languages in all languages, of babel, take 36."""
_WAIT_SECONDS = 300
_OUTAGE_SECONDS = 40
_RATE = 20.0
_LEAST_ANSWERED = 0.95
"""Minimum share of searches answered while a node is lost. A busy machine refuses some, with the reason."""
_UNWANTED = {
    "setup": ("Could not determine local host name",),
    "elasticsearch": ("configured as if to discover",),
    "load": ("Error:", "Traceback"),
    "keys": ("Error:", "Traceback"),
}
"""Patterns that the logs of a first start must not contain."""
NEWS = "".join(
    json.dumps({"id": f"quokka-{n}", "date": "2024-03-05", "text": f"The quokka {n} was seen. It ate."})
    + "\n"
    for n in range(40)
)


def say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')}  {text}", flush=True)


@contextmanager
def timed(text: str) -> Iterator[None]:
    began = time.monotonic()
    yield
    say(f"{text}: {time.monotonic() - began:.0f} s")


def wait_for(what: str, is_there: Callable[[], bool]) -> float:
    """Seconds until `is_there` is true. Raises Failed if it takes too long."""
    began = time.monotonic()
    while time.monotonic() - began < _WAIT_SECONDS:
        try:
            if is_there():
                return time.monotonic() - began
        except Failed:
            pass
        time.sleep(0.5)
    raise Failed(f"{what} did not come within {_WAIT_SECONDS} s")


def build(stack: Stack) -> None:
    with timed("image built"):
        stack.compose("build", "image")
    size = int(docker("image", "inspect", "--format", "{{.Size}}", stack.image)) / 1e6
    base = int(docker("image", "inspect", "--format", "{{.Size}}", "python:3.11-slim")) / 1e6
    say(f"the image has {size:.0f} MB, {size - base:.0f} of them beside its base")
    if size > LARGEST_IMAGE_MB:
        raise Failed(f"the image is larger than {LARGEST_IMAGE_MB} MB")
    label = docker(
        "image", "inspect", "--format", f'{{{{index .Config.Labels "{_VERSION_LABEL}"}}}}', stack.image
    )
    if (said := docker("run", "--rm", stack.image, "esr", "--version")) != f"esr, version {label}":
        raise Failed(f"the image has the label {label}, and esr in it says {said!r}")


def start(stack: Stack) -> None:
    """Start without data, search through the page, and check the logs."""
    with timed("first up, to the first search"):
        stack.compose("up", "-d", "--no-build")
        wait_for("the page", lambda: bool(stack.search("earthquake")))
    status, page = stack.ask("/search?q=earthquake")
    if status != 200 or "<mark" not in page:
        raise Failed(f"the page answers {status}: {page[:300]}")
    for service, texts in _UNWANTED.items():
        log = stack.logs(service)
        for text in texts:
            if text in log:
                raise Failed(f"the log of {service} says {text!r}")
    say(f"of them {', '.join(f'{service} {seconds:.0f} s' for service, seconds in stack.seconds().items())}")
    say(f"memory: {stack.memory()}")


def load(stack: Stack, replicas: str = "") -> None:
    """Load news from standard input in place of the present documents."""
    with timed("load from standard input"):
        more = ["--replicas", replicas] if replicas else []
        stack.esr("load", "-", "--if-exists", "replace", *more, input=NEWS)
    has_news(stack)
    with timed("esr status"):
        status = stack.esr("status")
    if "documents    40" not in status:
        raise Failed(f"esr status says {status}")


def has_news(stack: Stack) -> bool:
    """Whether searches find all loaded documents. Raises Failed."""
    found = {hit["document_id"] for hit in stack.search("quokka seen")}
    status, text = stack.ask("/api/v1/search?q=quokka&k=100")
    documents = {hit["document_id"] for hit in json.loads(text)["hits"]} if status == 200 else set()
    if not found or len(documents) != 40:
        raise Failed(f"{len(documents)} of 40 documents are found")
    return True


def kill_page(stack: Stack) -> None:
    """Kill the page, which must restart by itself."""
    stack.kill("esr")
    say(f"page killed, back after {wait_for('the page', lambda: has_news(stack)):.0f} s")


def kill_elasticsearch(stack: Stack) -> None:
    """Kill Elasticsearch, which must restart by itself; until then, searches get a clear refusal."""
    with Traffic(stack, 5) as traffic:
        stack.kill("elasticsearch")
        time.sleep(2)
        seconds = wait_for("Elasticsearch", lambda: has_news(stack))
    say(f"Elasticsearch killed, back after {seconds:.0f} s: {traffic.summary()}")
    traffic.check({200, 503})


def down_and_up(stack: Stack) -> None:
    with timed("down"):
        stack.compose("down")
    if stack.remains()["containers"]:
        raise Failed("down leaves containers")
    with timed("up again"):
        stack.compose("up", "-d", "--no-build")
        wait_for("the page", lambda: has_news(stack))


def grow(stack: Stack) -> None:
    """Grow from one node to three, with the data of the first."""
    stack.use(THREE_NODES)
    with timed("up with three nodes"):
        stack.compose("up", "-d", "--no-build")
        wait_for("the page", lambda: has_news(stack))
    load_with_copies(stack)
    say(f"memory: {stack.memory()}")


def start_three(stack: Stack) -> None:
    """Start three nodes without data."""
    stack.use(THREE_NODES)
    start(stack)


def load_with_copies(stack: Stack) -> None:
    seconds = wait_for("three nodes", lambda: nodes(stack) == 3)
    say(f"three nodes after {seconds:.0f} s more")
    load(stack, replicas="1")


def nodes(stack: Stack) -> int:
    return int(ask_elasticsearch(stack, "GET", "_cluster/health")["number_of_nodes"])


def ask_elasticsearch(stack: Stack, method: str, path: str, body: object = None) -> Any:
    """Send a request to Elasticsearch, as in docs/containers.md."""
    curl = 'curl -fsS --cacert config/certificates/ca.crt -u "elastic:$(cat /login/elastic)" "$@"'
    arguments = ["-X", method, f"https://localhost:9200/{path}"]
    if body is not None:
        arguments += ["-H", "Content-Type: application/json", "-d", json.dumps(body)]
    node = stack.containers()["elasticsearch"]
    return json.loads(docker("exec", node, "bash", "-c", curl, "curl", *arguments))


def back_up(stack: Stack) -> None:
    """Make a snapshot of the loads, delete them, and restore them."""
    repository, snapshot = "_snapshot/backup", "_snapshot/backup/monday"
    fs = {"type": "fs", "settings": {"location": "/backups/news"}}
    everything = {"indices": "news-*-esr-*", "include_global_state": True}
    loads = {"indices": "news-2*-esr-*", "include_global_state": False}
    ask_elasticsearch(stack, "PUT", repository, fs)
    ask_elasticsearch(stack, "PUT", f"{snapshot}?wait_for_completion=true", everything)
    stack.compose("run", "--rm", "-T", "load", "sh", "-c", 'esr delete --index "$ESR_INDEX" --yes')
    if stack.ask("/api/v1/search?q=quokka")[0] != 503:
        raise Failed("an index that was deleted is searched")
    ask_elasticsearch(stack, "POST", f"{snapshot}/_restore?wait_for_completion=true", loads)
    say(f"snapshot restored, searched after {wait_for('the index', lambda: has_news(stack)):.0f} s")


def lose_a_node(stack: Stack) -> None:
    """Kill one of three nodes during searches, which must go on."""
    with Traffic(stack, _RATE) as traffic:
        time.sleep(10)
        stack.kill("elasticsearch-2")
        time.sleep(_OUTAGE_SECONDS)
    say(f"one of three nodes killed at {_RATE:g} searches a second: {traffic.summary()}")
    traffic.check({200, 503}, least=_LEAST_ANSWERED)
    say(f"it is back after {_OUTAGE_SECONDS + wait_for('the third node', lambda: nodes(stack) == 3):.0f} s")


def run_round(stack: Stack, number: int, chance: random.Random) -> None:
    """Kill a container during searches, then stop and start all: nothing may be lost."""
    harm = chance.choice(("page", "worker", "elasticsearch", "pause"))
    with Traffic(stack, 5) as traffic:
        if harm == "worker":
            docker("exec", stack.containers()["esr"], "python", "-c", _KILL_WORKER)
        elif harm == "pause":
            node = stack.containers()["elasticsearch"]
            docker("pause", node)
            time.sleep(10)
            docker("unpause", node)
        else:
            stack.kill("esr" if harm == "page" else harm)
        time.sleep(1)
        seconds = wait_for(harm, lambda: has_news(stack))
    refusals = {200, 503} if harm != "page" and harm != "worker" else {0, 200, 503}
    traffic.check(refusals)
    stack.compose("down")
    stack.compose("up", "-d", "--no-build")
    wait_for("the page", lambda: has_news(stack))
    say(
        f"round {number}: {harm} killed, back after {seconds:.0f} s; {traffic.summary()}; down, up, all there"
    )


_KILL_WORKER = (
    "import os, pathlib, signal\n"
    "stats = [p.read_text() for p in pathlib.Path('/proc').glob('[0-9]*/stat')]\n"
    "of = {int(s.split()[0]): int(s.rpartition(')')[2].split()[1]) for s in stats}\n"
    "workers = [pid for pid, parent in of.items() if parent == 1 and pid != os.getpid()]\n"
    "os.kill(min(workers), signal.SIGKILL)\n"
)
