"""Build the collections of the README's table from the published files of SQuAD, XQuAD, SQuADShifts and WiCE.

    python -m tools.build_collections --list                   the files to download: addresses and licences
    python -m tools.build_collections SOURCES COLLECTIONS      builds all collections
    python -m tools.build_collections SOURCES COLLECTIONS --only wice-dev

SOURCES is a folder with the published files, COLLECTIONS the folder to write. Both the files and what is made
of them are checked by SHA-256. Each collection gets docs.jsonl.gz, topics.tsv and qrels.txt.gz, and in
`sample` the topics that docs/results.md uses, with their judgements.

The texts keep their licences; those of Reddit, Amazon and the pages of WiCE are for research only. Sentences
of SQuAD and SQuADShifts are those of ReQA (Ahmad et al. 2019): the sentence in which an answer begins is
relevant to its question.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import importlib.util
import json
import random
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

SAMPLE_SIZE = 400


class PublishedFile(NamedTuple):
    """A file of a data set as its publisher has it, at a fixed commit."""

    name: str
    sha256: str
    address: str
    licence: str


_HOST = "https://raw.githubusercontent.com"
_SQUAD = f"{_HOST}/chrischute/squad/85623adeb9e6639f145081fea9cae2d8f3a26379/data"
_SHIFTS = f"{_HOST}/modestyachts/squadshifts-website/b7cc4d50af791c36c49417fb94dd739d6a9e7bef/datasets"
PUBLISHED = (
    PublishedFile(
        "dev-v2.0.json",
        "e67e5969b6dc6c1642154740806b79263b77fc048c7c11ee60d534eb48ef81e8",
        f"{_SQUAD}/dev-v2.0.json",
        "SQuAD 2.0 (Rajpurkar et al. 2018), CC BY-SA 4.0",
    ),
    PublishedFile(
        "test-v2.0.json",
        "236eb1109ecfa6196db7e9a5a7cfb6011e54548fd3e68be4fb298895f33ce898",
        f"{_SQUAD}/test-v2.0.json",
        "SQuAD 2.0 (Rajpurkar et al. 2018), CC BY-SA 4.0",
    ),
    PublishedFile(
        "xquad.en.json",
        "e4c57d1c9143aaa1c5d265ba5987a65f4e69528d2a98f29d6e75019b10344f29",
        f"{_HOST}/google-deepmind/xquad/60cac411649156efb6aab9dd4c9cde787a2c0345/xquad.en.json",
        "XQuAD (Artetxe et al. 2020), CC BY-SA 4.0",
    ),
    PublishedFile(
        "new_wiki_v1.0.json",
        "1d50a0ca4cdab88d038b52ea8a2d0510af6038d7f41a0a256b9659237769d0ee",
        f"{_SHIFTS}/new_wiki_v1.0.json",
        "SQuADShifts (Miller et al. 2020), CC BY 4.0; text of Wikipedia, CC BY-SA",
    ),
    PublishedFile(
        "reddit_v1.0.json",
        "b4ac346dbf1816fdec80fdcf91d06a4b754fa51e47960fa8614a94f37ea42a4b",
        f"{_SHIFTS}/reddit_v1.0.json",
        "SQuADShifts (Miller et al. 2020), CC BY 4.0; text of users of Reddit, for research",
    ),
    PublishedFile(
        "amazon_reviews_v1.0.json",
        "9db7bdee84a91f0fb80b9e74f365042fbbb217cb8e0a7e73bb071245472589b6",
        f"{_SHIFTS}/amazon_reviews_v1.0.json",
        "SQuADShifts (Miller et al. 2020), CC BY 4.0; text of users of Amazon, for research",
    ),
    PublishedFile(
        "dev.jsonl",
        "67531ca79bde4c81d3752fb69d9cb0d3d6763de5c3028f548b83ef053a6f8042",
        f"{_HOST}/ryokamoi/wice/ddeb6c183665e2a20c5f03c5aa07f03888b9870f/data/entailment_retrieval/claim/dev.jsonl",
        "WiCE (Kamoi et al. 2023), ODC-BY; claims CC BY-SA, pages of Common Crawl, for research",
    ),
    PublishedFile(
        "sb_sed.py",
        "c6384b68d33f954d1ccd973c50ec0d595a229c6e0b3337facc631f790803d71e",
        f"{_HOST}/google/retrieval-qa-eval/4f44a2113d0218118c6a0b85b94f7285cf89721d/sb_sed.py",
        "the sentence splitter of ReQA (Ahmad et al. 2019), Apache-2.0; this program runs it",
    ),
)

Split = Callable[[str], Iterable[tuple[int, int]]]
"""Finds the beginning and end of each sentence of a text."""


class BuiltCollection(NamedTuple):
    """Documents, lines of topics, and lines of judgements."""

    documents: list[dict[str, Any]]
    topics: list[str]
    qrels: list[str]


class Problem(Exception):
    """A published file is missing or differs. The message says what to do."""


# Questions and the paragraphs that answer them


def build_questions(parts: Sequence[tuple[str, Any]], split: Split) -> BuiltCollection:
    """A collection of files in SQuAD's layout, each with the prefix of its ids.

    A document is a paragraph, once in the collection. Questions without an answer are left out.
    """
    built = BuiltCollection([], [], [])
    known: dict[str, tuple[str, list[tuple[int, int]]]] = {}
    paragraphs: dict[str, int] = {}
    for prefix, data in parts:
        for article in data["data"]:
            group = prefix + re.sub(r"[^A-Za-z0-9]+", "_", article["title"]).strip("_")
            for paragraph in article["paragraphs"]:
                text = paragraph["context"]
                if text.strip() not in known:
                    number = paragraphs[group] = paragraphs.get(group, -1) + 1
                    id, spans = f"{group}.p{number}", [(a, b) for a, b in split(text) if b > a]
                    known[text.strip()] = id, spans
                    title = article["title"].replace("_", " ")
                    sentences = _number(id, [text[a:b] for a, b in spans])
                    document = {"id": id, "title": title, "group": group, "sentences": sentences}
                    built.documents.append(document)
                id, spans = known[text.strip()]
                for question in paragraph["qas"]:
                    begins = [answer["answer_start"] for answer in question["answers"]]
                    if begins and not question.get("is_impossible"):
                        topic = prefix + question["id"]
                        built.topics.append(f"{topic}\t{_fold(question['question'])}")
                        built.qrels.extend(
                            f"{topic} 0 {id}.s{n} 1"
                            for n, (a, b) in enumerate(spans)
                            if any(a <= begin < b for begin in begins)
                        )
    return built


def _fold(text: str) -> str:
    return " ".join(text.split())


def _number(id: str, texts: Iterable[str]) -> list[dict[str, str]]:
    return [{"id": f"{id}.s{n}", "text": _fold(text)} for n, text in enumerate(texts)]


# Claims and the pages that support them

_META = "(meta data)"
_TITLE = f"{_META} TITLE:"


def build_claims(rows: Iterable[Any]) -> BuiltCollection:
    """A collection of WiCE's rows: a claim, and the sentences of the web pages that it cites.

    Claims without a supporting sentence are no topics, but their pages are documents.
    """
    built = BuiltCollection([], [], [])
    known = set()
    for row in rows:
        supporting = {number for group in row["supporting_sentences"] for number in group}
        pages = list(_split_pages(row["evidence"]))
        topic = row["meta"]["id"]
        numbers = {number for _, sentences in pages for number, _ in sentences}
        is_topic = row["label"] != "not_supported" and not numbers.isdisjoint(supporting)
        if is_topic:
            built.topics.append(f"{topic}\t{_fold(row['claim'])}")
        for title, sentences in pages:
            texts = [text for _, text in sentences]
            digest = hashlib.sha1("\n".join((f"{title}|{texts[0]}", *texts[1:])).encode()).hexdigest()  # nosec B324  # a name
            id = f"WC-{digest[:10]}"
            if id not in known:
                known.add(id)
                built.documents.append({"id": id, "title": title, "sentences": _number(id, texts)})
            if is_topic:
                built.qrels.extend(
                    f"{topic} 0 {id}.s{n} {int(number in supporting)}"
                    for n, (number, _) in enumerate(sentences)
                )
    return built


def _split_pages(evidence: Sequence[str]) -> Iterator[tuple[str, list[tuple[int, str]]]]:
    """The title of each page, and its sentences with their numbers in the evidence."""
    title = ""
    sentences: list[tuple[int, str]] = []
    for number, text in enumerate(evidence):
        if text.startswith(_TITLE):
            if sentences:
                yield title, sentences
            title, sentences = _fold(text.removeprefix(_TITLE)), []
        elif not text.startswith(_META) and (text := _fold(text)):
            sentences.append((number, text))
    if sentences:
        yield title, sentences


# The collections


class Recipe(NamedTuple):
    """What a collection is made of: files with the prefix of their ids, and the SHA-256 of what is made."""

    files: tuple[tuple[str, str], ...]
    docs: str
    topics: str
    qrels: str


RECIPES = {
    "squad-small": Recipe(
        (("", "dev-v2.0.json"), ("", "test-v2.0.json"), ("", "xquad.en.json")),
        "bac445a858bd860fcab8ae8d9eda956084087619703ed5256e3cb23cb2af6186",
        "8ee55b7e225928a3cf1187cf4b3d003f057f5004ea0f846128d291692526b01f",
        "c6adaab12e99a1a2e583f3b92503e70167d8795e3c445dc75a461ba0e29e8894",
    ),
    "squadshifts-medium": Recipe(
        (("nw-", "new_wiki_v1.0.json"), ("rd-", "reddit_v1.0.json"), ("az-", "amazon_reviews_v1.0.json")),
        "3f2672c9e86a456ebd36c89746ad6be93bae4c974ec880d7763ec7babd10b373",
        "692a3e946c1166d345caedcf59a2fd6d15d6fa6050965ffc63d31ead37a8e9b3",
        "16edad743f9762ca2794fbfa3e9588cf77d608d5758fdc17b3cb6585cf01a0ca",
    ),
    "wice-dev": Recipe(
        (("", "dev.jsonl"),),
        "e206b8d83d1dc282756e6f46cd4e0a8488ce07cd795ae39cdaf82e16199006a0",
        "9d91056463a29234888f75e6f867cb58a30a8448360ebcbb5b4bd29ef0b1a0ff",
        "e73f7a9ec396f07eb9ec7f39f4a7d5e09e2ce8f75381660e0d188e70e89ae694",
    ),
}
_SPLITTER = "sb_sed.py"


def read_published(folder: Path, name: str) -> bytes:
    """The contents of a published file. Raises Problem if it is missing or has other contents."""
    (file,) = (file for file in PUBLISHED if file.name == name)
    try:
        contents = (folder / name).read_bytes()
    except OSError as error:
        raise Problem(f"{folder / name} cannot be read ({error.strerror}): fetch {file.address}") from None
    if hashlib.sha256(contents).hexdigest() != file.sha256:
        raise Problem(f"{folder / name} has other contents than expected: fetch {file.address} again")
    return contents


def build(name: str, sources: Path) -> BuiltCollection:
    """The collection of this name, from the published files in a folder. Raises Problem."""
    recipe = RECIPES[name]
    contents = [(prefix, read_published(sources, file)) for prefix, file in recipe.files]
    if name == "wice-dev":
        return build_claims(map(json.loads, contents[0][1].splitlines()))
    read_published(sources, _SPLITTER)
    split = load_splitter(sources / _SPLITTER)
    return build_questions([(prefix, json.loads(data)) for prefix, data in contents], split)


def load_splitter(path: Path) -> Split:
    """The function of ReQA's program that finds sentences."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its patterns are of an older Python
        spec.loader.exec_module(module)
    find: Split = module.infer_sentence_breaks

    def split(text: str) -> list[tuple[int, int]]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return list(find(text))

    return split


