"""Damage is found and changes no answer; backups, and what they bring back."""

from __future__ import annotations

import errno
import os
import random
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from click.testing import CliRunner

from esr.cli import main
from esr.errors import EsrError, IndexUnusable, UsageError
from esr.folder.format import checkpoint, damage, manifest, writer_lock
from esr.folder.format.damage import SegmentDamaged
from esr.folder.format.files import FileCheck, check_file, copy_file, replace_json
from esr.folder.index import EmbeddedIndex
from esr.folder.write import segment_writer
from esr.folder.write.delivery import EmbeddedDelivery
from esr.folder.write.maintenance import EmbeddedGenerations, back_up, restore, verify
from esr.index.contract import read_document
from esr.ranking.searcher import open_searcher
from esr.text.document import Located, ParseWord, Sentence
from esr.text.validate import to_json_line
from tests.support.folder_index import document, file_contents, forget_checksums, load
from tests.support.index_contents import enrich
from tests.support.processes import ForkedProcess, run_esr, wait_until
from tests.support.runs import rounds

pytestmark = pytest.mark.slow

WORDS = ["storm", "flood", "river", "bridge", "harbour", "relief", "aid", "wind", "rain"]
PARSE = (ParseWord("storm", 1), ParseWord("flood", -1))


def news(first: int, count: int, length: int = 6) -> list[Located]:
    """Documents whose sentences are drawn by their number, some with ids, features, parses and metadata."""
    documents = []
    for number in range(first, first + count):
        rng = random.Random(number)
        texts = [
            " ".join([*rng.choices(WORDS, k=length), f"w{rng.randrange(200)}"])
            for _ in range(rng.randrange(1, 6))
        ]
        sentences: list[str | Sentence] = [*texts]
        if number % 5 == 0:
            sentences.append(Sentence(f"given{number}", texts[0], {"subj": 0.5}, PARSE))
        fields = {"title": texts[0], "date": f"2017-03-{number % 28 + 1:02}", "source": f"s{number % 3}"}
        documents.append(document(f"n{number}", *sentences, **fields, section="news", language="en"))
    return documents


