"""Runs a history, and compares the index with the model after each step and each crash."""

from __future__ import annotations

import contextvars
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from esr.cli.sync import SyncRun, read_config
from esr.disk_errors import NO_SPACE
from esr.errors import EsrError
from esr.index.factory import (
    back_up_index,
    open_delivery,
    open_generations,
    open_index,
    open_writer,
    restore_index,
)
from esr.index.generations import KEPT
from esr.index.runs.enrichment_run import run_enrichment
from esr.index.writer import LoadOptions
from esr.loaders.delivered_files import open_delivered_files
from esr.text.document import Document, Located
from tests.simulation import model
from tests.simulation.alert_desk import AlertDesk
from tests.simulation.file_system import Image, Recorder, Trouble, read_image
from tests.simulation.gateway import Gateway
from tests.simulation.model import NO_INDEX, Refused, State, Wrong
from tests.simulation.observation import PARTS, Observation, expect, expect_answers, is_same, observe, search
from tests.simulation.steps import OF_ALERTS, Crash, Disturbance, Failure, History, Step, Visit
from tests.simulation.world import Clock, simulated
from tests.support.fake_enricher import FakeEnricher

INDEX, BACKUP = "index", "backup"
_LOCKED = tuple(f"{INDEX}/{name}" for name in ("segments", "layers", "esr-"))
"""Where a command may change something only while it has the lock."""
_OTHER_LOAD = ("are not those of the interrupted load", "had other options", "has changed since the load")


def located(documents: Sequence[Document]) -> list[Located]:
    return [Located(f"news.jsonl:{number}", document) for number, document in enumerate(documents, 1)]


