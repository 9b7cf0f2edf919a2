"""What recovers a folder: manifest, checkpoint, checksums, and the deletion of what is not referred to."""

from __future__ import annotations

import errno
import json
import os
import pickle
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import asdict, replace

from esr.errors import IndexMissing, IndexUnusable
from esr.folder.format import damage
from esr.folder.format.checkpoint import (
    CHECKPOINT_NAME,
    Checkpoint,
    read_checkpoint,
    remove_checkpoint,
    write_checkpoint,
)
from esr.folder.format.clean_up import delete_unreferenced, list_unreferenced, remove_index
from esr.folder.format.damage import (
    SMALL,
    Damage,
    Part,
    SegmentDamaged,
    find_damage,
    parts_of,
    read_checks,
    require_intact,
)
from esr.folder.format.files import check_file, encode_sealed, replace_json
from esr.folder.format.layer_info import LayerInfo
from esr.folder.format.manifest import (
    BACKUP_NAME,
    FORMAT,
    MANIFEST_NAME,
    RESTORE_NAME,
    UNNAMED,
    Manifest,
    ManifestDamaged,
    commit,
    is_bare,
    name_segment,
    period_of_segment,
    read_any_format,
    read_manifest,
)
from esr.folder.format.writer_lock import LOCK_NAME
from esr.folder.write.folder_writer import recover, start_or_resume
from esr.index.withdrawn import Withdrawn
from esr.index.writer import Description

PLAIN = Description("plain", True)


def layer(name: str, segment: str = "one", recipe: str | None = None) -> LayerInfo:
    return LayerInfo(name, segment, 0, 3, ("features",), recipe)


FULL = Manifest(
    PLAIN,
    ("one", "two"),
    7,
    (layer("a", "one", "r1"), layer("b", "two")),
    {"r1": {"made": "by"}},
    generation_name="20270102",
    kept_generations=(Manifest(PLAIN, ("two",), 5, generation_name="20270101"),),
    aliases={"US": ["United States"]},
    short_forms={"kim": ["kim jong un"]},
    withdrawn=Withdrawn(frozenset({"d1"}), 5),
    table="vectors",
)


# The manifest


def test_a_manifest_is_read_as_it_was_written(tmp_path: Path) -> None:
    assert commit(tmp_path, FULL) == FULL
    assert read_manifest(tmp_path) == FULL
    stored = replace(FULL, kept_generations=(replace(FULL.kept_generations[0], is_rejected=True),))
    assert Manifest.from_dict(stored.as_dict()) == stored
    bare = Manifest(PLAIN)
    assert Manifest.from_dict(bare.as_dict()) == bare
    assert not {"rejected", "aliases", "short_forms", "checksums", "withdrawn", "table"} & {*bare.as_dict()}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "is damaged"),
        (b"[]", "it holds no JSON object"),
        (b'{"format": "5"}', "it is incomplete"),
        (encode_sealed({"format": FORMAT}), "it is incomplete"),
        (encode_sealed({**FULL.as_dict(), "layers": [{"name": "a"}]}), "it is incomplete"),
        (encode_sealed(FULL.as_dict())[:-2] + b" \n", "is damaged"),
        *(  # found by fuzzing, in manifests without a checksum
            (json.dumps(FULL.as_dict() | change).encode(), "it is incomplete")
            for change in (
                {"recipes": None},
                {"recipes": {}},  # a layer has one
                {"recipes": {"r1": {"made_with": "x"}}},
                {"segments": [["one"]]},
                {"segments": ["../one"]},
                {"checksums": None},
                {"checksums": {"layers/a": ["x", 1, 1]}},
                {"description": {"analyzer": None, "title": True}},
                {"layers": [{**asdict(layer("a")), "start": "x"}]},
                {"layers": [{**asdict(layer("a")), "name": "../.."}]},
            )
        ),
    ],
)
def test_a_manifest_that_cannot_be_read_is_damaged(tmp_path: Path, content: bytes, problem: str) -> None:
    (tmp_path / MANIFEST_NAME).write_bytes(content)
    with pytest.raises(ManifestDamaged, match=problem) as raised:
        read_any_format(tmp_path)
    again = pickle.loads(pickle.dumps(raised.value))
    assert (again.path, again.problem, str(again)) == (
        raised.value.path,
        raised.value.problem,
        str(raised.value),
    )


