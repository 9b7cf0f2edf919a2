"""Histories as data: what is done, and what goes wrong meanwhile. A seed makes one.

Nothing in a step depends on the state of the world. So a history with fewer steps, or with an earlier crash,
is a history too, and one that fails can be shrunk.
"""

from __future__ import annotations

import errno
import json
import random
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from esr.text.document import Document, Sentence, default_sentence_id
from tests.simulation.file_system import CONTENT, ENTRIES, Loss

# Documents

WORDS = ["storm", "flood", "relief", "river", "bank", "court", "vote", "rail"]
DOCUMENTS = 8
VERSIONS = 3


class Ref(NamedTuple):
    """A document by its number and its version: each version has other sentences."""

    number: int
    version: int

    @property
    def document(self) -> Document:
        chance = random.Random(f"{self.number}.{self.version}")
        id = f"d{self.number}"
        texts = [" ".join(chance.choices(WORDS, k=chance.randint(1, 6))) for _ in range(chance.randint(1, 3))]
        own_id = chance.random() < 0.2
        ids = [f"{id}-own" if own_id and n == 1 else default_sentence_id(id, n) for n in range(len(texts))]
        title = chance.choice([None, "flood of votes"])
        return Document(
            id, tuple(map(Sentence, ids, texts)), title=title, source=chance.choice([None, "Wire"])
        )


# What goes wrong


class Crash(msgspec.Struct, frozen=True, tag=True):
    """The power fails. `at` is the part of the step's calls that were made, from 0 to 1.

    With `near`, it fails so many calls after (or before) a file gets another content at once, and `at` says
    which of these calls: there a mistake of order shows.
    """

    at: float
    loss: Loss
    near: int | None = None


class Failure(msgspec.Struct, frozen=True, tag=True):
    """A call fails, and all later ones if it `persists`. A crash may follow."""

    call: int
    code: int
    persists: bool
    then: Crash | None = None


class Visit(msgspec.Struct, frozen=True, tag=True):
    """Another process acts before a call: it reads the index, makes a backup of it, or tries to write."""

    call: int
    what: str


class Disturbance(msgspec.Struct, frozen=True, tag=True):
    """A request to a server goes wrong, and all later ones if it `persists`.

    `busy` and `unavailable` are refused, and `cut` does not arrive. `lost` is carried out, but not answered;
    `repeated` is carried out twice. `part` leaves out an item of a bulk request, or a shard of a search.
    """

    request: int
    kind: str
    persists: bool = False

    def concerns(self, number: int) -> bool:
        return number == self.request or (self.persists and number > self.request)


class Kill(msgspec.Struct, frozen=True, tag=True):
    """A run of alerts is killed before a call: a statement, a commit, or before or after a letter is sent."""

    call: int


class Meeting(msgspec.Struct, frozen=True, tag=True):
    """Another process runs the alerts too, before this call or the next one at which the desk is free."""

    call: int


ANN, BOB = "mailto:ann@example.org", "mailto:bob@example.org"


class Refusal(msgspec.Struct, frozen=True, tag=True):
    """Letters to these targets are refused, for good if it `is_final`.

    If it `is_received`, they arrive, and the sender does not hear of it.
    """

    targets: tuple[str, ...] = ()
    is_final: bool = False
    is_received: bool = False


DISTURBANCES = ("busy", "unavailable", "cut", "lost", "repeated", "part")
CALLS = 160
"""Few steps make more calls than this."""
RUN_CALLS = 100
"""Few runs of alerts make more calls than this."""
VISITS = ("read", "back up", "write")
CODES = (errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EFBIG, errno.EROFS)


# Steps


class Step(msgspec.Struct, frozen=True):
    """One command. `seconds` is by how much the clock goes on before it, or back.

    `number` is of a kept generation, or of a saved search. `settles`: the system has written everything to
    disk before the step. `searches`: queries are compared after it too.
    """

    kind: str
    documents: tuple[Ref, ...] = ()
    ids: tuple[str, ...] = ()
    keep: int = 1
    number: int = 0
    version: str = "1"
    resumes: bool = False
    seconds: float = 60.0
    settles: bool = False
    searches: bool = False
    trouble: Crash | Failure | Visit | Disturbance | Kill | Meeting | Refusal | None = None


KINDS = {
    "load": 3,
    "append by load": 2,
    "deliver": 6,
    "remove": 3,
    "enrich": 4,
    "roll back": 2,
    "roll back to": 1,
    "delete": 2,
    "delete all": 1,
    "back up": 3,
    "restore": 2,
    "sync": 3,
    "stale load": 0.5,
    "stale delivery": 0.5,
}
"""The kinds of steps, with how often each is drawn."""
WITH_ALERTS = {
    "load": 0.5,
    "append by load": 0.5,
    "deliver": 6,
    "remove": 1,
    "enrich": 0.5,
    "roll back": 1,
    "delete all": 0.3,
    "back up": 0.5,
    "restore": 0.7,
    "add alert": 2,
    "pause alert": 1,
    "run alerts": 9,
}
"""The kinds of histories of alerts."""
OF_ALERTS = ("add alert", "pause alert", "run alerts")
JUMPS = (60.0, 0.0, 0.000001, -3600.0, 86400.0 * 400, -86400.0 * 400)


class History(msgspec.Struct, frozen=True):
    """So many terms fill a segment, and files of up to `small` bytes are read when they are opened."""

    steps: tuple[Step, ...]
    full_terms: int = 4_000_000
    small: int = 4096
    batch: int = 4
    """The number of sentences of a batch of enrichment."""


NEED_FOLDERS = {"back up", "restore", "stale load", "stale delivery"}
"""A load into a server replaces what is served at its end, and a delivery is refused if that has changed."""
ON_SERVERS = {kind: weight for kind, weight in KINDS.items() if kind not in NEED_FOLDERS}


