"""Loads and the generations that they form: their descriptions in `_meta`, templates, and processes.

Both indices of a load store its description, since one may be missing. A copy of an index that still has the
`_meta` of its original is incomplete.

A generation is headed by a load, and consists of its indices and possibly those of other loads. A heartbeat
in the `_meta` of a load's index, which the writer renews, distinguishes a live load from a killed one. On the
writer's machine, its process id does. Process ids are compared only within one process space: containers may
share a host name, and each has a process 1.
"""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from elasticsearch import AuthorizationException, Elasticsearch, NotFoundError

from esr import resources
from esr.elastic.cluster import (
    DOCUMENTS,
    SENTENCES,
    AliasTargets,
    Cluster,
    belongs_to,
    documents_index,
    generation_name,
    look_up,
    sentences_index,
)
from esr.elastic.dialect import Dialect
from esr.elastic.documents import added_properties
from esr.elastic.login import is_from_elasticsearch
from esr.elastic.requests import ask
from esr.errors import EsrError, IndexUnusable
from esr.index.generations import BROKEN, KEPT, LOADING, SERVING
from esr.index.names import Aliases
from esr.index.withdrawn import NONE_WITHDRAWN, Withdrawn
from esr.index.writer import Description, outdated_analyzer
from esr.text.analyzer_definitions import get_definition

FORMAT = 7


# Templates


def install_templates(cluster: Cluster) -> None:
    """Put component templates, index templates and stored scripts. Repeating it changes nothing.

    Ids of scripts contain their version. Existing scripts are not put again, since Elasticsearch would
    compile them.
    """
    client, dialect = cluster.client, cluster.dialect
    with cluster.translate_errors():
        for name in resources.list_names("components", ".json"):
            template = dialect.template(resources.load_json(f"components/{name}.json"))
            client.cluster.put_component_template(name=name, **template)
        for name in resources.list_names("indices", ".json"):
            template = dialect.template(resources.load_json(f"indices/{name}.json"))
            client.indices.put_index_template(name=name, **template)
        for name in sorted({*resources.list_names("scripts", ".painless")} - {*dialect.missing_scripts}):
            source = dialect.script(resources.read_text(f"scripts/{name}.painless"))
            script = {"lang": "painless", "source": source}
            if _stored_script(client, name) != script:
                client.put_script(id=name, script=script)


def map_field(cluster: Cluster, indices: Iterable[str], component: str, name: str) -> None:
    """Add a field of a component template to indices that older versions of esr created without it."""
    template = resources.load_json(f"components/{component}.json")["template"]
    field = cluster.dialect.template(template["mappings"]["properties"][name])
    with cluster.translate_errors():
        for index in indices:
            mappings = cluster.client.indices.get_mapping(index=index)[index]["mappings"]
            if name not in mappings["properties"]:
                cluster.client.indices.put_mapping(index=index, properties={name: field})


def _stored_script(client: Elasticsearch, name: str) -> Mapping[str, Any] | None:
    """A stored script; None if it does not exist or the login may not read it."""
    try:
        answer = client.get_script(id=name)
    except (NotFoundError, AuthorizationException):
        return None
    return {key: answer["script"][key] for key in ("lang", "source")}


def index_body(
    description: Description, shards: int, replicas: int | None, meta: Mapping[str, Any]
) -> dict[str, Any]:
    """The body of a new index, with what the templates leave open: analyzer, shards, replicas and `_meta`.

    An index created without this body rejects entries, since the templates name a nonexistent pipeline.
    """
    analysis = get_definition(description.analyzer).settings
    analyzers = analysis["analyzer"]
    added = added_properties(description)
    replication = {} if replicas is None else {"auto_expand_replicas": False, "number_of_replicas": replicas}
    return {
        "settings": {
            "number_of_shards": shards,
            **replication,
            "final_pipeline": "_none",  # replaces the templates' nonexistent pipeline
            "analysis": {**analysis, "analyzer": {**analyzers, "default": analyzers[description.analyzer]}},
        },
        "mappings": {"_meta": meta, **({"properties": added} if added else {})},
    }