class Run:
    """A history that is being run, in a folder of its own.

    With `real`, nothing is simulated: that is the location of the index, also in Elasticsearch. With
    `gateway`, commands reach the server by it.
    """

    def __init__(
        self, history: History, root: Path, *, real: str | None = None, gateway: Gateway | None = None
    ) -> None:
        self.history = history
        self.root = root
        self.real = real
        self.gateway = gateway
        self._uses_gateway = False
        self.recorder = Recorder(root) if real is None else None
        self.clock = Clock()
        self.states = {INDEX: NO_INDEX, BACKUP: NO_INDEX}
        self.counts: Counter[str] = Counter()
        self.step = Step("")
        self._alerts: AlertDesk | None = None

    @property
    def alerts(self) -> AlertDesk:
        if self._alerts is None:
            self._alerts = AlertDesk(self.root.parent / f"{self.root.name}-alerts", self.clock, self.where())
        return self._alerts

    @property
    def record(self) -> Path:
        """What `esr sync` remembers, in SQLite, whose own files are not simulated. The feed is beside it."""
        return self.root.parent / f"{self.root.name}-sources" / "record"

    def where(self, place: str = INDEX) -> str:
        if self.real is None or place != INDEX:
            return str(self.root / place)
        if self.gateway is not None and self._uses_gateway:
            return f"{self.gateway.url}{urlsplit(self.real).path}"
        return self.real

    def run(self) -> None:
        """Raises Wrong."""
        for number, step in enumerate(self.history.steps, 1):
            self.step = step
            try:
                self._run_step(step)
            except Exception as error:
                if isinstance(error, Wrong):
                    raise Wrong(f"step {number}, {step.kind}: {error}") from error.__cause__
                last = "".join(traceback.format_exception(error)[-3:])
                raise Wrong(f"step {number}, {step.kind}: {type(error).__name__}: {error}\n{last}") from error
            self.counts["steps"] += 1
        if self.recorder is not None:
            recorded, real = map(_contents, (self.recorder.image(), read_image(self.root)))
            if recorded != real:
                raise Wrong(f"the record is incomplete: {recorded.keys() ^ real.keys()}")
        self._check_searches(INDEX, "at the end")
        if self._alerts is not None:
            self._alerts.finish(self.states[INDEX])
            self.counts += self._alerts.counts

    # One step

    def _run_step(self, step: Step) -> None:
        self.clock.advance(step.seconds)
        if self.recorder is not None and step.settles:
            self.recorder.settle()
        if step.kind in OF_ALERTS:
            self.alerts.run_step(step, self.states[INDEX])
            return
        target = BACKUP if step.kind == "back up" else INDEX
        try:
            path = self._model(step)
        except Refused:
            path = (self.states[target],)
            is_refused = True
        else:
            is_refused = False
        error = self._execute(step, target, path)
        if error is None and is_refused and path[0].serving is not None:
            raise Wrong("it must be refused, and was not")
        may_fail = is_refused or isinstance(step.trouble, Failure | Disturbance) or _is_refused(step, error)
        if error is not None and not may_fail:
            raise Wrong(f"it failed: {error}") from error
        if error is not None and isinstance(step.trouble, Disturbance) and step.kind == "enrich":
            # A batch is not one step there: what is missing is known, and enriched by the next run.
            self.step = msgspec.structs.replace(step, trouble=None)
            error = self._execute_really(_COMMANDS[step.kind])
            if error is not None and not is_refused:
                raise Wrong(f"it failed again, without a disturbance: {error}") from error
        allowed = path if error is not None else path[-1:]
        crash = step.trouble if isinstance(step.trouble, Crash) else None
        if isinstance(step.trouble, Failure):
            self._settle(target, allowed, "after the error" if error else "after the step")
            crash = step.trouble.then
            # A failed call may have left a change that is seen, and not yet on disk.
        if crash is None or self.recorder is None:
            self._settle(target, allowed, "after the step")
            return
        self._crash(crash, target, path, allowed)

    def _model(self, step: Step) -> model.Path:
        state, documents = self.states[INDEX], [ref.document for ref in step.documents]
        removed = [id for id in step.ids if id not in {document.id for document in documents}]
        match step.kind:
            case "load":
                return model.load(state, documents, step.keep)
            case "append by load":
                return model.append_by_load(state, documents, step.keep)
            case "deliver":
                return model.deliver(state, documents, removed, step.keep)
            case "remove":
                return model.remove(state, step.ids, step.keep)
            case "enrich":
                return model.enrich(state, step.version)
            case "roll back":
                return model.roll_back(state, None)
            case "roll back to":
                return model.roll_back(state, step.number)
            case "delete":
                return model.delete(state, step.number)
            case "delete all":
                return model.delete_all(state)
            case "back up":
                return model.copy(state, self.states[BACKUP])
            case "restore":
                return model.copy(self.states[BACKUP], state)
            case "sync":
                return model.sync(state, _feed(step), step.keep)
            case "stale load":
                other = model.load(state, documents[:1], step.keep)
                return other  # the load that was opened first is refused
            case "stale delivery":
                *_, other_state = model.deliver(state, documents[:1], [], step.keep)
                *_, last = model.deliver(other_state, documents[1:] or documents, removed, step.keep)
                return state, other_state, last
        raise AssertionError(step.kind)

    def _execute(self, step: Step, target: str, path: model.Path) -> EsrError | None:
        """Carry a step out. Returns the message that it failed with."""
        command = _COMMANDS[step.kind]
        recorder = self.recorder
        if recorder is None:
            return self._execute_really(command)
        self._begin, recorder.attempts = len(recorder.calls), 0
        self._record_before = self.record.read_bytes() if self.record.exists() else None
        if isinstance(step.trouble, Failure):
            recorder.before_call = Trouble(step.trouble.call, step.trouble.code, step.trouble.persists)
        elif isinstance(step.trouble, Visit):
            recorder.before_call = self._visitor(step.trouble, path, target)
        try:
            with recorder.recording():
                error = _call(command, self)
        finally:
            recorder.before_call = lambda number, kind, path: None
        self.counts["calls"] += recorder.attempts
        return error

    def _execute_really(self, command: Callable[[Run], object]) -> EsrError | None:
        trouble, gateway = self.step.trouble, self.gateway
        if gateway is None:
            return _call(command, self)
        self._uses_gateway = True
        try:
            with gateway.disturbed(trouble if isinstance(trouble, Disturbance) else None) as disturbed:
                error = _call(command, self)
        finally:
            self._uses_gateway = False
        self.counts["disturbed"] += bool(disturbed)
        self.counts["failed"] += bool(disturbed) and error is not None
        return error

    # What is seen

    def _settle(self, target: str, allowed: Sequence[State], when: str) -> None:
        """Find the state of an index among those that are allowed. Raises Wrong."""
        self.states[target] = self._match(target, allowed, when)
        if self.step.searches:
            self._check_searches(target, when)

    def _match(self, place: str, allowed: Sequence[State], when: str) -> State:
        try:
            seen = observe(self.where(place))
        except EsrError as error:
            raise Wrong(f"{when}, the {place} cannot be read: {error}") from error
        except AssertionError as error:
            raise Wrong(f"{when}, in the {place}: {error}") from error
        self.counts["comparisons"] += 1
        for state in reversed(allowed):
            if expect(state) == seen:
                return state
        raise Wrong(f"{when}, the {place} is {_differences(seen, expect(allowed[-1]))}")

    def _check_searches(self, place: str, when: str) -> None:
        serving = self.states[place].serving
        if serving is None or not serving.documents:
            return
        answers = search(self.where(place))
        self.counts["searches"] += 1
        if not is_same(answers, expect_answers(serving.documents)):
            raise Wrong(f"{when}, searches answer {answers}, not {expect_answers(serving.documents)}")

    def _crash(self, crash: Crash, target: str, path: model.Path, allowed: Sequence[State]) -> None:
        """Let the power fail in this step, and go on with what is left."""
        recorder = self.recorder
        assert recorder is not None
        made = len(recorder.calls) - self._begin
        count = self._begin + self._find_moment(crash, [call.kind for call in recorder.calls[self._begin :]])
        recorder.start(recorder.after_crash(count, crash.loss))
        self.counts["crashes"] += 1
        when = f"after a crash at call {count - self._begin} of {made}"
        has_ended = count == self._begin + made
        if not has_ended:
            self._restore_record()
        left = allowed if has_ended else path
        for place in (INDEX, BACKUP):
            try:
                self.states[place] = self._match(
                    place, left if place == target else (self.states[place],), when
                )
            except Wrong:
                if place != target or not _may_be_half_deleted(self.step):
                    raise
                self._finish_deletion(path)

    def _finish_deletion(self, path: model.Path) -> None:
        """Delete an index again, of which a crash has left a part."""
        error = self._execute(msgspec.structs.replace(self.step, trouble=None), INDEX, path)
        if error is not None:
            raise Wrong(f"what a crash has left of a deletion cannot be deleted: {error}") from error
        self.states[INDEX] = self._match(INDEX, path[-1:], "after the second deletion")

    def _find_moment(self, crash: Crash, kinds: Sequence[str]) -> int:
        """The number of calls that were made before a crash."""
        turns = [number for number, kind in enumerate(kinds) if kind in ("rename", "cut")]
        if crash.near is None or not turns:
            return round(crash.at * len(kinds))
        turn = turns[min(int(crash.at * len(turns)), len(turns) - 1)]
        return min(max(turn + crash.near, 0), len(kinds))

    def _restore_record(self) -> None:
        """The record of deliveries is committed last, so it is as it was before the step."""
        if self._record_before is not None:
            self.record.write_bytes(self._record_before)
        else:
            self.record.unlink(missing_ok=True)

    # Another process

    def _visitor(self, visit: Visit, path: model.Path, target: str) -> Callable[[int, str, str], None]:
        def visit_index(number: int, kind: str, file: str) -> None:
            if number != visit.call:
                return
            assert self.recorder is not None
            self.recorder.before_call = lambda number, kind, path: None
            states = path if target == INDEX else (self.states[INDEX],)
            contextvars.Context().run(self._visit, visit.what, states, file)

        return visit_index

    def _visit(self, what: str, path: Sequence[State], file: str) -> None:
        """Act as another process, while this one is about to change a file."""
        self.counts["visits"] += 1
        if what == "read":
            self._match(INDEX, path, "for another process amid the step")
        elif what == "back up":
            with tempfile.TemporaryDirectory() as folder:
                error = _attempt(lambda: back_up_index(self.where(), f"{folder}/copy", copy=True))
                seen = observe(f"{folder}/copy") if error is None else Observation()
            if seen not in [expect(state) for state in path] + [Observation()] * (error is not None):
                raise Wrong(f"a backup amid the step is {_differences(seen, expect(path[-1]))}")
            if error is not None and path[0].serving is not None and path[-1].serving is not None:
                raise Wrong(f"a backup amid the step failed: {error}")
        elif file.startswith(_LOCKED):
            error = _attempt(lambda: open_delivery(self.where(), LoadOptions()).remove(["d0"]))
            if error is None:
                raise Wrong("two processes write at once")