@pytest.mark.parametrize("format", [0, FORMAT + 1])
def test_a_manifest_of_a_later_format_needs_a_newer_esr(tmp_path: Path, format: int) -> None:
    replace_json(tmp_path / MANIFEST_NAME, {**FULL.as_dict(), "format": format})
    with pytest.raises(IndexUnusable, match="use a newer esr"):
        read_any_format(tmp_path)


def test_an_older_format_is_read_only_to_be_migrated(tmp_path: Path) -> None:
    replace_json(tmp_path / MANIFEST_NAME, {**FULL.as_dict(), "format": 1})
    assert read_any_format(tmp_path).format == 1
    with pytest.raises(IndexUnusable, match="run esr migrate"):
        read_manifest(tmp_path)
    commit(tmp_path, replace(FULL, description=replace(PLAIN, analyzer_version=99)))
    assert read_any_format(tmp_path).description.analyzer_version == 99
    with pytest.raises(IndexUnusable, match="migrate"):
        read_manifest(tmp_path)


def test_what_is_no_index_is_told_apart(tmp_path: Path) -> None:
    with pytest.raises(IndexMissing, match="make one with esr load"):
        read_any_format(tmp_path / "missing")
    (tmp_path / LOCK_NAME).touch()
    (tmp_path / f"{MANIFEST_NAME}.new").touch()
    with pytest.raises(IndexMissing):  # a load was killed in its first step
        read_any_format(tmp_path)
    (tmp_path / "letter.txt").touch()
    with pytest.raises(IndexUnusable, match=f"it has no {MANIFEST_NAME}"):
        read_any_format(tmp_path)
    with pytest.raises(IndexUnusable, match="is a file, not an index folder"):
        read_any_format(tmp_path / "letter.txt")
    (tmp_path / "segments").mkdir()
    with pytest.raises(ManifestDamaged, match="it is missing"):
        read_any_format(tmp_path)
    (tmp_path / RESTORE_NAME).touch()
    with pytest.raises(IndexUnusable, match=f"not restored yet: .* esr restore BACKUP --index {tmp_path}"):
        read_any_format(tmp_path)
    (tmp_path / BACKUP_NAME).touch()
    with pytest.raises(IndexUnusable, match="a backup that was never finished"):
        read_any_format(tmp_path)
    (tmp_path / MANIFEST_NAME).mkdir()
    with pytest.raises(ManifestDamaged):
        read_any_format(tmp_path)


def test_a_folder_that_may_not_be_listed_is_not_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert is_bare(tmp_path)

    def refuse(_: Path) -> Any:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", refuse)
    assert not is_bare(tmp_path)


def test_a_generation_keeps_the_newest_before_it_and_a_rollback_rejects_the_later_ones() -> None:
    first = Manifest(PLAIN).next_generation("1", ("a",), PLAIN, keep=2)
    assert (first.commit_number, first.kept_generations, first.newest_name) == (1, (), "1")
    third = first.next_generation("2", ("b",), PLAIN, keep=2).next_generation("3", ("c",), PLAIN, keep=2)
    assert [kept.generation_name for kept in third.kept_generations] == ["2", "1"]
    back = third.rolled_back_to("1")
    assert (back.generation_name, back.segments, back.commit_number) == ("1", ("a",), 4)
    assert [(kept.generation_name, kept.is_rejected) for kept in back.kept_generations] == [
        ("3", True),
        ("2", True),
    ]
    assert (back.newest_name, back.is_rejected) == ("3", False)
    fourth = back.next_generation("4", ("d",), PLAIN, keep=2)
    assert [kept.generation_name for kept in fourth.kept_generations] == ["1", "3"], "rejected ones go first"
    again = back.rolled_back_to("2")
    assert {kept.generation_name: kept.is_rejected for kept in again.kept_generations} == {
        "3": True,
        "1": False,
    }
    assert third.without_generations(["2"]).kept_generations == third.kept_generations[1:]


def test_a_commit_that_changes_nothing_is_the_same_commit() -> None:
    assert FULL.with_aliases(FULL.aliases) is FULL
    assert FULL.with_short_forms(FULL.short_forms) is FULL
    assert FULL.with_withdrawn(FULL.withdrawn) is FULL
    for changed in (
        FULL.with_aliases({}),
        FULL.with_short_forms({}),
        FULL.with_withdrawn(Withdrawn()),
        FULL.with_table(""),
        FULL.without_generations([]),
        FULL.with_layers(FULL.layers, FULL.recipes),
    ):
        assert changed.commit_number == FULL.commit_number + 1