# Descriptions of loads

LONGEST_NAMES = 3000
"""Maximum length of index names in a request. Elasticsearch limits the request line to 4,096 bytes."""
_COPY_OWNER = "copying"


@dataclass(frozen=True, slots=True)
class Load:
    """One load: its index of sentences, how it was made, and by whom. An interrupted load is not complete.

    `recipes` are those of its enrichment, by digest. A load that `is_head` heads a generation, which consists
    of the indices of sentences `members`; other loads only belong to generations. `manifest` identifies the
    contents of the finished load. `impacts` describes its impacts, empty if it has none. `is_rejected` marks
    the head of a generation from which a rollback went back to an older one. `aliases` and `short_forms` are
    those of names. `withdrawn` are the documents removed for good, of which the newest load has the list.
    `heartbeat` is when its writer was last alive, in seconds since 1970, 0 if unknown.
    `missing` are those of its two indices that do not exist; only `all_loads` sets it.
    """

    index: str
    description: Description
    is_complete: bool
    owner: str
    recipes: Mapping[str, Any] = field(default_factory=dict)
    members: tuple[str, ...] = ()
    is_head: bool = True
    manifest: Mapping[str, Any] = field(default_factory=dict)
    impacts: Mapping[str, Any] = field(default_factory=dict)
    format: int = field(default_factory=lambda: FORMAT)
    is_rejected: bool = False
    aliases: Mapping[str, Any] = field(default_factory=dict)
    short_forms: Mapping[str, Any] = field(default_factory=dict)
    heartbeat: float = 0.0
    missing: tuple[str, ...] = ()
    withdrawn: Withdrawn = NONE_WITHDRAWN

    @property
    def documents_index(self) -> str:
        return documents_index(self.index)

    @property
    def generation(self) -> str:
        """The name of the generation that it heads."""
        return generation_name(self.index)

    def as_meta(self, dialect: Dialect) -> dict[str, Any]:
        """The `_meta` of both of its indices, with the request template for the clients in `clients/`."""
        return {
            "esr": {
                "format": self.format,
                "index": self.index,
                "complete": self.is_complete,
                "owner": self.owner,
                "members": list(self.members),
                "heads": self.is_head,
                "manifest": dict(self.manifest),
                "lifts": dict(self.impacts),
                "recipes": dict(self.recipes),
                **({"rejected": True} if self.is_rejected else {}),
                **({"aliases": dict(self.aliases)} if self.aliases else {}),
                **({"short_forms": dict(self.short_forms)} if self.short_forms else {}),
                # As text, since Elasticsearch may merge items of a list in a `_meta`.
                **({"withdrawn": json.dumps(self.withdrawn.as_dict())} if self.withdrawn else {}),
                **({} if self.is_complete or not self.heartbeat else {"heartbeat": self.heartbeat}),
                **self.description.as_dict(),
                # No server can analyze a query by language, so clients get no template.
                **({} if self.description.is_by_language else {"request": _request_template(dialect)}),
            }
        }


@cache
def _request_template(dialect: Dialect) -> str:
    """The request template as text, since Elasticsearch may merge items of a list in a `_meta`."""
    template = dialect.search(resources.load_json("requests/default.json"))
    return json.dumps(template, separators=(",", ":"))


def searchable_loads(cluster: Cluster) -> list[Load]:
    """The loads behind the alias, oldest first: at least one.

    Raises IndexMissing, or IndexUnusable if the alias points to an index that esr did not create, that needs
    `esr migrate`, or whose index of sentences was deleted by hand.
    """
    loads = aliased_loads(cluster)
    if not loads:
        check_complete(cluster)
        raise cluster.index_missing()
    check_format(cluster, loads)
    return loads


def check_complete(cluster: Cluster) -> None:
    """Raise IndexMissing if the aliases have no indices, IndexUnusable if an index was deleted by hand."""
    with cluster.translate_errors():
        cluster.look_up_targets()