def choose_topics(topics: Sequence[str], qrels: Iterable[str]) -> list[str]:
    """The random sample of topics with a relevant sentence that docs/results.md uses."""
    judged = {qrel.split()[0] for qrel in qrels if int(qrel.split()[3]) > 0}
    chosen = [topic for topic in topics if topic.split()[0] in judged]
    random.Random(1).shuffle(chosen)
    return chosen[:SAMPLE_SIZE]


def write(built: BuiltCollection, folder: Path) -> None:
    """Write the collection, and the sample of its topics with their judgements."""
    sample = choose_topics(built.topics, built.qrels)
    chosen = {topic.split("\t")[0] for topic in sample}
    (folder / "sample").mkdir(parents=True, exist_ok=True)
    with gzip.open(folder / "docs.jsonl.gz", "wb") as file:
        file.write(_to_lines(format_documents(built)))
    for place, topics, qrels in (
        (folder, built.topics, built.qrels),
        (folder / "sample", sample, [qrel for qrel in built.qrels if qrel.split()[0] in chosen]),
    ):
        (place / "topics.tsv").write_bytes(_to_lines(topics))
        with gzip.open(place / "qrels.txt.gz", "wb") as file:
            file.write(_to_lines(qrels))


def format_documents(built: BuiltCollection) -> list[str]:
    """The documents as JSON Lines."""
    return [json.dumps(document, ensure_ascii=False) for document in built.documents]