def test_a_recipe_goes_with_its_last_layer() -> None:
    assert FULL.with_layers(FULL.layers, FULL.recipes).recipes == FULL.recipes
    assert not FULL.with_layers(FULL.layers[1:], FULL.recipes).recipes
    following = FULL.next_generation("20270103", ("two",), PLAIN, [layer("c", "two")])
    assert [kept.name for kept in following.layers] == ["b", "c"] and not following.recipes
    assert (following.aliases, following.table, following.withdrawn) == (
        FULL.aliases,
        FULL.table,
        FULL.withdrawn,
    )
    assert FULL.layers_of("two") == [FULL.layers[1]]


def test_an_index_has_documents_or_a_generation_without_any() -> None:
    assert not Manifest(PLAIN).has_index
    assert Manifest(PLAIN, ("a",)).has_index
    assert Manifest(PLAIN, generation_name="1").has_index
    assert Manifest(PLAIN).generation_name == UNNAMED


def test_a_check_is_kept_and_only_that_of_a_new_file_is_read(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / "segments" / name).mkdir(parents=True)
        (tmp_path / "segments" / name / "checksums.json").write_text(name)
    first = Manifest(PLAIN, ("one",)).with_checksums(tmp_path)
    (tmp_path / "segments" / "one" / "checksums.json").write_text("changed")
    second = replace(first, segments=("one", "two")).with_checksums(tmp_path)
    assert second.checksums == {
        **first.checksums,
        "segments/two/checksums.json": check_file(tmp_path / "segments" / "two" / "checksums.json"),
    }
    assert set(replace(second, segments=("two",)).with_checksums(tmp_path).checksums) == {
        "segments/two/checksums.json"
    }


def test_a_segment_is_named_after_the_period_of_its_documents_if_the_index_is_divided() -> None:
    for period in ("2017-03", None):
        assert period_of_segment(name_segment("5d2f", period)) == period
    assert name_segment("5d2f", "2017-03") == "2017-03.5d2f" and name_segment("5d2f", None) == "5d2f"


# The checkpoint


def test_a_checkpoint_is_read_as_it_was_written_and_grows_by_segments(tmp_path: Path) -> None:
    started = Checkpoint("20270103", PLAIN, append=True, base=7, is_migration=True)
    grown = started.with_segment("one", layer("a")).with_segment("two", None)
    assert grown.segments == ("one", "two") and grown.layers == (layer("a"),)
    grown = replace(grown, documents=5, digest="digest")
    written = write_checkpoint(tmp_path, grown)
    assert written == read_checkpoint(tmp_path) == grown
    assert grown.as_manifest().generation_name == "20270103"
    assert parts_of(grown.as_manifest()) == [
        Part("segments/one", None),
        Part("segments/two", None),
        Part("layers/a", None),
    ]
    remove_checkpoint(tmp_path)
    assert read_checkpoint(tmp_path) is None
    remove_checkpoint(tmp_path)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"{}",
        encode_sealed({"description": {}}),
        encode_sealed({"description": 3}),
        b'{"description": {}, "checksums": null}',
    ],
)
def test_a_checkpoint_that_cannot_be_read_is_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / CHECKPOINT_NAME).write_bytes(content)
    assert read_checkpoint(tmp_path) is None


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (errno.EMFILE, "this process may have no more files open"),
        (errno.EACCES, "this user may not read it"),
        (errno.EIO, "Input/output error"),
    ],
)
def test_a_checkpoint_that_may_not_be_opened_keeps_the_segments_of_its_load(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, reason: str
) -> None:
    commit(tmp_path, Manifest(PLAIN))
    (tmp_path / "segments" / "one").mkdir(parents=True)
    start = Checkpoint("20270103", PLAIN, append=False, base=1)
    written = write_checkpoint(tmp_path, replace(start, segments=("one",)))
    read_bytes = Path.read_bytes

    def refuse(path: Path) -> bytes:
        if path.name == CHECKPOINT_NAME:
            raise OSError(number, os.strerror(number), str(path))
        return read_bytes(path)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_bytes", refuse)
        with pytest.raises(IndexUnusable, match=f"{CHECKPOINT_NAME}: {reason}"):
            recover(tmp_path, PLAIN)
        with pytest.raises(IndexUnusable, match=f"{CHECKPOINT_NAME}: {reason}"):
            start_or_resume(tmp_path, start, resume=True)
    assert (tmp_path / "segments" / "one").exists()
    assert read_checkpoint(tmp_path) == written