def check_format(cluster: Cluster, loads: Iterable[Load]) -> None:
    """Raise IndexUnusable for a load of an older format."""
    for load in loads:
        if load.format != FORMAT:
            raise IndexUnusable(
                f"{cluster.where} has index format {load.format}, this esr searches {FORMAT}: run esr migrate"
            )
        if not load.description.is_current:
            raise IndexUnusable(outdated_analyzer(cluster.where, load.description))


def aliased_loads(cluster: Cluster) -> list[Load]:
    """The loads behind the alias, oldest first. Empty if there are none.

    Of a load in an older format, only the documents can be read. Raises IndexUnusable if the alias points to
    an index that esr did not create, or that a newer esr created.
    """
    loads = []
    for index, meta in _read(cluster, cluster.alias):
        if meta is None or not index.endswith(SENTENCES):
            raise IndexUnusable(
                f"{cluster.where} points to {index!r}, which is not an index of sentences made by esr"
            )
        if meta["format"] > FORMAT:
            raise IndexUnusable(
                f"{cluster.where} has index format {meta['format']}, this esr knows {FORMAT}: use a newer esr"
            )
        loads.append(_parse(index, meta))
    return loads


def all_loads(cluster: Cluster) -> list[Load]:
    """All loads of this alias, served or not, oldest first, except those of a newer esr.

    Both indices of a load store its description, so either may be missing.
    """
    stored = dict(_read(cluster, ",".join(f"{cluster.alias}-*{kind}" for kind in (SENTENCES, DOCUMENTS))))
    loads = []
    for index in sorted({sentences_index(name) for name in stored}):
        names = (index, documents_index(index))
        meta = next(stored[name] for name in names if name in stored)
        if meta and belongs_to(index, cluster.alias) and meta["format"] <= FORMAT:
            missing = tuple(name for name in names if name not in stored)
            load = replace(_parse(index, meta), missing=missing)
            loads.append(_date_copy(cluster, load) if load.owner == _COPY_OWNER else load)
    return loads


def _date_copy(cluster: Cluster, load: Load) -> Load:
    """A copied load that has no description of its own yet, with its creation time as heartbeat.

    Its writer sends heartbeats well before the creation time is overdue.
    """
    name = "index.creation_date"
    with cluster.translate_errors():
        answer = cluster.client.indices.get_settings(
            index=[load.index, load.documents_index], name=name, flat_settings=True, ignore_unavailable=True
        )
    created = (int(body["settings"][name]) for body in answer.values())
    return replace(load, heartbeat=max(created, default=0) / 1000)


def newest_generation(cluster: Cluster) -> str:
    """The greatest name of a generation of this alias, "" if there is none."""
    return max((load.generation.partition("-")[0] for load in all_loads(cluster)), default="")


def pin_indices(cluster: Cluster, loads: Iterable[Load]) -> Cluster:
    """The same servers, with the indices of these loads in place of the aliases, which may move.

    If the names are too long for a request, the aliases remain.
    """
    names = sorted(load.index for load in loads)
    return pin_targets(cluster, AliasTargets(",".join(names), ",".join(map(documents_index, names))))


def pin_targets(cluster: Cluster, targets: AliasTargets) -> Cluster:
    """The same servers, with these indices in place of the aliases, unless their names are too long."""
    return cluster.pin(targets) if max(map(len, targets)) <= LONGEST_NAMES else cluster


def aliases_of(loads: Sequence[Load]) -> Aliases:
    """The aliases of names of a generation. Loads appended after they were stored lack them."""
    aliases = next((load.aliases for load in loads if load.aliases), {})
    short_forms = next((load.short_forms for load in loads if load.short_forms), {})
    return Aliases(aliases, short_forms)


def with_aliases(cluster: Cluster, load: Load) -> Load:
    """A new load with the aliases of names of the loads behind the alias, and the list of the newest one."""
    loads = aliased_loads(cluster)
    aliases = aliases_of(loads)
    withdrawn = loads[-1].withdrawn if loads else NONE_WITHDRAWN
    return replace(load, aliases=aliases.as_dict(), short_forms=aliases.short_forms, withdrawn=withdrawn)


