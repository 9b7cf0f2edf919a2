"""The data sets: where their files are, how esr loads them, and how they are read without it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tools.data_sets.readings import (
    Reading,
    read_elements,
    read_embedded,
    read_json,
    read_pages,
    read_table,
    read_texts,
    read_xml,
)


@dataclass(frozen=True)
class DataSet:
    """Files of a public data set in the shape in which it was published.

    `files` are patterns below a clone of `repository` on GitHub; `named` are the folders or files that
    `esr load` gets, or else the files themselves.
    """

    name: str
    shape: str
    repository: str
    files: tuple[str, ...]
    read: Reading
    named: tuple[str, ...] = ()
    options: tuple[str, ...] = ()

    def clone(self, folder: Path) -> Path:
        """The clone of the repository in a folder of clones."""
        return folder / self.repository.partition("/")[2]

    def find(self, folder: Path) -> list[Path]:
        clone = self.clone(folder)
        return [path for pattern in self.files for path in sorted(clone.glob(pattern)) if path.is_file()]

    def arguments(self, folder: Path) -> list[str]:
        """What `esr load` gets, but the index."""
        named = [self.clone(folder) / name for name in self.named] or self.find(folder)
        return [*map(str, named), *self.options]


_MANY = "pmacinec/fake-news-datasets"
_NEWSPAPER = "datasets/fake_news_net/data/FakeNewsNet-old-version/Data"
_STORIES = "datasets/fake_news_vs_satire/data/story_text"
_HORNE = "datasets/this_just_in/data"
_PEREZ = tuple(
    f"datasets/deception_detection_fake_news/data/{folder}"
    for folder in ("celebrityDataset", "fakeNewsDataset")
)
_VFND = tuple(f"Dataset/{label}/Article_Contents" for label in ("Fake", "Real", "Misleading"))
_LIAR = (
    *("id", "label", "text", "subjects", "speaker", "job", "state", "party"),
    *("barely_true", "false", "half_true", "mostly_true", "pants_on_fire", "context"),
)
_HEADLINE_AND_BODY = ("hedline", "headline", "body.content")

DATA_SETS = (
    DataSet(
        "BBC news (Greene, Cunningham)",
        "text files in folders",
        "suraj-deshmukh/BBC-Dataset-News-Classification",
        ("dataset/data_files/**/*.txt",),
        read_texts,
        ("dataset/data_files",),
    ),
    DataSet(
        "BBC news as a table",
        "CSV with category and text",
        "namyadhingra/NLP_Classifies-SportsVsPolitics",
        ("bbc-text.csv",),
        read_table("text"),
    ),
    DataSet(
        "BBC news of tagtog",
        "HTML pages",
        "tagtog/BBC-News-Dataset",
        ("plain.html/test/*.html",),
        read_pages,
        ("plain.html/test",),
    ),
    DataSet(
        "Reuters-21578",
        "SGML, 22 files",
        "ankailou/reuters-classification",
        ("tmp/*.sgm",),
        read_elements("REUTERS", "TITLE", "BODY"),
    ),
    DataSet(
        "10kGNAD, test",
        "CSV without names, with ; and '",
        "tblock/10kGNAD",
        ("test.csv",),
        read_table("text", names=("section", "text"), delimiter=";", quote="'"),
        options=("--columns", "section,text"),
    ),
    DataSet(
        "LIAR, test",
        "TSV without names or quotes",
        "thiagorainmaker77/liar_dataset",
        ("test.tsv",),
        read_table("text", names=_LIAR, delimiter="\t", quote=""),
        options=("--columns", ",".join(_LIAR), "--quote", "none"),
    ),
    DataSet(
        "FakeNewsCorpus, the sample",
        "CSV",
        "several27/FakeNewsCorpus",
        ("news_sample.csv",),
        read_table("title", "content"),
    ),
    DataSet(
        "Indian news in 7 categories",
        "CSV with news, type and url",
        "knkcse/News-Classification",
        ("Articles.csv",),
        read_table("news"),
    ),
    DataSet(
        "NewsDataHub headlines",
        "CSV, titles and descriptions",
        "newsdatahub/cybersecurity-news-dataset-weekly-trends",
        ("data/cybersecurity-news-en-title-3000.csv",),
        read_table("title", "description"),
    ),
    DataSet(
        "FakeNewsNet, PolitiFact",
        "CSV, titles",
        "KaiDMML/FakeNewsNet",
        ("dataset/politifact_fake.csv",),
        read_table("title"),
    ),
    DataSet(
        "FakeNewsNet of 2017, BuzzFeed",
        "one JSON object a file (newspaper)",
        _MANY,
        (f"{_NEWSPAPER}/BuzzFeed/*NewsContent/*.json",),
        read_json("title", "text"),
        tuple(f"{_NEWSPAPER}/BuzzFeed/{label}NewsContent" for label in ("Fake", "Real")),
    ),
    DataSet(
        "FakeNewsNet of 2017, PolitiFact",
        "one JSON object a file (newspaper)",
        _MANY,
        (f"{_NEWSPAPER}/PolitiFact/*NewsContent/*.json",),
        read_json("title", "text"),
        tuple(f"{_NEWSPAPER}/PolitiFact/{label}NewsContent" for label in ("Fake", "Real")),
    ),
    DataSet(
        "VFND, Vietnamese",
        "one JSON object a file (news-please)",
        "VFND/VFND-vietnamese-fake-news-datasets",
        tuple(f"{folder}/*.json" for folder in _VFND),
        read_json("title", "text|maintext|description"),
        _VFND,
        ("--same-id", "last"),
    ),
    DataSet(
        "Pérez-Rosas, celebrities and news",
        "text files in folders",
        _MANY,
        tuple(f"{folder}/*/*.txt" for folder in _PEREZ),
        read_texts,
        _PEREZ,
    ),
    DataSet(
        "Fake news and satire (Golbeck)",
        "text files in folders",
        _MANY,
        (f"{_STORIES}/Fake/finalFake/*.txt", f"{_STORIES}/Satire/finalSatire/*.txt"),
        read_texts,
        (f"{_STORIES}/Fake/finalFake", f"{_STORIES}/Satire/finalSatire"),
        ("--encoding", "windows-1252"),
    ),
    DataSet(
        "This just in (Horne, Adali)",
        "text files in folders",
        _MANY,
        (f"{_HORNE}/*/Fake/*.txt", f"{_HORNE}/*/Real/*.txt", f"{_HORNE}/*/Satire/*.txt"),
        read_texts,
        (_HORNE,),
        ("--exclude", "*_titles", "--exclude", "README.txt", "--encoding", "windows-1252"),
    ),
    DataSet(
        "Albanian fake news",
        "text files in folders",
        "rexshijaku/alb-fake-news-corpus",
        ("full_texts/fake/*.txt", "full_texts/true/*.txt"),
        read_texts,
        ("full_texts/fake", "full_texts/true"),
    ),
    DataSet(
        "Samayam, Malayalam",
        "HTML pages called .txt",
        "stultus/indian-fakenews-dataset",
        ("data/ml/samayam/*.txt",),
        read_embedded("articleBody"),
        ("data/ml/samayam",),
    ),
    DataSet(
        "Superdesk's samples of agencies",
        "NITF",
        "superdesk/superdesk-core",
        ("tests/io/fixtures/*nitf*.xml",),
        read_xml("nitf", *_HEADLINE_AND_BODY),
    ),
)