@pytest.fixture(scope="module")
def intact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of three generations with several segments, layers of all parts, and an interrupted load."""
    where = tmp_path_factory.mktemp("intact") / "index"

    with mock.patch("os.fsync"), mock.patch.object(segment_writer, "FULL_TERMS", 900):
        load(where, news(0, 40))
        enrich(EmbeddedIndex(str(where)))
        load(where, news(0, 50), if_exists="replace", keep=2)
        enrich(EmbeddedIndex(str(where)))
        EmbeddedDelivery(where, keep=2).append(news(100, 4))
        with (
            mock.patch.object(manifest.Manifest, "next_generation", side_effect=KeyboardInterrupt),
            pytest.raises(KeyboardInterrupt),
        ):
            load(where, news(300, 60), if_exists="replace", keep=2)
    assert checkpoint.read_checkpoint(where)
    return where


def copy_index(source: Path, target: Path) -> Path:
    """A copy whose files are links: a test that changes one replaces it first."""
    shutil.copytree(source, target, copy_function=os.link)
    return target


def export_at(where: Path) -> list[str]:
    return [to_json_line(each) for each in EmbeddedIndex(str(where)).documents()]


def search(where: Path) -> Any:
    """All that searches by several rankings find, with the texts."""
    with open_searcher(str(where)) as searcher:
        queries = ("storm flood", "river w7", '"harbour relief"', "source:s1 rain", "given")
        found = [searcher.search(query, k=20).hits for query in queries]
        found += [searcher.search("storm", k=20, model=model).hits for model in ("bm25", "2si")]
        return [[(hit.sentence_id, hit.score, hit.record) for hit in hits] for hits in found]


def append(where: Path) -> list[str]:
    """The documents after an append that adds, changes and skips."""
    EmbeddedDelivery(where).append([*news(0, 2), *news(500, 2), *changed(news(20, 1))])
    return export_at(where)


def changed(documents: Sequence[Located]) -> Iterator[Located]:
    yield from (document(each.document.id, "changed") for each in documents)


# Single faults


def flip(content: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    at = rng.randrange(len(content))
    return content[:at] + bytes([content[at] ^ 1 << rng.randrange(8)]) + content[at + 1 :]


def flip_end(content: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    """As `flip`, but past the header of an array, so that the file opens."""
    return content[:-1] + flip(content[-1:], rng, others)


def zero(content: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    at, length = rng.randrange(len(content)), rng.choice((1, 16, 4096))
    return content[:at] + bytes(len(content[at : at + length])) + content[at + length :]


def truncate(content: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    return content[: rng.randrange(len(content))]


def swap(content: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    return rng.choice(others)


def remove(content: bytes, rng: random.Random, others: Sequence[bytes]) -> None:
    return None


Fault = Callable[[bytes, random.Random, Sequence[bytes]], bytes | None]
FAULTS: list[Fault] = [
    flip,
    zero,
    truncate,
    swap,
    remove,
]


def spoil(where: Path, name: str, fault: Fault, rng: random.Random, *, keeps_time: bool) -> None:
    """Damage a file of an index. With `keeps_time` its time tells nothing, as when a disk has changed it."""
    path = where / name
    before, status = path.read_bytes(), path.stat()
    siblings = [other.read_bytes() for other in where.rglob(path.name) if other.is_file()]
    others = [other for other in siblings if other != before] or [b"{}"]
    after: bytes | None = before
    while after == before:
        after = fault(before, rng, others)
    path.unlink()
    if after is not None:
        path.write_bytes(after)
        if keeps_time:
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def check_faults(intact: Path, folder: Path, count: int, seed: int) -> None:
    """Every fault is found, and each answer is that of the intact index or an error."""
    rng = random.Random(seed)
    files = sorted(name for name in file_contents(intact) if (intact / name).stat().st_size)
    rng.shuffle(files)
    found, exported = search(intact), export_at(intact)
    appended = append(copy_index(intact, folder / "appended"))
    errors = 0
    for number in range(count):
        where = copy_index(intact, folder / str(number))
        name, fault, keeps_time = files[number % len(files)], FAULTS[number % len(FAULTS)], number % 3 == 0
        if (name, fault) == (checkpoint.CHECKPOINT_NAME, remove):
            fault = flip  # without a checkpoint there is no interrupted load, which is no damage
        spoil(where, name, fault, rng, keeps_time=keeps_time)
        place = f"fault {number} of {seed}: {fault.__name__} {name}"
        report = verify(where, fast=False)
        assert [each.path for each in report.damaged] == [name], place
        acts = [
            (search, None if keeps_time else found),
            *([(export_at, exported)] if number % 2 else []),
            *([(append, appended)] if number % 7 == 0 else []),
        ]
        for act, expected in acts:
            try:
                answer = act(where)
            except EsrError as error:
                assert isinstance(error, IndexUnusable) and "is damaged" in str(error), place
                errors += 1
            else:
                assert expected is None or answer == expected, place
        shutil.rmtree(where)
    assert errors > count / 20, "faults were made where nothing reads"


def test_any_fault_is_found_and_changes_no_answer(intact: Path, tmp_path: Path, no_sync: None) -> None:
    check_faults(intact, tmp_path, 15, random.randrange(1 << 30))


@pytest.mark.endurance
def test_many_faults_are_found_and_change_no_answer(intact: Path, tmp_path: Path, no_sync: None) -> None:
    check_faults(intact, tmp_path, rounds(1000), random.randrange(1 << 30))


def test_verify_names_the_generations_that_are_damaged_and_what_to_do(intact: Path, where: Path) -> None:
    copy_index(intact, where)
    report = verify(where, fast=False)
    assert not report.damaged and not report.unknown and not report.advice
    commit = manifest.read_manifest(where)
    oldest = commit.kept_generations[-1]
    own = next(name for name in oldest.segments if name not in commit.segments)
    spoil(where, f"segments/{own}/length.npy", remove, random.Random(), keeps_time=False)
    report = verify(where, fast=True)
    (damaged,) = report.damaged
    assert damaged.problem == "it is missing" and damaged.generations == (oldest.generation_name,)
    assert report.advice.startswith("the serving generation is intact: delete ")
    own = next(name for name in commit.segments if name not in commit.kept_generations[0].segments)
    spoil(where, f"segments/{own}/length.npy", flip, random.Random(), keeps_time=True)
    report = verify(where, fast=False)
    assert f"esr rollback --to {commit.kept_generations[0].generation_name}" in report.advice
    EmbeddedGenerations(str(where)).rollback()
    assert "the serving generation is intact" in verify(where, fast=False).advice
    with pytest.raises(UsageError, match="is broken, as a"):
        EmbeddedGenerations(str(where)).rollback(commit.generation_name)


def test_verify_goes_on_behind_files_that_may_not_be_opened(
    intact: Path, where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy_index(intact, where)
    segment = manifest.read_manifest(where).segments[0]
    spoil(where, f"segments/{segment}/length.npy", flip, random.Random(), keeps_time=True)
    closed = [where / "segments" / segment / name for name in ("terms.bytes", "sentence_postings.npy")]

    def refuse(path: str) -> FileCheck:
        if Path(path) in closed:
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return check_file(path)

    monkeypatch.setattr(damage, "check_file", refuse)
    report = verify(where, fast=False, workers=2)
    assert [Path(damaged.path).name for damaged in report.damaged] == ["length.npy"]
    assert [reason.split(":")[0] for reason in report.unopened] == sorted(f"cannot open {p}" for p in closed)
    printed = CliRunner().invoke(main, ["verify", "--index", str(where)])
    assert printed.exit_code == 1 and f"{where} is damaged" in printed.output
    shutil.rmtree(where)
    copy_index(intact, where)
    printed = CliRunner().invoke(main, ["verify", "--index", str(where)])
    assert printed.exit_code == 1 and printed.output.count("this user may not read it") == 2
    assert f"{where} is not verified: 2 files may not be opened" in printed.output


def test_a_running_index_finds_damage_in_the_background(
    intact: Path, where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(damage, "SMALL", 0)
    copy_index(intact, where)
    segment = manifest.read_manifest(where).segments[0]
    spoil(where, f"segments/{segment}/sentence_postings.npy", flip_end, random.Random(), keeps_time=True)
    index = EmbeddedIndex(str(where))
    index.statistics(["storm"])
    index.warm_up()

    def is_found() -> bool:
        try:
            index.statistics(["storm"])
        except SegmentDamaged:
            return True
        return False

    wait_until(is_found)
    restore(intact, where, copy=True)
    assert index.statistics(["storm"]).terms["storm"].cf


def test_an_error_of_a_reader_is_that_of_the_damaged_file(
    intact: Path, where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(damage, "SMALL", 0)
    copy_index(intact, where)
    segment = manifest.read_manifest(where).segments[0]
    path = where / "segments" / segment / "texts.bytes"
    content, status = path.read_bytes(), path.stat()
    path.unlink()
    path.write_bytes(bytes(len(content)))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    index = EmbeddedIndex(str(where))
    with pytest.raises(SegmentDamaged, match=r"texts\.bytes is damaged"):
        read_document(index, index.cache.snapshot.segments[0].document_ids[0])


def test_what_an_older_version_has_written_is_read_and_gets_checksums_as_it_is_rewritten(
    where: Path, no_sync: None
) -> None:
    load(where, news(0, 10))
    found = search(where)
    forget_checksums(where)
    assert search(where) == found
    report = verify(where, fast=False)
    assert not report.damaged and len(report.unknown) == 2
    (segment,) = manifest.read_manifest(where).segments
    path = where / "segments" / segment / "texts.bytes"
    path.write_bytes(bytes(path.stat().st_size))
    assert [each.path for each in verify(where, fast=False).damaged] == [f"segments/{segment}"]
    with pytest.raises(IndexUnusable, match="may be damaged: load everything again"):
        search(where)
    with pytest.raises(SegmentDamaged, match=r"texts\.bytes is damaged, document 0"):
        export_at(where)
    load(where, news(0, 10), if_exists="replace", keep=0)
    assert not verify(where, fast=False).unknown and search(where) == found


# Backups


def test_a_backup_has_all_generations_and_later_ones_only_add(
    intact: Path, where: Path, tmp_path: Path, no_sync: None
) -> None:
    copy_index(intact, where)
    target = tmp_path / "backup"
    first = back_up(where, target, copy=False)
    assert first.linked_bytes > 100_000 and not first.copied_bytes and first.generations == 3
    assert search(target) == search(where) and not verify(target, fast=False).damaged
    EmbeddedDelivery(where, keep=2).append(news(600, 3))
    second = back_up(where, target, copy=True)
    assert 0 < second.copied_bytes < second.present_bytes and not second.linked_bytes
    assert export_at(target) == export_at(where)
    states = [each.name for each in EmbeddedGenerations(str(target)).all()]
    commit = manifest.read_manifest(where)
    assert states == [commit.generation_name, *(kept.generation_name for kept in commit.kept_generations)]


def test_a_backup_refuses_what_is_damaged_and_what_is_no_backup(
    intact: Path, where: Path, tmp_path: Path, no_sync: None
) -> None:
    copy_index(intact, where)
    target = tmp_path / "backup"
    back_up(where, target, copy=False)
    before = file_contents(target)
    EmbeddedDelivery(where, keep=2).append(news(600, 30))
    new = next(iter({*manifest.read_manifest(where).segments} - {*manifest.read_manifest(target).segments}))
    for copy in (True, False):
        spoil(where, f"segments/{new}/texts.bytes", flip, random.Random(), keeps_time=True)
        with pytest.raises(SegmentDamaged, match=r"texts\.bytes is damaged"):
            back_up(where, target, copy=copy)
        assert {name: content for name, content in file_contents(target).items() if name in before} == before
    with pytest.raises(UsageError, match="is not a backup"):
        back_up(target, intact, copy=False)
    with pytest.raises(UsageError, match="in the index itself"):
        back_up(where, where / "backup", copy=False)
    load(tmp_path / "other", news(0, 1))
    with pytest.raises(UsageError, match="is the backup of"):
        back_up(tmp_path / "other", target, copy=False)


@pytest.mark.parametrize("copy", [True, False])
def test_a_damaged_index_is_restored_and_an_open_one_answers_again(
    intact: Path, where: Path, tmp_path: Path, no_sync: None, copy: bool
) -> None:
    copy_index(intact, where)
    target = tmp_path / "backup"
    back_up(where, target, copy=True)
    found = search(where)
    index = EmbeddedIndex(str(where))
    rng = random.Random(5)
    for name in rng.sample(sorted(file_contents(where)), 12):
        if (where / name).stat().st_size:
            spoil(where, name, rng.choice(FAULTS), rng, keeps_time=bool(rng.randrange(2)))
    (where / manifest.MANIFEST_NAME).unlink()
    (where / manifest.MANIFEST_NAME).write_text("{")
    report = restore(target, where, copy=copy)
    assert report.present_bytes and (report.copied_bytes if copy else report.linked_bytes)
    assert not verify(where, fast=False).damaged and search(where) == found
    assert read_document(index, "n0").id == "n0"
    restore(target, tmp_path / "new", copy=copy)
    assert search(tmp_path / "new") == found
    with pytest.raises(UsageError, match="is itself a backup"):
        restore(where, target, copy=copy)


def test_a_damaged_backup_restores_nothing(intact: Path, where: Path, tmp_path: Path, no_sync: None) -> None:
    target = tmp_path / "backup"
    back_up(intact, target, copy=True)
    copy_index(intact, where)
    load(where, news(0, 3), if_exists="replace", keep=0)
    found = search(where)
    segment = manifest.read_manifest(target).segments[0]
    spoil(target, f"segments/{segment}/texts.bytes", flip, random.Random(), keeps_time=True)
    with pytest.raises(SegmentDamaged, match="backup"):
        restore(target, where, copy=True)
    assert search(where) == found


def test_slices_of_a_verification_are_disjoint_and_the_whole(
    intact: Path, where: Path, no_sync: None
) -> None:
    copy_index(intact, where)
    whole = verify(where, fast=False)
    assert whole.slice is None and whole.parts == whole.all_parts > 10
    for name in sorted(file_contents(where)):
        if name.endswith("texts.bytes"):
            spoil(where, name, flip, random.Random(), keeps_time=True)
    damaged = verify(where, fast=False, workers=2).damaged
    assert damaged == verify(where, fast=False).damaged and len(damaged) > 3
    reports = [verify(where, fast=False, slice=(n, 3)) for n in (1, 2, 3)]
    assert [report.slice for report in reports] == ["1/3", "2/3", "3/3"]
    assert all(report.parts < whole.parts for report in reports)
    assert sum(report.parts for report in reports) == whole.parts
    # Each reads the manifest too.
    assert (
        sum(report.size_bytes for report in reports)
        == whole.size_bytes + 2 * (where / manifest.MANIFEST_NAME).stat().st_size
    )
    assert {damage for report in reports for damage in report.damaged} == {*damaged}
    told = [report.advice.startswith("verify the other slices too") for report in reports]
    assert told == [bool(report.damaged) for report in reports]


def test_each_slice_finds_a_damaged_manifest(intact: Path, where: Path) -> None:
    copy_index(intact, where)
    spoil(where, manifest.MANIFEST_NAME, truncate, random.Random(), keeps_time=False)
    for number in (1, 2):
        report = verify(where, fast=False, slice=(number, 2))
        assert report.slice == f"{number}/2"
        assert [damage.path for damage in report.damaged] == [manifest.MANIFEST_NAME]


@pytest.mark.parametrize("is_first", [True, False])
def test_slices_that_run_at_once_leave_a_backup_for_the_run_that_commits(
    intact: Path, where: Path, tmp_path: Path, is_first: bool
) -> None:
    copy_index(intact, where)
    target = tmp_path / "backup"
    if not is_first:
        back_up(where, target, copy=True)
        load(where, news(0, 70), if_exists="replace", keep=0)
        enrich(EmbeddedIndex(str(where)))
    before = None if is_first else export_at(target)
    slices = ["1/3", "2/3", "3/3", "1/2", "2/2", "1/2"]  # also what overlaps
    processes = [
        ForkedProcess(run_esr, ["backup", where, target, "--copy", "--slice", slice, "--workers", 2])
        for slice in slices
    ]
    for process in processes:
        process.finish()
    if is_first:
        with pytest.raises(IndexUnusable, match="never finished"):
            export_at(target)
    else:
        assert export_at(target) == before and not verify(target, fast=False).damaged
    report = back_up(where, target, copy=True, workers=2)
    assert not report.copied_bytes and report.present_bytes and report.slice is None
    assert export_at(target) == export_at(where) and not verify(target, fast=False).damaged
    assert {path.name for path in target.glob("*/*")} <= {path.name for path in where.glob("*/*")}
    restore(target, tmp_path / "restored", copy=True, workers=2)
    assert export_at(tmp_path / "restored") == export_at(where)


def test_slices_may_copy_the_same_part_at_once(
    intact: Path, tmp_path: Path, no_sync: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "backup"
    others: list[int] = []

    def copy_after_another(source: Path, copied: Path) -> FileCheck:
        if not others:
            others.append(0)
            others[0] = back_up(intact, target, copy=True, slice=(1, 1)).copied_bytes
        return copy_file(source, copied)

    monkeypatch.setattr("esr.folder.write.maintenance.copy_file", copy_after_another)
    back_up(intact, target, copy=True, slice=(1, 1))
    assert others[0] > 0
    assert not back_up(intact, target, copy=True).copied_bytes
    assert export_at(target) == export_at(intact) and not verify(target, fast=False).damaged


@pytest.mark.parametrize("copy_slice", [back_up, restore])
def test_a_slice_may_begin_while_another_one_marks_the_folder(
    intact: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_sync: None, copy_slice: Any
) -> None:
    numbers: list[str | None] = []

    def mark(path: Path, content: Mapping[str, Any]) -> None:
        replace_json(path, content)
        numbers.append(copy_slice(intact, path.parent, copy=True, slice=(2, 2)).slice)

    monkeypatch.setattr("esr.folder.write.maintenance.replace_json", mark)
    assert copy_slice(intact, tmp_path / "new", copy=True, slice=(1, 2)).slice == "1/2"
    assert numbers == ["2/2"]
    monkeypatch.undo()
    copy_slice(intact, tmp_path / "new", copy=True)
    assert not [path for path in (tmp_path / "new").iterdir() if path.suffix == ".new"]
    assert export_at(tmp_path / "new") == export_at(intact)


def test_a_backup_is_refused_beside_a_slice_and_slices_run_beside_each_other(
    intact: Path, tmp_path: Path, no_sync: None
) -> None:
    target = tmp_path / "backup"
    back_up(intact, target, copy=True, slice=(1, 2))
    with writer_lock.hold_writer_lock(target, shared=True):
        back_up(intact, target, copy=True, slice=(2, 2))
        with pytest.raises(
            IndexUnusable, match=r"another backup, or a slice of it, into .* is running: wait"
        ):
            back_up(intact, target, copy=True)
    with (
        writer_lock.hold_writer_lock(target),
        pytest.raises(IndexUnusable, match="another backup, or a slice of it"),
    ):
        back_up(intact, target, copy=True, slice=(2, 2))
    assert not back_up(intact, target, copy=True).copied_bytes


@pytest.mark.parametrize("is_new", [True, False])
def test_slices_of_a_restore_leave_an_index_as_it_was_until_the_run_that_commits(
    intact: Path, where: Path, tmp_path: Path, no_sync: None, is_new: bool
) -> None:
    backup = tmp_path / "backup"
    back_up(intact, backup, copy=True)
    if not is_new:
        copy_index(intact, where)
        load(where, news(0, 70), if_exists="replace", keep=0)
    before = None if is_new else export_at(where)
    for number in (1, 2, 3):
        report = restore(backup, where, copy=True, slice=(number, 3), workers=2)
        assert report.slice == f"{number}/3" and report.documents is None
        if is_new:
            finish = (
                f"is not restored yet: finish it with esr restore {backup} --index {where}, without --slice"
            )
            for read in (export_at, partial(verify, fast=True), EmbeddedDelivery):
                with pytest.raises(IndexUnusable, match=finish):
                    read(where)
        else:
            assert export_at(where) == before
    report = restore(backup, where, copy=True, fast=True)
    assert report.slice is None and report.present_bytes and not report.copied_bytes
    assert not (where / manifest.RESTORE_NAME).exists(), "it is finished"
    assert export_at(where) == export_at(intact) and not verify(where, fast=False).damaged


def test_a_fast_restore_compares_only_sizes_and_times_and_a_slice_replaces_what_is_damaged(
    intact: Path, where: Path, tmp_path: Path, no_sync: None
) -> None:
    back_up(intact, tmp_path / "backup", copy=True)
    copy_index(intact, where)
    name = f"segments/{manifest.read_manifest(where).segments[0]}/texts.bytes"
    spoil(where, name, flip, random.Random(), keeps_time=True)
    assert not restore(tmp_path / "backup", where, copy=True, fast=True).copied_bytes
    assert [damage.path for damage in verify(where, fast=False).damaged] == [name]
    reports = [restore(tmp_path / "backup", where, copy=True, slice=(n, 2)) for n in (1, 2)]
    assert sum(report.copied_bytes > 0 for report in reports) == 1
    assert not verify(where, fast=False).damaged


def test_a_restore_is_refused_beside_a_slice_and_slices_run_beside_each_other(
    intact: Path, where: Path, tmp_path: Path, no_sync: None
) -> None:
    back_up(intact, tmp_path / "backup", copy=True)
    restore(tmp_path / "backup", where, copy=True, slice=(1, 2))
    with writer_lock.hold_writer_lock(where, shared=True):
        restore(tmp_path / "backup", where, copy=True, slice=(2, 2))
        with pytest.raises(IndexUnusable, match="or another restore of it, is running: wait"):
            restore(tmp_path / "backup", where, copy=True)
    assert not restore(tmp_path / "backup", where, copy=True).copied_bytes


def test_a_slice_with_damage_is_refused_and_says_so(
    intact: Path, where: Path, tmp_path: Path, no_sync: None
) -> None:
    copy_index(intact, where)
    segment = manifest.read_manifest(where).segments[0]
    spoil(where, f"segments/{segment}/texts.bytes", flip, random.Random(), keeps_time=True)
    errors = 0
    for number in (1, 2):
        try:
            back_up(where, tmp_path / "backup", copy=True, slice=(number, 2), workers=2)
        except SegmentDamaged as error:
            assert "texts.bytes is damaged" in str(error)
            errors += 1
    assert errors == 1


@pytest.mark.parametrize("command", ["verify", "indices", "search"])
def test_a_first_backup_that_was_killed_is_called_unfinished(
    command: str, intact: Path, tmp_path: Path, no_sync: None
) -> None:
    target = tmp_path / "backup"
    with (
        mock.patch.object(manifest, "commit", side_effect=KeyboardInterrupt),
        pytest.raises(KeyboardInterrupt),
    ):
        back_up(intact, target, copy=True)
    with pytest.raises(IndexUnusable, match="never finished: run esr backup again") as raised:
        if command == "search":
            EmbeddedIndex(str(target))
        elif command == "verify":
            verify(target, fast=False)
        else:
            EmbeddedGenerations(str(target))
    assert "damaged" not in str(raised.value)
    back_up(intact, target, copy=True)
    assert not verify(target, fast=False).damaged


def test_a_listing_neither_writes_nor_takes_the_lock_of_a_writer(
    intact: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def state_of_load() -> str:
        return EmbeddedGenerations(str(intact)).all()[0].state

    before = (intact / writer_lock.LOCK_NAME).stat()
    with monkeypatch.context() as patched:
        patched.setattr("fcntl.flock", mock.Mock(side_effect=AssertionError("a lock is taken")))
        assert state_of_load() == "broken"
    assert (intact / writer_lock.LOCK_NAME).stat().st_mtime_ns == before.st_mtime_ns
    with writer_lock.hold_writer_lock(intact):
        assert state_of_load() == "loading"


def test_a_backup_that_was_killed_in_its_first_step_can_be_repeated(
    intact: Path, tmp_path: Path, no_sync: None
) -> None:
    target = tmp_path / "backup"
    target.mkdir()
    (target / writer_lock.LOCK_NAME).touch()
    (target / "esr-backup.json.new").write_text("{")
    back_up(intact, target, copy=True)
    assert export_at(target) == export_at(intact) and not verify(target, fast=False).damaged


def write_generations(where: str, count: int) -> None:
    """Load anew again and again: all documents of a generation say its number."""
    for number in range(count):
        documents = (document(f"n{n}", f"storm {number}", f"flood {n}") for n in range(30))
        load(Path(where), documents, if_exists="replace", keep=0)


@pytest.mark.endurance
def test_backups_during_loads_are_those_of_one_commit(where: Path, tmp_path: Path) -> None:
    write_generations(str(where), 1)
    writer = ForkedProcess(write_generations, str(where), 60)
    seen, attempt = set(), 0
    while writer.is_running or attempt < 40:
        target = tmp_path / f"backup{attempt % 4}"
        back_up(where, target, copy=attempt % 2 == 0)
        attempt += 1
        assert not verify(target, fast=False).damaged
        exported = export_at(target)
        (number,) = {line.split("storm ")[1].split('"')[0] for line in exported}
        assert len(exported) == 30
        seen.add(number)
    writer.finish()
    assert len(seen) > 2, "no load ended meanwhile: the test shows nothing"


@pytest.mark.endurance
def test_a_killed_backup_or_restore_can_be_repeated(where: Path, tmp_path: Path) -> None:
    load(where, news(0, 200))
    target, rng = tmp_path / "backup", random.Random()
    for attempt in range(rounds(20)):
        EmbeddedDelivery(where).append(news(1000 + 3 * attempt, 3))
        command = ["backup", where, target] if attempt % 2 else ["restore", where, target, "--yes"]
        target = tmp_path / f"{command[0]}{attempt % 4}"
        command[2] = target
        before = export_at(target) if (target / manifest.MANIFEST_NAME).exists() else None
        process = ForkedProcess(run_esr, [*command, "--copy"])
        time.sleep(rng.uniform(0, 0.3))
        process.kill()
        if (target / manifest.MANIFEST_NAME).exists():
            assert not verify(target, fast=False).damaged
            assert export_at(target) in (before, export_at(where))
        ForkedProcess(run_esr, [*command, "--copy"]).finish()
        assert not verify(target, fast=False).damaged and export_at(target) == export_at(where)
        left = [path.name for path in target.glob("*/*") if path.suffix]
        assert not left, "what was killed leaves nothing"


def test_a_load_that_ends_while_its_index_is_listed_is_not_called_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = tmp_path / "index"
    load(where, [document("a", "A flood came.")])
    left = where / "segments" / "0123456789ab"
    left.mkdir()
    looks: list[Path] = []

    def end(folder: Path) -> bool:
        """The load deletes what it left, and ends, before its lock is looked at."""
        looks.append(folder)
        if left.exists():
            left.rmdir()
        return False

    monkeypatch.setattr("esr.folder.write.maintenance.is_being_written", end)
    assert [generation.state for generation in EmbeddedGenerations(str(where)).all()] == ["serving"]
    assert looks