def read(cluster: Cluster, index: str) -> list[Load]:
    """The load with this index of sentences, if it exists."""
    return [_parse(name, meta) for name, meta in _read(cluster, index) if meta]


def write(cluster: Cluster, load: Load) -> None:
    """Write the `_meta` of the existing indices of a load in one step."""
    _write(cluster, load, load.index, load.documents_index)


def write_sentences(cluster: Cluster, load: Load) -> None:
    """Write the `_meta` of the index of sentences alone, from which it is read."""
    _write(cluster, load, load.index)


def _write(cluster: Cluster, load: Load, *indices: str) -> None:
    with cluster.translate_errors():
        stored = load.as_meta(cluster.dialect)
        cluster.client.indices.put_mapping(index=indices, meta=stored, ignore_unavailable=True)


def _read(cluster: Cluster, pattern: str) -> list[tuple[str, Mapping[str, Any] | None]]:
    with cluster.translate_errors():
        try:
            # A wildcard matches closed indices too: otherwise they would count as deleted.
            expand = ["open", "closed"]
            answer = ask(
                cluster, lambda: cluster.client.indices.get_mapping(index=pattern, expand_wildcards=expand)
            )
        except NotFoundError as error:
            if not is_from_elasticsearch(error):
                raise  # the answer is not from Elasticsearch
            return []
    return [(index, body["mappings"].get("_meta", {}).get("esr")) for index, body in sorted(answer.items())]


def _parse(index: str, meta: Mapping[str, Any]) -> Load:
    if meta.get("index", index) != index:
        return replace(
            _parse(index, {**meta, "index": index}),  # a copy still has the `_meta` of its original
            is_complete=False,
            owner=_COPY_OWNER,
            members=(index,),
            is_head=False,
        )
    return Load(
        index,
        Description.from_dict(meta),
        meta["complete"],
        meta["owner"],
        meta.get("recipes", {}),
        tuple(meta.get("members", (index,))),
        meta.get("heads", True),
        meta.get("manifest", {}),
        meta.get("lifts", {}),
        meta["format"],
        meta.get("rejected", False),
        meta.get("aliases", {}),
        meta.get("short_forms", {}),
        meta.get("heartbeat", 0.0),
        withdrawn=Withdrawn.from_dict(json.loads(meta.get("withdrawn", "{}"))),
    )


# The processes that write loads


_PROC = Path("/proc")


class LoadOwner(NamedTuple):
    """The process that writes a load. `host` is a name for people.

    `process_space` is the scope in which a process id is unique. `started` distinguishes a process from an
    earlier one with the same id. Without a process id, it is unknown whether the load is alive.
    """

    host: str
    process_space: str = ""
    process_id: int = 0
    started: str = ""

    @classmethod
    def parse(cls, text: str) -> LoadOwner:
        host, *rest = text.rsplit(":", 3)
        if len(rest) != 3:
            return cls(host)
        space, process_id, started = rest
        return cls(host, space, int(process_id), started)

    def __str__(self) -> str:
        return ":".join(map(str, self))

    @property
    def is_near(self) -> bool:
        """Whether the process, if alive, is visible from this one."""
        return self.process_id > 0 and self.process_space == _process_space()

    @property
    def is_running(self) -> bool:
        """Whether the process of a near owner is alive."""
        return _is_alive(self.process_id) and _started(self.process_id) == self.started


def this_process() -> str:
    pid = os.getpid()
    return str(LoadOwner(socket.gethostname(), _process_space(), pid, _started(pid)))


@cache
def _process_space() -> str:
    """The boot of this machine and the namespace of its process ids, or else the host name."""
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}-{(_PROC / 'self/ns/pid').stat().st_ino}"
    except OSError:
        return socket.gethostname()


