"""Compare the text that esr loads from public news data sets with independent readings of their files.

Clone the repositories that the command names into one folder:

    python -m tools.data_sets FOLDER

Every data set is loaded with the options in `DATA_SETS` and exported again. The result is compared, word by
word, with a reading by Python's standard library, and by pypdf for PDF. `--verbose` prints the output of each
load. The exit status is 1 if a load failed.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from unicodedata import normalize

from tools import readings as plain
from tools.readings import (
    Reading,
    read_elements,
    read_embedded,
    read_export,
    read_json,
    read_pages,
    read_table,
    read_texts,
    read_xml,
)

# The data sets: the places of their files, the options of esr, and the readings without esr.


@dataclass(frozen=True)
class DataSet:
    """Files of a public data set as published.

    `files` are patterns in a clone of `repository` on GitHub; `named` are the folders or files that are
    passed to `esr load`, by default all files.
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
        """The arguments of `esr load`, except the index."""
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
_LEXIS_END = r"^(?:URL|SUBJECT|LOAD-DATE|LANGUAGE|GRAPHIC|UPDATE|GRAFIK|Load-Date|Classification|Graphic)\b"
_LEXIS_TEXT = (r"^(?:LENGTH|LÄNGE|DATELINE): .*$", _LEXIS_END, r"^\s*\S.*\n(?:.*\n)*?.*\d{4}.*\n\s*(.*)")
_IMPRESSO = "text_preparation/data/sample_data"
_PDF = ("chelsea_pdta", "federal-register-2020-17221", "issue-316-example", "issue-848", "issue-982-example")

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
    DataSet(
        "LexisNexisTools, the sample",
        "LexisNexis, text",
        "JBGruber/LexisNexisTools",
        ("inst/extdata/sample.TXT",),
        read_export(r"^\s*(?:Document )?\d+ of \d+ DOCUMENTS\s*$", *_LEXIS_TEXT),
    ),
    DataSet(
        "newspapers, Nexis Uni",
        "LexisNexis, DOCX",
        "koheiw/newspapers",
        ("tests/data/lexis/*.docx", "tests/data/nexis/*.docx"),
        read_export(r"^End of Document$", "^Body$", _LEXIS_END, r"\A\s*(.*)"),
    ),
    DataSet(
        "newspapers, Nexis",
        "LexisNexis, HTML",
        "koheiw/newspapers",
        ("tests/data/nexis/*.html",),
        read_export(r"^\s*\d+ (?:of|von) \d+ DOC?K?UMENT\w*\s*$", *_LEXIS_TEXT),
    ),
    DataSet(
        "newspapers, Factiva",
        "Factiva, HTML, in 4 languages",
        "koheiw/newspapers",
        ("tests/data/factiva/*.html",),
        plain.read_factiva,
    ),
    DataSet(
        "importProquest, two newspapers",
        "ProQuest, text",
        "sjkiss/importProquest",
        ("inst/extdata/*.txt",),
        read_export("^_{20,}$", "^Full text: ", "^(?:Subject|Title): ", "^Title: (.*)"),
    ),
    DataSet(
        "newspapers, Integrum",
        "XLSX, Russian",
        "koheiw/newspapers",
        ("tests/data/integrum/*.xlsx",),
        plain.read_workbook("Заголовок", "Оригинал"),
        options=("--mapping", "title=Заголовок", "--mapping", "text=Оригинал"),
    ),
    DataSet(
        "ParlaMint-TR, 4 sittings",
        "TEI, speeches",
        "coltekin/ParlaMint-TR",
        ("ParlaMint-TR/ParlaMint-TR_T27-*[0-9].xml",),
        plain.read_speeches,
    ),
    DataSet(
        "impresso, Luxembourg",
        "METS and ALTO",
        "impresso/impresso-text-acquisition",
        (f"{_IMPRESSO}/Luxembourg/*/*/text/*.xml",),
        plain.read_pages_of_alto,
        (f"{_IMPRESSO}/Luxembourg",),
    ),
    DataSet(
        "impresso, BnF",
        "METS and ALTO",
        "impresso/impresso-text-acquisition",
        (f"{_IMPRESSO}/BNF-EN/*/*/ALTO/*.xml",),
        plain.read_pages_of_alto,
        (f"{_IMPRESSO}/BNF-EN",),
    ),
    DataSet(
        "impresso, ONB",
        "ALTO pages",
        "impresso/impresso-text-acquisition",
        (f"{_IMPRESSO}/ONB/**/*.xml",),
        plain.read_pages_of_alto,
    ),
    DataSet(
        "Wikipedia, Bulgarian",
        "MediaWiki, bzip2",
        "piskvorky/gensim",
        ("gensim/test/test_data/bgwiki-latest-pages-articles-shortened.xml.bz2",),
        plain.read_wiki,
    ),
    DataSet(
        "Wikipedia, English",
        "MediaWiki, bzip2",
        "piskvorky/gensim",
        ("gensim/test/test_data/enwiki-latest-pages-articles1.xml-*.bz2",),
        plain.read_wiki,
    ),
    DataSet(
        "pysrt, a film",
        "SRT, UTF-8 and Windows-1252",
        "byroot/pysrt",
        ("tests/static/utf-8.srt", "tests/static/windows-1252.srt"),
        plain.read_subtitles,
    ),
    DataSet(
        "webvtt-py, a series",
        "WebVTT, Spanish",
        "glut23/webvtt-py",
        ("tests/subtitles/netflix*.vtt",),
        plain.read_subtitles,
    ),
    DataSet(
        "talon, replies",
        "EML",
        "mailgun/talon",
        ("tests/fixtures/standard_replies/*.eml",),
        plain.read_mails,
    ),
    DataSet(
        "perceval, mailing lists",
        "MBOX",
        "chaoss/grimoirelab-perceval",
        tuple(f"tests/data/mbox/mbox_{name}.mbox" for name in ("complex", "multipart", "single")),
        plain.read_mails,
    ),
    DataSet(
        "pandoc's documents of Word",
        "DOCX",
        "jgm/pandoc",
        ("test/docx/*.docx",),
        plain.read_office,
    ),
    DataSet(
        "pandoc's documents of OpenDocument",
        "ODT",
        "jgm/pandoc",
        ("test/odt/odt/*.odt",),
        plain.read_office,
        ("test/odt/odt",),
        ("--bad-documents", "/dev/null"),
    ),
    DataSet(
        "pdfplumber's articles and reports",
        "PDF",
        "jsvine/pdfplumber",
        tuple(f"tests/pdfs/{name}.pdf" for name in _PDF),
        plain.read_pdf,
    ),
)