def draw_history(seed: int, *, faults: bool = True, kinds: Mapping[str, float] = KINDS) -> History:
    """The history of a seed: with or without faults, of these kinds of steps."""
    chance = random.Random(seed)
    steps = [draw_step(chance, faults, kinds) for _ in range(chance.randint(2, 6))]
    first = msgspec.structs.replace(steps[0], kind="load", documents=_refs(chance, 4))
    return History(
        (first, *steps[1:]),
        full_terms=chance.choice([4_000_000, 4_000_000, 4_000_000, 12]),
        small=chance.choice([0, 4096]),
        batch=chance.choice([2, 50]),
    )


def draw_alert_history(seed: int) -> History:
    """The history of a seed with alerts. Most troubles are theirs: few steps of the index have one."""
    chance = random.Random(f"alerts of {seed}")
    history = draw_history(seed, kinds=WITH_ALERTS)
    begin = (Step("add alert", number=chance.randrange(3)), Step("run alerts"))
    more = [draw_step(chance, True, WITH_ALERTS) for _ in range(chance.randint(2, 8))]
    drawn = [
        msgspec.structs.replace(step, trouble=_draw_of_alerts(chance, step))
        for step in (*history.steps[1:], *more)
    ]
    first = msgspec.structs.replace(history.steps[0], trouble=None)
    return msgspec.structs.replace(history, steps=(first, *begin, *drawn))


def _draw_of_alerts(chance: random.Random, step: Step) -> Any:
    if step.kind not in OF_ALERTS:
        return step.trouble if chance.random() < 0.2 else None
    way = chance.random()
    if step.kind != "run alerts" or way < 0.3:
        return None
    if way < 0.7:
        return Kill(chance.randint(1, RUN_CALLS))
    if way < 0.85:
        return Meeting(chance.randint(1, RUN_CALLS))
    is_final = chance.random() < 0.2
    targets = chance.choice([(ANN,), (BOB,), (ANN, BOB)])
    return Refusal(targets, is_final, not is_final and chance.random() < 0.4)


def draw_server_history(seed: int) -> History:
    """The history of a seed on a server, where three of four steps are disturbed."""
    history = draw_history(seed, faults=False, kinds=ON_SERVERS)
    chance = random.Random(f"disturbances of {seed}")
    disturbed = [
        msgspec.structs.replace(step, trouble=draw_disturbance(chance) if chance.random() < 0.75 else None)
        for step in history.steps
    ]
    return msgspec.structs.replace(history, steps=tuple(disturbed))


def draw_disturbance(chance: random.Random) -> Disturbance:
    """Most steps make 10 to 60 requests."""
    return Disturbance(1 + int(60 * chance.random()), chance.choice(DISTURBANCES), chance.random() < 0.25)


def draw_step(chance: random.Random, faults: bool, kinds: Mapping[str, float]) -> Step:
    (kind,) = chance.choices(list(kinds), list(kinds.values()))
    return Step(
        kind,
        _refs(chance, 4),
        tuple(f"d{number}" for number in chance.sample(range(DOCUMENTS), chance.randint(0, 3))),
        chance.choice([0, 1, 1, 2, 3]),
        chance.randrange(4),
        chance.choice("12"),
        chance.random() < 0.5,
        chance.choice(JUMPS) if chance.random() < 0.3 else 60.0,
        chance.random() < 0.3,
        chance.random() < 0.1,
        draw_trouble(chance) if faults and chance.random() < 0.75 else None,
    )


def draw_trouble(chance: random.Random) -> Crash | Failure | Visit:
    way = chance.random()
    if way < 0.6:
        return draw_crash(chance)
    if way < 0.85:
        then = draw_crash(chance) if chance.random() < 0.4 else None
        return Failure(_call(chance), chance.choice(CODES), chance.random() < 0.6, then)
    return Visit(_call(chance), chance.choice(VISITS))


def _call(chance: random.Random) -> int:
    """The number of a call: small ones are drawn more often."""
    return 1 + int(CALLS * chance.random() ** 1.5)


def draw_crash(chance: random.Random) -> Crash:
    at = 1.0 if chance.random() < 0.3 else chance.random()
    share = chance.choice([0.1, 0.5, 0.9])
    loss = Loss(chance.choice(ENTRIES), chance.choice(CONTENT), chance.randrange(1 << 30), share)
    return Crash(at, loss, chance.randint(-4, 2) if chance.random() < 0.4 else None)


def _refs(chance: random.Random, most: int) -> tuple[Ref, ...]:
    numbers = chance.sample(range(DOCUMENTS), chance.randint(1, most))
    if chance.random() < 0.03:
        numbers.append(numbers[0])
    return tuple(Ref(number, chance.randrange(VERSIONS)) for number in numbers)


# As text


def encode(history: History) -> str:
    """One line, by which a history is replayed."""
    return json.dumps(msgspec.to_builtins(history, enc_hook=list), separators=(",", ":"))


def decode(line: str) -> History:
    return msgspec.json.decode(line, type=History)


def describe(history: History) -> list[str]:
    """A line for each step, for people."""
    default = Step("")
    lines = []
    for number, step in enumerate(history.steps, 1):
        values: dict[str, Any] = {name: getattr(step, name) for name in step.__struct_fields__[1:]}
        told = [f"{name}={_show(value)}" for name, value in values.items() if value != getattr(default, name)]
        lines.append(f"{number}. {step.kind} {' '.join(told)}")
    return lines


def _show(value: Any) -> str:
    if isinstance(value, Sequence) and value and isinstance(value[0], Ref):
        return ",".join(f"d{ref.number}v{ref.version}" for ref in value)
    return str(value)
