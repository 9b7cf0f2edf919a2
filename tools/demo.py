"""The demonstration of `make demo`: serves the page, and enriches its index meanwhile at low priority.

    python -m tools.demo INDEX [--port PORT] [--no-enrich]    a folder, served by this environment
    python -m tools.demo --docker [--no-enrich]               Elasticsearch and the page, by docker compose
    python -m tools.demo --newest NEWS.jsonl                  prints the news, the newest first

Quotations need no further package, names need spaCy, vectors an encoder, dossiers the extras access and desk.
Unavailable parts are left out. Whoever logs in with the name and the password that are printed has dossiers.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any, NamedTuple
from urllib.parse import quote

ROOT = Path(__file__).resolve().parents[1]
ESR = (sys.executable, "-c", "from esr.cli import run; run()")
NOTE = "Quotations, names and vectors are added while the demonstration runs, to the newest articles first."
PIP = (sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--editable")
AUDIT = b'"logger":"webui.audit"'
READER = "reader"
"""The name with which one logs in to have dossiers."""
START_SECONDS, STOP_SECONDS, POLL_SECONDS = 900, 20.0, 15.0


class Part(NamedTuple):
    """A part of the enrichment: its name in `esr enrich --only`, its name for people, and its extra."""

    names: str
    title: str
    unlocks: str
    extra: str = ""
    module: str = ""


PARTS = (
    Part("quotes", "quotations", "who said it: speaker: in queries"),
    Part("entities,features,parse", "names", "people, places, organizations as filters", "enrich", "spacy"),
    Part("vectors", "vectors", "the ranking by words and meaning", "meaning", "onnxruntime"),
)


class Links(NamedTuple):
    """Queries that have hits in a collection."""

    search: str
    phrase: str
    speaker: str
    person: str


NEWS = Links("travel ban court", "travel ban", "Sean Spicer", "Theresa May")
EXAMPLES = Links("earthquake relief China", "relief", "Ida Brand", "Ida Brand")


class Demo:
    """A served index, and how its enrichment is started."""

    def __init__(self, address: str, prefix: Sequence[str], *, in_docker: bool) -> None:
        self._address, self._prefix, self._in_docker = address, prefix, in_docker
        self._enrichment: subprocess.Popen[str] | None = None
        self._is_stopped = False

    def wait(self, server: subprocess.Popen[bytes] | None) -> None:
        """Wait until the page answers. Exits if its process has ended."""
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            if server is not None and server.poll() is not None:
                sys.exit(server.returncode)
            try:
                urllib.request.urlopen(f"{self._address}/healthz", timeout=5).close()  # nosec B310  # a server of this tool
                return
            except OSError:
                time.sleep(0.3)
        sys.exit(f"the page did not answer at {self._address} within {START_SECONDS} s")

    def _status(self) -> dict[str, Any]:
        """The status of the index from the page; empty if it is too busy."""
        try:
            with urllib.request.urlopen(f"{self._address}/api/v1/status", timeout=30) as answer:  # nosec B310  # a server of this tool
                status: dict[str, Any] = json.load(answer)
        except OSError:
            return {}
        return status

    def describe(self) -> None:
        """Print five things to try."""
        queries = EXAMPLES if self._status().get("documents", 3779) < 100 else NEWS
        things = (
            ("search", "search", queries.search),
            ("words in context", "concordance", queries.phrase),
            ("over time", "timeline", queries.phrase),
            ("who said it (quotations)", "search", f'speaker:"{queries.speaker}"'),
            ("about a person (names)", "search", f'person:"{queries.person}"'),
        )
        say("five things to try:")
        for title, page, query in things:
            print(f"  {title:24}  {self._address}/{page}?q={quote(query)}", flush=True)

    def enrich(self) -> None:
        """Compute all parts in turn."""
        for part in PARTS:
            reason = self._compute(part)
            if self._is_stopped:
                return
            if reason:
                say(f"{part.title} are left out: {reason}")
            else:
                say(f"{part.title} are ready: {part.unlocks}")
        self.describe()

    def _compute(self, part: Part) -> str:
        """Compute a part, and print its progress. Returns why it failed, or an empty string."""
        if self._in_docker and part.module == "onnxruntime":
            return "the image has no encoder (docs/encoders.md)"
        if not self._in_docker and part.module and find_spec(part.module) is None:
            say(f"installing the extra {part.extra} for {part.title}")
            if reason := self._run(part, *PIP, f"{ROOT}[{part.extra}]"):
                return reason
        return self._run(part, *self._prefix, "enrich", "--only", part.names)

    def _run(self, part: Part, *command: str) -> str:
        """Run a command at the lowest priority. Returns the last line of its output if it fails."""
        self._enrichment = subprocess.Popen(
            ["nice", "-n", "19", *command],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        lines: list[str] = []
        assert self._enrichment.stdout is not None
        reader = threading.Thread(target=lines.extend, args=(self._enrichment.stdout,), daemon=True)
        reader.start()
        last = ""
        while reader.is_alive():
            reader.join(POLL_SECONDS)
            progress = self._progress(part)
            if reader.is_alive() and progress != last:
                say(progress)
                last = progress
        if self._enrichment.wait():
            return (lines or ["it gave no reason"])[-1].strip()
        return ""

    def _progress(self, part: Part) -> str:
        status = self._status()
        if not status or self._is_stopped:
            return ""
        counts = [entry["documents"] for entry in status["enrichment"] if entry["part"] in part.names]
        return f"{part.title}: {max(counts, default=0):,} of {status['documents']:,} articles"

    def stop(self) -> None:
        self._is_stopped = True
        if self._enrichment is not None and self._enrichment.poll() is None:
            self._enrichment.terminate()
            try:
                self._enrichment.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._enrichment.kill()


def say(text: str) -> None:
    if text:
        print(f"== {text}", flush=True)


def make_desk(folder: Path) -> dict[str, str]:
    """Let one person log in, with dossiers in `folder`, and everybody else search.

    Returns the settings of the server; without what this needs, none. A second call keeps the person.
    """
    access, password, secret = folder / "access.json", folder / "password", folder / "secret"
    try:
        if find_spec("argon2") is None or find_spec("sqlalchemy") is None:
            say("installing the extras access and desk for dossiers")
            subprocess.run([*PIP, f"{ROOT}[access,desk]"], check=True, capture_output=True, text=True)
        if not access.exists():
            for file, size in ((password, 9), (secret, 32)):
                file.touch(mode=0o600)
                file.write_text(secrets.token_urlsafe(size), "utf-8")
            people = (
                ("anybody", "--kind", "anybody"),
                (READER, "--kind", "password", "--password-file", str(password)),
            )
            for person in people:
                command = [*ESR, "keys", "add", *person, "--file", str(access)]
                subprocess.run(command, check=True, capture_output=True, text=True)
    except subprocess.CalledProcessError as error:
        access.unlink(missing_ok=True)
        say(f"dossiers are left out: {(error.stderr.strip().splitlines() or ['it gave no reason'])[-1]}")
        return {}
    say(f"log in as {READER} with the password {password.read_text('utf-8')} to save sentences in dossiers")
    return {
        "ESR_ACCESS": str(access),
        "ESR_DESK": str(folder / "desk.sqlite"),
        "ESR_SECRET_FILE": str(secret),
        "ESR_PLAIN_HTTP": "1",
    }


def print_without_audit(log: IO[bytes]) -> None:
    """Print what a server logs, but not who asked for what, which it logs where people log in."""
    for line in log:
        if AUDIT not in line:
            sys.stderr.write(line.decode(errors="replace"))
            sys.stderr.flush()


def serve(index: str, port: int, *, enriches: bool) -> int:
    """Serve a folder until Ctrl-C. Returns the status of the server."""
    settings = {
        "ESR_ACCESS_LOG": "0",
        "ESR_NOTE": NOTE if enriches else "",
        **make_desk(Path(index).resolve().parent),
    }
    environment = {**os.environ, **{k: v for k, v in settings.items() if v}, "ESR_INDEX": index}
    os.environ["ESR_INDEX"] = index
    command = [*ESR, "serve", "--port", str(port)]
    server = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE)
    assert server.stderr is not None
    threading.Thread(target=print_without_audit, args=(server.stderr,), daemon=True).start()
    demo = Demo(f"http://127.0.0.1:{port}", ESR, in_docker=False)
    try:
        demo.wait(server)
        demo.describe()
        if enriches:
            threading.Thread(target=demo.enrich, daemon=True).start()
        return server.wait()
    except KeyboardInterrupt:
        server.terminate()
        return server.wait()
    finally:
        demo.stop()
        server.terminate()


def serve_in_docker(*, enriches: bool) -> int:
    """Start Elasticsearch and the page, and enrich. They keep running afterwards."""
    os.environ.setdefault("ESR_EXTRAS", "enrich" if enriches else "")
    plugin = ("docker", "compose")
    is_plugin = (
        shutil.which("docker") and not subprocess.run([*plugin, "version"], capture_output=True).returncode
    )
    if not is_plugin and shutil.which("docker-compose") is None:
        sys.exit("docker compose is missing: install Docker, or leave ELASTICSEARCH=yes out")
    compose = plugin if is_plugin else ("docker-compose",)
    say("building the image, starting Elasticsearch, loading the news: some minutes the first time")
    if status := subprocess.run([*compose, "up", "--detach", "--build"], cwd=ROOT, check=False).returncode:
        return status
    address = os.environ.get("ESR_LISTEN", "127.0.0.1:8080")
    prefix = (*compose, "run", "--rm", "-T", "--no-deps", "load", "nice", "-n", "19", "esr")
    demo = Demo(f"http://{address}", prefix, in_docker=True)
    try:
        demo.wait(None)
        demo.describe()
        if enriches:
            demo.enrich()
    except KeyboardInterrupt:
        demo.stop()
    say(f"the page stays at http://{address}/; {' '.join(compose)} down stops it")
    return 0


def print_newest_first(news: Path) -> None:
    lines = news.read_text("utf-8").splitlines()
    for line in sorted(lines, key=lambda line: str(json.loads(line).get("date", "")), reverse=True):
        print(line)


def main() -> int:
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("index", nargs="?", default="")
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--no-enrich", action="store_true")
    parser.add_argument("--docker", action="store_true")
    parser.add_argument("--newest", type=Path)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if options.newest:
        print_newest_first(options.newest)
        return 0
    if options.docker:
        return serve_in_docker(enriches=not options.no_enrich)
    return serve(options.index, options.port, enriches=not options.no_enrich)


if __name__ == "__main__":
    sys.exit(main())