# One data set loaded by esr, and its words compared with those of the plain reading.


_ESR = (sys.executable, "-c", "import sys; sys.argv[0] = 'esr'; from esr.cli import main; main()")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Comparison:
    """A plain reading compared with the index after a load.

    `articles` counts all articles read, `distinct` those whose words differ from all earlier ones. Letters
    are those of the words of distinct articles, with repetition: `missing` ones are only in the reading,
    `further` ones only in the index. `notes` is the output of the load, and `error` why it failed.
    """

    articles: int
    distinct: int
    letters: int
    documents: int = 0
    missing: int = 0
    further: int = 0
    notes: tuple[str, ...] = ()
    error: str | None = None


def compare(data_set: DataSet, folder: Path, scratch: Path) -> Comparison:
    """Load a data set into an index in an empty folder, and compare the output of `esr export`."""
    read = list(data_set.read(data_set.find(folder)))
    distinct = distinguish(read)
    words = count_words(distinct)
    command = ["load", *data_set.arguments(folder), "--index", str(scratch / "index"), "--json"]
    loaded = subprocess.run([*_ESR, *command], capture_output=True, text=True)
    letters = count_letters(words)
    if not loaded.stdout:
        return Comparison(len(read), len(distinct), letters, error=loaded.stderr.strip())
    subprocess.run(
        [*_ESR, "export", "--index", str(scratch / "index"), "-o", str(scratch / "documents.jsonl")],
        check=True,
        capture_output=True,
    )
    exported = count_words(distinguish(_read_export(scratch / "documents.jsonl")))
    report = json.loads(loaded.stdout)
    return Comparison(
        len(read),
        len(distinct),
        letters,
        report["documents"],
        count_letters(words - exported),
        count_letters(exported - words),
        tuple(report["notes"]),
        loaded.stderr.strip() or None,
    )


def distinguish(texts: Iterable[str]) -> set[tuple[str, ...]]:
    """The distinct sequences of words of texts. Accents are composed."""
    return {tuple(_WORD.findall(normalize("NFC", text))) for text in texts}


def count_words(articles: Iterable[tuple[str, ...]]) -> Counter[str]:
    return Counter(word for words in articles for word in words)


def count_letters(words: Counter[str]) -> int:
    return sum(len(word) * count for word, count in words.items())


def _read_export(file: Path) -> Iterator[str]:
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            document = json.loads(line)
            sentences = (sentence["text"] for sentence in document["sentences"])
            yield " ".join([document.get("title") or "", *sentences])


_COLUMNS = ("data set", "shape", "options", "articles", "distinct", "loaded", "letters", "missing", "further")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="a folder with the clones")
    parser.add_argument("--only", default="", help="data sets whose name has this in it")
    parser.add_argument("--verbose", action="store_true", help="print what each load said")
    arguments = parser.parse_args()
    chosen = [data_set for data_set in DATA_SETS if arguments.only in data_set.name]
    absent = [data_set for data_set in chosen if not data_set.find(arguments.folder)]
    for repository in sorted({data_set.repository for data_set in absent}):
        print(f"not there: git -C {arguments.folder} clone https://github.com/{repository}", file=sys.stderr)
    print(f"| {' | '.join(_COLUMNS)} |\n| --- | --- | --- | --: | --: | --: | --: | --: | --: |")
    failed = False
    for data_set in chosen:
        if data_set in absent:
            continue
        with tempfile.TemporaryDirectory(prefix="esr-data-set-") as scratch:
            comparison = compare(data_set, arguments.folder, Path(scratch))
        print(_row(data_set, comparison), flush=True)
        failed = failed or not comparison.documents
        if arguments.verbose or not comparison.documents:
            for line in (*comparison.notes, *(comparison.error or "").splitlines()):
                print(f"  {line}", file=sys.stderr, flush=True)
    sys.exit(int(failed))


def _row(data_set: DataSet, comparison: Comparison) -> str:
    options = " ".join(f"`{option}`" if option.startswith("--") else option for option in data_set.options)
    missing, further = (
        f"{count / max(1, comparison.letters):.2%}" for count in (comparison.missing, comparison.further)
    )
    counts = " | ".join(
        f"{count:,}"
        for count in (comparison.articles, comparison.distinct, comparison.documents, comparison.letters)
    )
    return f"| {data_set.name} | {data_set.shape} | {options} | {counts} | {missing} | {further} |"


if __name__ == "__main__":
    main()