def _is_alive(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _started(process_id: int) -> str:
    """The start time of a process, in ticks since the boot; "" if the system does not tell."""
    try:
        stat = (_PROC / str(process_id) / "stat").read_text()
    except OSError:
        return ""
    return stat.rpartition(")")[2].split()[19]  # the 22nd field; the name before it may contain blanks


INTERVAL = 10.0
"""Seconds between two heartbeats."""
PATIENCE = 120.0
"""Seconds without a heartbeat after which a load counts as killed. Clocks must differ by much less."""
_POLL_SECONDS = 1.0


class Heartbeat:
    """Renews the heartbeats of loads in a background thread while the block runs."""

    def __init__(self, cluster: Cluster, *loads: Load) -> None:
        self._cluster = cluster
        self._loads = loads
        self._stopped = threading.Event()
        self._lost: LoadOwner | None = None
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)

    def add(self, load: Load) -> None:
        self._loads = (*self._loads, load)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Raise EsrError if another process has taken a load over, unless the block failed."""
        self._stopped.set()
        # A renewal in progress must end before the caller's next write. After a failure there is no next
        # write.
        self._thread.join(None if error is None else _POLL_SECONDS)
        if self._lost is not None and error is None:
            raise EsrError(
                f"a process on {self._lost.host} has taken this load over, as it showed no sign of life for "
                f"{PATIENCE:g} s: that one will finish it"
            )

    def _run(self) -> None:
        while not self._stopped.wait(INTERVAL):
            for load in self._loads:
                try:
                    self._renew(load)
                except EsrError:  # the load itself will report the error
                    continue

    def _renew(self, load: Load) -> None:
        for stored in read(self._cluster, load.index):  # empty if the index was deleted
            if stored.owner == load.owner:
                write_sentences(self._cluster, replace(stored, heartbeat=time.time()))
            else:
                self._lost = LoadOwner.parse(stored.owner)


def is_killed(load: Load) -> bool:
    """Whether the writer of an incomplete load has ended, as far as can be determined."""
    owner = LoadOwner.parse(load.owner)
    if owner.is_near:
        return not owner.is_running
    return load.heartbeat > 0 and time.time() - load.heartbeat > PATIENCE


def is_known_alive(load: Load) -> bool:
    """Whether the writer is known to be alive. Without process id and heartbeat, it is not."""
    return not is_killed(load) and (LoadOwner.parse(load.owner).is_near or load.heartbeat > 0)


def wait_for_end(cluster: Cluster, load: Load) -> bool:
    """Whether the writer of a load has ended. Waits for its next heartbeat, or until that is long overdue.

    Waiting makes the result independent of other machines' clocks.
    """
    if LoadOwner.parse(load.owner).is_near or not load.heartbeat:
        return not is_known_alive(load)
    end = time.monotonic() + PATIENCE
    while not is_killed(load):
        if time.monotonic() > end:
            return True
        time.sleep(_POLL_SECONDS)
        stored = read(cluster, load.index)
        if not stored or stored[0].heartbeat != load.heartbeat:
            return False
    return True


# Generations


def serve(cluster: Cluster, load: Load, instead_of: Collection[str] | None = None) -> None:
    """Point the aliases to the generation that a load heads, and to nothing else, in one step.

    Raises EsrError if `instead_of` is given and the aliases point to other indices of sentences.
    """
    before = _read_targets(cluster)
    if instead_of is not None and {*filter(None, before.sentences.split(","))} != {*instead_of}:
        if not instead_of:
            raise EsrError(f"another load has made an index at {cluster.where} meanwhile: it is served")
        raise EsrError(f"{cluster.where} no longer points to the indices to be replaced")
    for old in aliased_loads(cluster):
        if not old.is_complete and old.index not in load.members:
            # It is served, so its load was interrupted after the switch.
            write(cluster, replace(old, is_complete=True))
    actions: list[dict[str, Any]] = []
    for alias, names, wanted in (
        (cluster.alias, before.sentences, load.members),
        (cluster.documents_alias, before.documents, map(documents_index, load.members)),
    ):
        old_indices, new_indices = {*filter(None, names.split(","))}, {*wanted}
        for index in sorted(old_indices - new_indices):
            # The request fails as a whole if another process has moved the alias since it was looked up.
            actions.append({"remove": {"index": index, "alias": alias, "must_exist": True}})
        actions += ({"add": {"index": index, "alias": alias}} for index in sorted(new_indices - old_indices))
    try:
        with cluster.translate_errors():
            cluster.client.indices.update_aliases(actions=actions)
    except EsrError:
        # If the answer was lost, the repeated request finds nothing to remove, as the switch is done.
        if {new.index for new in aliased_loads(cluster)} != set(load.members):
            raise


def load_states(cluster: Cluster) -> list[tuple[Load, str]]:
    """The loads that head a generation, oldest first, with the state of each."""
    loads = all_loads(cluster)
    served = _read_targets(cluster).loads
    serving = [load for load in loads if set(load.members) == served]
    # If aliases were moved by hand, the newest load behind them represents all loads.
    heads = serving or [load for load in loads if load.index in served]
    states = []
    for load in loads:
        if load in heads[-1:]:
            states.append((load, SERVING))
        elif load.is_head and load.is_complete:
            states.append((load, BROKEN if missing_indices(load, loads) else KEPT))
        elif not load.is_complete and load.index not in served:
            states.append((load, BROKEN if is_killed(load) else LOADING))
    return states


def missing_indices(load: Load, loads: Sequence[Load]) -> tuple[str, ...]:
    """The indices deleted by hand of the generation that a load heads, given all loads."""
    by_index = {each.index: each.missing for each in loads}
    return tuple(
        name for index in load.members for name in by_index.get(index, (index, documents_index(index)))
    )


def delete_old_generations(cluster: Cluster, keep: int, before: Load | None, served: Load) -> list[str]:
    """Delete the generations that are not served, except the newest `keep`. Returns notes for the user.

    Rejected generations are deleted before others, and incomplete ones are never kept. The notes are about
    the generation `before` the switch to `served`, and about indices that could not be deleted, which is no
    error after the switch. A node that hung may not have seen the switch yet and report the served generation
    as kept, so its indices are never deleted.
    """
    states = [(load, state) for load, state in load_states(cluster) if load.index != served.index]
    kept_loads = [load for load, state in states if state == KEPT]
    incomplete = [load for load, state in states if state == BROKEN and load.is_complete]
    if before is not None and before.is_rejected:  # a rollback from it was killed before the switch
        before = replace(before, is_rejected=False)
        write(cluster, before)
        kept_loads = [before if load.index == before.index else load for load in kept_loads]
    kept_loads.sort(key=lambda load: load.generation, reverse=True)
    kept_loads.sort(key=lambda load: load.is_rejected)
    notes = []
    if before is not None and before.index in {load.index for load in kept_loads[:keep]}:
        # `before` is newer if the load of `served` began before it and ended after it.
        to = f" --to {before.generation}" if before.generation > served.generation else ""
        notes.append(f"generation {before.generation} is kept: esr rollback{to} goes back to it")
    try:
        delete_generations(cluster, [*kept_loads[keep:], *incomplete], spared=served.members)
    except EsrError as error:
        notes.append(f"older generations could not be deleted, see esr indices: {error}")
    return notes


def delete_generations(cluster: Cluster, heads: Sequence[Load], spared: Sequence[str] = ()) -> None:
    """Delete the generations that these loads head, except `spared` and indices of other generations.

    Indices are deleted before anything is written, since a full disk takes no writes.
    """
    indices = {load.index for load in heads}
    shared = {name for load, _ in load_states(cluster) if load.index not in indices for name in load.members}
    shared |= _read_targets(cluster).loads | {*spared}
    unshared = {name for load in heads for name in (*load.members, load.index)} - shared
    delete_indices(cluster, sorted(unshared))
    for load in heads:
        if load.index in shared:
            write(cluster, replace(load, is_head=False))


def _read_targets(cluster: Cluster) -> AliasTargets:
    """The indices behind the aliases, even if some were deleted by hand."""
    with cluster.translate_errors():
        return look_up(cluster.client, *cluster.aliases)[0]


def delete_indices(cluster: Cluster, indices: Sequence[str]) -> None:
    """Delete indices of sentences, each with its index of documents."""
    with cluster.translate_errors():
        for index in indices:
            names = [index, documents_index(index)]
            cluster.client.indices.delete(index=names, ignore_unavailable=True)