# Damage


@pytest.fixture
def part(tmp_path: Path) -> Part:
    """A segment of a small and a large file, as it was recorded."""
    folder = tmp_path / "segments" / "one"
    folder.mkdir(parents=True)
    (folder / "small").write_bytes(bytes(SMALL))
    (folder / "large").write_bytes(bytes(SMALL + 1))
    checks = {name: check_file(folder / name) for name in ("small", "large")}
    replace_json(folder / "checksums.json", checks)
    return Part("segments/one", check_file(folder / "checksums.json"))


def alter(path: Path, content: bytes, *, keeps_time: bool = True) -> None:
    status = path.stat()
    path.write_bytes(content)
    shift = 0 if keeps_time else 1_000_000_000
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + shift))


def test_intact_files_have_no_damage_and_a_part_without_checks_has_none(tmp_path: Path, part: Part) -> None:
    assert [*find_damage(tmp_path, part)] == [] == [*find_damage(tmp_path, part, read=False)]
    require_intact(tmp_path, [part, Part("segments/missing", None)])
    assert set(read_checks(tmp_path, part)) == {
        "segments/one/checksums.json",
        "segments/one/small",
        "segments/one/large",
    }
    assert not part.is_layer and Part("layers/a", None).is_layer
    alone = Part("layers/a", part.check)
    assert read_checks(tmp_path, alone) == {"layers/a": part.check}


def test_content_is_compared_if_it_is_asked_for_or_small_or_modified(tmp_path: Path, part: Part) -> None:
    large, small = (tmp_path / "segments" / "one" / name for name in ("large", "small"))
    changed = b"x" + bytes(SMALL)
    alter(large, changed)
    found = [Damage("segments/one/large", "its checksum does not match")]
    assert [*find_damage(tmp_path, part)] == found
    assert [*find_damage(tmp_path, part, names=["large"])] == found
    assert [*find_damage(tmp_path, part, names=["small"])] == []
    assert [*find_damage(tmp_path, part, read=False)] == []
    alter(large, changed, keeps_time=False)
    assert [*find_damage(tmp_path, part, read=False)] == found
    with pytest.raises(SegmentDamaged, match="large is damaged, its checksum does not match") as raised:
        require_intact(tmp_path, [part], read=False)
    again = pickle.loads(pickle.dumps(raised.value))
    assert (again.path, again.problem) == (large, "its checksum does not match")
    alter(large, bytes(SMALL + 1))
    alter(small, b"x" + bytes(SMALL - 1))
    assert [path for path, _ in find_damage(tmp_path, part, read=False)] == ["segments/one/small"]


def test_sizes_missing_files_and_files_that_cannot_be_read_are_damage(
    tmp_path: Path, part: Part, monkeypatch: pytest.MonkeyPatch
) -> None:
    large = tmp_path / "segments" / "one" / "large"
    alter(large, b"x")
    (found,) = find_damage(tmp_path, part, read=False)
    assert found.problem == f"it has 1 bytes instead of {SMALL + 1:,}"
    large.unlink()
    (found,) = find_damage(tmp_path, part, read=False)
    assert found.problem == "it is missing"

    def fail(path: str) -> Any:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(damage, "check_file", fail)
    problems = {found.problem for found in find_damage(tmp_path, part)}
    assert problems == {"it cannot be read: Input/output error"}


@pytest.mark.parametrize(
    ("number", "problem"),
    [(errno.EACCES, "this user may not read it"), (errno.EMFILE, "this process may have no more files open")],
)
def test_a_file_that_may_not_be_opened_is_not_damaged(
    tmp_path: Path, part: Part, monkeypatch: pytest.MonkeyPatch, number: int, problem: str
) -> None:
    """Whoever deletes the folder then, as for a damaged manifest, deletes what is intact."""
    commit(tmp_path, Manifest(PLAIN))

    def refuse(path: Any) -> Any:
        raise OSError(number, os.strerror(number), str(path))

    with monkeypatch.context() as patched:
        patched.setattr(damage, "check_file", refuse)
        with pytest.raises(IndexUnusable, match=f"cannot open .*checksums.json: {problem}") as raised:
            require_intact(tmp_path, [part])
        assert not isinstance(raised.value, SegmentDamaged)
    with monkeypatch.context() as patched:
        patched.setattr(Path, "read_bytes", refuse)
        with pytest.raises(IndexUnusable, match=f"cannot open .*checksums.json: {problem}"):
            read_checks(tmp_path, part)
        with pytest.raises(IndexUnusable, match=f"cannot open .*{MANIFEST_NAME}: {problem}") as raised:
            read_any_format(tmp_path)
        assert not isinstance(raised.value, ManifestDamaged)