def _to_lines(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def measure_digests(built: BuiltCollection) -> tuple[str, str, str]:
    """The SHA-256 of the unpacked documents, topics and judgements."""
    parts = format_documents(built), built.topics, built.qrels
    docs, topics, qrels = (hashlib.sha256(_to_lines(part)).hexdigest() for part in parts)
    return docs, topics, qrels


def list_published() -> Iterator[str]:
    """A line for each file to download: its name, its address and its licence, separated by tabs."""
    return ("\t".join((file.name, file.address, file.licence)) for file in PUBLISHED)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command. Returns the exit status."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("sources", type=Path, nargs="?")
    options.add_argument("collections", type=Path, nargs="?")
    options.add_argument("--only", choices=list(RECIPES), help="build one of the collections")
    options.add_argument("--list", action="store_true", help="list the files to download, and do no more")
    chosen = options.parse_args(arguments)
    if chosen.list:
        print(*list_published(), sep="\n")
        return 0
    if chosen.sources is None or chosen.collections is None:
        options.error("name the folder of the published files and the folder to write, or --list")
    for name in [chosen.only] if chosen.only else RECIPES:
        try:
            built = build(name, chosen.sources)
        except Problem as problem:
            options.exit(1, f"{problem}\n")
        if measure_digests(built) != RECIPES[name][1:]:
            options.exit(1, f"{name}: what was built differs from the collection of docs/results.md\n")
        write(built, chosen.collections / name)
        print(f"wrote {name}: {len(built.documents):,} documents, {len(built.topics):,} topics")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