def _is_refused(step: Step, error: EsrError | None) -> bool:
    """Whether a load is not resumed, since another was interrupted, or a sync stops after a rollback."""
    if step.kind == "sync":
        return not step.resumes and "was rolled back from" in str(error)
    return step.resumes and any(reason in str(error) for reason in _OTHER_LOAD)


def _contents(image: Image) -> dict[str, Any]:
    return {path: file and file.data for path, file in image.items()}


def _call(command: Callable[[Run], object], run: Run) -> EsrError | None:
    return _attempt(lambda: command(run))


def _attempt(command: Callable[[], object]) -> EsrError | None:
    try:
        command()
    except EsrError as error:
        return error
    return None


def _differences(seen: Observation, expected: Observation) -> str:
    for name, value, other in zip(Observation._fields, seen, expected, strict=True):
        if value != other:
            return f"in {name} {value}, not {other}"
    return "as expected"


# The commands, as esr executes them


def _load(run: Run, if_exists: str) -> None:
    step = run.step
    options = LoadOptions(if_exists, "plain", keep=step.keep, resume=step.resumes)
    open_writer(run.where(), options).load(located([ref.document for ref in step.documents]))


def _deliver(run: Run) -> None:
    documents = [ref.document for ref in run.step.documents]
    removed = [id for id in run.step.ids if id not in {document.id for document in documents}]
    open_delivery(run.where(), LoadOptions(keep=run.step.keep)).append(located(documents), lambda: removed)