def test_a_damaged_table_of_checksums_is_the_only_damage_that_is_told(
    tmp_path: Path, part: Part, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "segments" / "one" / "checksums.json"
    content = table.read_bytes()
    table.write_bytes(content[:-1] + b"x")
    (found,) = find_damage(tmp_path, part)
    assert found == Damage("segments/one/checksums.json", "its checksum does not match")
    # The file is as it was recorded, but what was recorded is no table.
    table.write_bytes(encode_sealed({"small": 3}))
    (found,) = find_damage(tmp_path, Part(part.path, check_file(table)))
    assert found.path == "segments/one/checksums.json"
    table.unlink()
    (found,) = find_damage(tmp_path, part)
    assert found.problem == "it is missing"


# Deletion


def test_what_neither_commits_nor_a_checkpoint_refer_to_is_deleted(tmp_path: Path) -> None:
    for name in ("one", "two", "three", "left"):
        (tmp_path / "segments" / name).mkdir(parents=True)
        (tmp_path / "segments" / name / "file").touch()
    (tmp_path / "layers").mkdir()
    for name in ("a", "b", "c", "vectors", "left"):
        (tmp_path / "layers" / name).touch()
    last = commit(tmp_path, replace(FULL, checksums={}))
    write_checkpoint(tmp_path, Checkpoint("3", PLAIN, False, 7, ("three",), (layer("c", "three"),)))
    left = {tmp_path / "segments" / "left", tmp_path / "layers" / "left"}
    assert {*list_unreferenced(tmp_path, last)} == left
    delete_unreferenced(tmp_path)
    assert not any(path.exists() for path in left)
    assert {path.name for path in (tmp_path / "segments").iterdir()} == {"one", "two", "three"}
    assert {path.name for path in (tmp_path / "layers").iterdir()} == {"a", "b", "c", "vectors"}
    remove_checkpoint(tmp_path)
    delete_unreferenced(tmp_path, last)
    assert {path.name for path in (tmp_path / "segments").iterdir()} == {"one", "two"}
    delete_unreferenced(tmp_path, replace(last, segments=("one",), kept_generations=()))
    assert {path.name for path in (tmp_path / "segments").iterdir()} == {"one"}


def test_nothing_is_deleted_where_nothing_is_left(tmp_path: Path) -> None:
    commit(tmp_path, Manifest(PLAIN))
    delete_unreferenced(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [MANIFEST_NAME]


def test_a_file_that_cannot_be_deleted_is_left_to_the_next_writer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "layers").mkdir()
    (tmp_path / "layers" / "left").touch()

    def refuse(self: Path, missing_ok: bool = False) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "unlink", refuse)
    delete_unreferenced(tmp_path, Manifest(PLAIN))
    assert (tmp_path / "layers" / "left").exists()


def test_an_index_is_removed_with_its_folder_unless_that_holds_something_else(tmp_path: Path) -> None:
    for name in ("alone", "shared"):
        folder = tmp_path / name
        (folder / "segments").mkdir(parents=True)
        (folder / "layers").mkdir()
        commit(folder, Manifest(PLAIN))
        for file in (f"{MANIFEST_NAME}.new", CHECKPOINT_NAME, f"{CHECKPOINT_NAME}.new", LOCK_NAME):
            (folder / file).touch()
    (tmp_path / "shared" / "letter.txt").touch()
    for name in ("alone", "shared"):
        remove_index(tmp_path / name)
    assert [path.name for path in tmp_path.rglob("*")] == ["shared", "letter.txt"]


def test_each_part_of_an_index_is_in_one_slice(tmp_path: Path) -> None:
    parts = [Part(f"layers/{number}", None) for number in range(40)]
    slices = [[part.path for part in parts if part.is_in((number, 3))] for number in (1, 2, 3)]
    assert sorted(path for slice in slices for path in slice) == sorted(part.path for part in parts)
    assert all(slices) and all(part.is_in(None) for part in parts)
