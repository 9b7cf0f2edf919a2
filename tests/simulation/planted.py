"""Faults planted on purpose: a simulation that does not find them would not find others like them.

Each is a change of the product that somebody could make by mistake. It is applied by replacing public names,
or by a sync that does nothing for some paths, which is what a program does that lacks the call.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any
from unittest import mock

from msgspec.structs import replace

from esr.alerts import outbox, runs
from esr.alerts.outbox import Delivery, Outbox
from esr.alerts.runs import Alert, AlertRuns
from esr.dossiers.desk import make_id
from esr.dossiers.records import SavedSearch
from esr.folder.format import checkpoint, clean_up, files, manifest
from esr.folder.format.files import FileCheck, encode_sealed
from esr.folder.format.layer_info import LAYERS
from esr.folder.format.manifest import SEGMENTS, Manifest
from esr.folder.write import delivery, enrichment, folder_writer, maintenance, rewriting
from esr.folder.write.rewriting import Changes
from esr.index import generations
from esr.index.withdrawn import NONE_WITHDRAWN, Withdrawn
from tests.simulation.file_system import Recorder
from tests.simulation.steps import History, draw_alert_history, draw_history


@dataclass(frozen=True)
class Fault:
    """The paths whose sync does nothing, as patterns; and names with their new values.

    `draw` makes the history of a seed: one in which the fault can show.
    """

    name: str
    unsynced: tuple[str, ...] = ()
    changes: Mapping[tuple[Any, str], Any] = field(default_factory=dict)
    draw: Callable[[int], History] = draw_history

    @contextmanager
    def applied(self) -> Iterator[None]:
        with ExitStack() as stack:
            for (owner, name), value in self.changes.items():
                stack.enter_context(mock.patch.object(owner, name, value))
            if self.unsynced:
                forgets = property(lambda recorder: self._forgets, lambda recorder, value: None)
                stack.enter_context(mock.patch.object(Recorder, "forgets", forgets, create=True))
            yield

    def _forgets(self, path: str) -> bool:
        depth = path.count("/")
        return any(fnmatchcase(path, pattern) and depth == pattern.count("/") for pattern in self.unsynced)


# Writing files


def _replace_in_place(path: Path, content: Mapping[str, Any]) -> None:
    with path.open("wb", buffering=0) as file:
        file.write(encode_sealed(content))
        os.fsync(file.fileno())


def _replace_after_removal(path: Path, content: Mapping[str, Any]) -> None:
    path.unlink(missing_ok=True)
    files.replace_json(path, content)


def _replace_before_sync(path: Path, content: Mapping[str, Any]) -> None:
    new = path.with_name(f"{path.name}.new")
    with new.open("wb", buffering=0) as file:
        file.write(encode_sealed(content))
        os.replace(new, path)
        files.sync_folder(path.parent)
        os.fsync(file.fileno())


def _copy_without_sync(source: Path, target: Path) -> FileCheck:
    with target.open("wb", buffering=0) as file:
        file.write(source.read_bytes())
    os.utime(target, ns=(source.stat().st_atime_ns, source.stat().st_mtime_ns))
    return files.check_file(target)


def _create_without_sync(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)


# Commits and clean-up


_commit, _list_unreferenced, _delete_unreferenced = (
    manifest.commit,
    clean_up.list_unreferenced,
    clean_up.delete_unreferenced,
)


def _delete_then_commit(folder: Path, new: Manifest) -> Manifest:
    _delete_unreferenced(folder, new)
    return _commit(folder, new)


def _list_ignoring(kind: str) -> Callable[[Path, Manifest], list[Path]]:
    """What nothing refers to, as if kept generations referred to no files of this kind."""

    def find(folder: Path, commit: Manifest) -> list[Path]:
        own = {*commit.segments, *commit.layer_files}
        kept = {
            name for each in commit.kept_generations for name in (*each.segments, *each.layer_files)
        } - own
        found = _list_unreferenced(folder, commit)
        return found + [path for path in _entries(folder / kind) if path.name in kept and path not in found]

    return find


def _list_ignoring_loads(folder: Path, commit: Manifest) -> list[Path]:
    with mock.patch.object(clean_up, "read_checkpoint", lambda folder: None):
        return _list_unreferenced(folder, commit)


def _entries(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.exists() else []


def _remove_manifest_first(folder: Path) -> None:
    for name in (manifest.MANIFEST_NAME, checkpoint.CHECKPOINT_NAME, clean_up.LOCK_NAME):
        (folder / name).unlink(missing_ok=True)
    for name in (SEGMENTS, LAYERS, ""):
        with suppress(OSError):
            (folder / name).rmdir()


def _delete_at_once(self: Any) -> None:
    where = Path(next(value for value in vars(self).values() if isinstance(value, Path)))
    with files.translate_disk_errors(where):
        shutil.rmtree(where)


# Generations


_next_generation, _rolled_back_to, _with_layers = (
    Manifest.next_generation,
    Manifest.rolled_back_to,
    Manifest.with_layers,
)


def _next(**changes: Any) -> Callable[..., Manifest]:
    return lambda self, *args, **options: replace(_next_generation(self, *args, **options), **changes)


def _next_keeping_one_less(self: Manifest, name: str, *args: Any) -> Manifest:
    *others, keep = args
    return _next_generation(self, name, *others, max(keep - 1, 0))


def _next_of_the_same_number(self: Manifest, *args: Any) -> Manifest:
    return replace(_next_generation(self, *args), commit_number=self.commit_number)


def _roll_back_without_rejecting(self: Manifest, name: str) -> Manifest:
    commit = _rolled_back_to(self, name)
    kept = tuple(replace(each, is_rejected=False) for each in commit.kept_generations)
    return replace(commit, kept_generations=kept)


def _roll_back_and_forget(self: Manifest, name: str) -> Manifest:
    return replace(_rolled_back_to(self, name), kept_generations=())


def _name_by_clock(newest: str) -> str:
    return generations.generation_name(generations.datetime.now(UTC))


def _keep_last_layer(self: Manifest, layers: tuple[Any, ...], recipes: Any) -> Manifest:
    return _with_layers(self, layers[-1:], recipes)


def _copy_no_layer(folder: Path, layer: Any, copy: Any, sentences: Any) -> None:
    raise OSError(2, "the layer was forgotten")


def _forget_withdrawn(self: Changes, withdrawn: Withdrawn) -> Withdrawn:
    return withdrawn


def _keep_withdrawn(self: Changes, withdrawn: Withdrawn) -> Withdrawn:
    return withdrawn.add(self.withdrawn.ids, self.withdrawn.before)


# Errors


@contextmanager
def _swallow_disk_errors(folder: Path, command: str = "load", state: str = "") -> Iterator[None]:
    with suppress(OSError):
        yield


@contextmanager
def _pass_disk_errors(folder: Path, command: str = "load", state: str = "") -> Iterator[None]:
    yield


# Alerts


_take, _store_matches, _find, _write_letter, _read_alert = (
    Outbox.take,
    Outbox.store_matches,
    AlertRuns.find,
    runs.write_letter,
    runs.read_alert,
)


def _note_before_sending(self: Outbox, now: datetime, *choice: Any) -> Delivery | None:
    delivery = _take(self, now, *choice)
    if delivery is not None:
        self.end(delivery, now)
    return delivery


def _mark_before_news(self: Outbox, collection: str, before: Any, now: Any, news: Any) -> int:
    _store_matches(self, collection, before, now, ())
    return _store_matches(self, collection, now, now, news)


def _find_only_new_texts(
    matching: Sequence[str], former: Mapping[str, str], present: object
) -> tuple[list[int], dict[int, str]]:
    texts = list(former.values())
    return [n for n, text in enumerate(matching) if text not in (*texts, *matching[:n])], {}


def _read_as_running(search: SavedSearch) -> Alert | None:
    alert = _read_alert(search)
    return None if alert is None else replace(alert, is_paused=False)


def _of_alerts(name: str, owner: Any, changed: str, value: Any) -> Fault:
    return Fault(name, (), {(owner, changed): value}, draw_alert_history)


def _everywhere(name: str, value: Any, *owners: Any) -> dict[tuple[Any, str], Any]:
    return {(owner, name): value for owner in owners}


_WRITERS = (folder_writer, delivery, maintenance, enrichment)


FAULTS = (
    Fault("the content of the manifest is not synced", ("*/esr-index.json.new",)),
    Fault("the name of the manifest is not synced", ("index", "backup")),
    Fault("the files of segments are not synced", ("*/segments/*/*",)),
    Fault("the entries of a segment are not synced", ("*/segments/*",)),
    Fault("the entries of the folder of segments are not synced", ("*/segments",)),
    Fault("layers are not synced", ("*/layers/*",)),
    Fault("the entries of the folder of layers are not synced", ("*/layers",)),
    Fault("the checkpoint is not synced", ("*/esr-load.json.new",)),
    Fault("the mark of a backup is not synced", ("*/esr-backup.json.new",)),
    Fault("the table of checksums is not synced", ("*/segments/*/checksums.json",)),
    Fault(
        "the entry of a new index is not synced",
        (),
        _everywhere("create_folder", _create_without_sync, folder_writer),
    ),
    Fault(
        "the entry of a new backup is not synced",
        (),
        _everywhere("create_folder", _create_without_sync, maintenance),
    ),
    Fault("the copies of a backup are not synced", (), {(maintenance, "copy_file"): _copy_without_sync}),
    Fault("the folders of a backup are not synced", (), {(maintenance, "sync_folder"): lambda folder: None}),
    Fault("the manifest is written in place", (), {(manifest, "replace_json"): _replace_in_place}),
    Fault(
        "the manifest is removed before it is replaced",
        (),
        {(manifest, "replace_json"): _replace_after_removal},
    ),
    Fault(
        "the manifest is renamed before it is synced", (), {(manifest, "replace_json"): _replace_before_sync}
    ),
    Fault("the checkpoint is written in place", (), {(checkpoint, "replace_json"): _replace_in_place}),
    Fault("old files are deleted before the commit", (), {(manifest, "commit"): _delete_then_commit}),
    Fault(
        "clean-up deletes segments of kept generations",
        (),
        {(clean_up, "list_unreferenced"): _list_ignoring(SEGMENTS)},
    ),
    Fault(
        "clean-up deletes layers of kept generations",
        (),
        {(clean_up, "list_unreferenced"): _list_ignoring(LAYERS)},
    ),
    Fault(
        "clean-up deletes segments of an interrupted load",
        (),
        {(clean_up, "list_unreferenced"): _list_ignoring_loads},
    ),
    Fault(
        "the manifest of a deleted index goes first",
        (),
        _everywhere("remove_index", _remove_manifest_first, maintenance, folder_writer),
    ),
    Fault(
        "an index is deleted without an empty commit",
        (),
        {(maintenance.EmbeddedGenerations, "delete_all"): _delete_at_once},
    ),
    Fault("loads take no lock", (), _everywhere("hold_writer_lock", nullcontext, folder_writer)),
    Fault("deliveries take no lock", (), _everywhere("hold_writer_lock", nullcontext, delivery)),
    Fault("commits are not numbered", (), {(Manifest, "next_generation"): _next_of_the_same_number}),
    Fault("one generation less is kept", (), {(Manifest, "next_generation"): _next_keeping_one_less}),
    Fault(
        "a new generation forgets what was removed for good",
        (),
        {
            (Manifest, "next_generation"): _next(withdrawn=NONE_WITHDRAWN),
            (Changes, "update"): _forget_withdrawn,
        },
    ),
    Fault("what is delivered again stays removed for good", (), {(Changes, "update"): _keep_withdrawn}),
    Fault(
        "a sync delivers what was removed for good", (), {(Withdrawn, "covers"): lambda self, document: False}
    ),
    Fault("a rollback rejects nothing", (), {(Manifest, "rolled_back_to"): _roll_back_without_rejecting}),
    Fault(
        "a rollback forgets the other generations", (), {(Manifest, "rolled_back_to"): _roll_back_and_forget}
    ),
    Fault(
        "generations are named by the clock alone",
        (),
        _everywhere("new_generation_name", _name_by_clock, folder_writer, delivery),
    ),
    Fault("a batch of enrichment drops those before it", (), {(Manifest, "with_layers"): _keep_last_layer}),
    Fault("a delivery cannot copy layers", (), {(rewriting, "copy_layer"): _copy_no_layer}),
    Fault(
        "errors of the disk are swallowed",
        (),
        _everywhere("translate_disk_errors", _swallow_disk_errors, *_WRITERS),
    ),
    Fault(
        "errors of the disk have no message",
        (),
        _everywhere("translate_disk_errors", _pass_disk_errors, *_WRITERS),
    ),
    _of_alerts("a delivery is noted before it is sent", Outbox, "take", _note_before_sending),
    _of_alerts("a delivery that was sent is not noted", Outbox, "end", lambda self, *_, **options: "sent"),
    _of_alerts("deliveries of a killed process are not taken back", Outbox, "take_back", lambda self: 0),
    _of_alerts(
        "each attempt of a delivery has an id of its own",
        runs,
        "write_letter",
        lambda id, *args, **options: _write_letter(make_id(), *args, **options),
    ),
    _of_alerts("documents are marked before their news", Outbox, "store_matches", _mark_before_news),
    _of_alerts("new wordings are told", outbox, "find_news", _find_only_new_texts),
    _of_alerts("paused alerts are delivered", runs, "read_alert", _read_as_running),
    _of_alerts(
        "the first run tells everything",
        AlertRuns,
        "find",
        lambda *args, **options: _find(*args, **{**options, "tell_all": True}),
    ),
)