def _feed(step: Step) -> list[Document]:
    """The documents of a feed, each once."""
    return [ref.document for ref in {ref.number: ref for ref in step.documents}.values()]


def _sync(run: Run) -> None:
    """`resumes` is the option to read all files again."""
    folder = run.record.parent
    folder.mkdir(exist_ok=True)
    with (folder / "feed.jsonl").open("wb") as file:
        file.writelines(msgspec.json.encode(document) + b"\n" for document in _feed(run.step))
    config = folder / "news.toml"
    options = f'analyzer = "plain"\nkeep = {run.step.keep}\nstate = "{run.record}"\n'
    config.write_text(f'{options}[[source]]\nname = "news"\npaths = "{folder}/feed.jsonl"\n')
    settings = read_config(config)
    with open_delivered_files(settings.state, is_dry_run=False) as record:
        SyncRun(run.where(), settings, record, is_dry_run=False).deliver(reread=run.step.resumes)
        record.commit()


def _remove(run: Run) -> None:
    open_delivery(run.where(), LoadOptions(keep=run.step.keep)).remove(run.step.ids)


def _enrich(run: Run) -> None:
    with closing(open_index(run.where())) as index:
        run_enrichment(index, FakeEnricher(PARTS, version=run.step.version))


@contextmanager
def _generations(run: Run) -> Iterator[Any]:
    with closing(open_generations(run.where())) as generations:
        yield generations


def _roll_back(run: Run) -> None:
    with _generations(run) as generations:
        generations.rollback()


def _kept_name(run: Run, generations: Any) -> str:
    kept = [generation.name for generation in generations.all() if generation.state == KEPT]
    return str(kept[run.step.number % len(kept)]) if kept else "20240101t000000000000"


def _roll_back_to(run: Run) -> None:
    with _generations(run) as generations:
        generations.rollback(_kept_name(run, generations))


def _may_be_half_deleted(step: Step) -> bool:
    """Whether files may go before the manifest that refers to them: where there is no space for the next."""
    return step.kind == "delete all" and isinstance(step.trouble, Failure) and step.trouble.code in NO_SPACE


def _delete(run: Run) -> None:
    with _generations(run) as generations:
        generations.delete([_kept_name(run, generations)])


def _delete_all(run: Run) -> None:
    with _generations(run) as generations:
        generations.delete_all()


def _stale_load(run: Run) -> None:
    step = run.step
    first = [ref.document for ref in step.documents]
    slow = open_writer(run.where(), LoadOptions("replace", "plain", keep=step.keep))
    open_writer(run.where(), LoadOptions("replace", "plain", keep=step.keep)).load(located(first[:1]))
    if _attempt(lambda: slow.load(located(first))) is None:
        raise Wrong("a load replaces what another has loaded since it began")


def _stale_delivery(run: Run) -> None:
    step = run.step
    documents = [ref.document for ref in step.documents]
    removed = [id for id in step.ids if id not in {document.id for document in documents}]
    slow = open_delivery(run.where(), LoadOptions(keep=step.keep))
    open_delivery(run.where(), LoadOptions(keep=step.keep)).append(located(documents[:1]))
    slow.append(located(documents[1:] or documents), lambda: removed)


_COMMANDS: dict[str, Callable[[Run], object]] = {
    "load": lambda run: _load(run, "replace"),
    "append by load": lambda run: _load(run, "append"),
    "deliver": _deliver,
    "remove": _remove,
    "sync": _sync,
    "enrich": _enrich,
    "roll back": _roll_back,
    "roll back to": _roll_back_to,
    "delete": _delete,
    "delete all": _delete_all,
    "back up": lambda run: back_up_index(run.where(), run.where(BACKUP), copy=run.step.number % 2 == 0),
    "restore": lambda run: restore_index(run.where(BACKUP), run.where(), copy=run.step.number % 2 == 0),
    "stale load": _stale_load,
    "stale delivery": _stale_delivery,
}


def run_history(history: History, root: Path, seed: int = 0) -> Counter[str]:
    """Run a history in a folder. Returns what was counted. Raises Wrong."""
    run = Run(history, root)
    with simulated(history, run.clock, seed):
        run.run()
    return run.counts


def run_really(history: History, where: str, root: Path, gateway: Gateway | None = None) -> Counter[str]:
    """Run a history without simulation, in a folder or in Elasticsearch. Raises Wrong."""
    run = Run(history, root, real=where, gateway=gateway)
    run.run()
    return run.counts
