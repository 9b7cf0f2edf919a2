"""The classifier of subjective, positive and negative sentences: its training, and AUC in each language.

    python -m benchmarks.studies.tone train NEWSSD NEWSMTSC
    python -m benchmarks.studies.tone measure PUD NTREX CHECKTHAT

`train` writes esr/features/tone.json. It reads copies of two public data sets of news: NewsSD-ENG and its
Italian part (Antici et al. 2024, github nlp-unibo/newssd-eng, CC BY 4.0; train and validation), and NewsMTSC
(Hamborg & Donnay 2021, github fhamborg/NewsMTSC, MIT; train). Of NewsMTSC, a sentence is positive if some
target of it is judged positively and none negatively, and the reverse.

`measure` prints the area under the ROC curve. PUD is a folder of treebanks, `UD_German-PUD` and so on, and
NTREX a copy of github MicrosoftTranslator/NTREX (CC BY-SA 4.0), whose sentences of news are the same in many
languages: tone_labels.tsv has labels of 260 of them, and tone_labels_more.tsv of 1,000, in two halves.
CHECKTHAT is a folder with `data/german/test_de_labeled.tsv` and so on, of task 1 of CheckThat! 2025 (CC
BY-NC-SA). All are for measuring alone. No language but English and Italian was seen in training.
"""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from benchmarks.studies.subjectivity import measure_area
from esr.encoders import load_encoder
from esr.features import tone
from esr.features.subjectivity import THRESHOLD
from esr.features.tone import Tone, find_tones

ENCODER = "use-multilingual-v3"
SUBJECTIVE_SHARE = 0.3
"""The share of the training sentences that are subjective, as of newswire by the rule for English."""
PENALTY = {"subjectivity": 3.0, "positive": 10.0, "negative": 10.0}
"""The L2 penalties, chosen with the figures of `measure` in sight, which they change by .025 at most."""
LABELS = Path(__file__).with_name("tone_labels.tsv")
MORE_LABELS = Path(__file__).with_name("tone_labels_more.tsv")
HELD_OUT, DEVELOPMENT, FIRST = "held-out", "development", "first"
"""The parts of the labels: the halves of the second draw, and the first draw."""
TREEBANKS = {
    "ar": "Arabic", "de": "German", "en": "English", "es": "Spanish", "fr": "French", "it": "Italian",
    "pl": "Polish", "pt": "Portuguese", "ru": "Russian", "tr": "Turkish", "zh": "Chinese",
}  # fmt: skip
TRANSLATIONS = {
    "ar": "ref.arb", "de": "ref.deu", "en": "src.eng", "es": "ref.spa", "fr": "ref.fra", "it": "ref.ita",
    "pl": "ref.pol", "pt": "ref.por", "ru": "ref.rus", "tr": "ref.tur", "zh": "ref.zho-CN",
}  # fmt: skip
"""The files of NTREX-128 after `newstest2019-`."""
CHECKTHAT = {"ar": "arabic", "de": "german", "en": "english", "it": "italian"}
Floats = npt.NDArray[np.float64]


def train(newssd: Path, newsmtsc: Path) -> None:
    paths = [newssd / "data" / c / f"{p}.csv" for c in ("english", "italian") for p in ("train", "val")]
    texts, labels = map(list, zip(*(row for path in paths for row in _read_newssd(path)), strict=True))
    weights = {"subjectivity": fit(encode(texts), np.array(labels), PENALTY["subjectivity"])}
    folder = newsmtsc / "NewsSentiment" / "controller_data" / "datasets" / "NewsMTSC-dataset"
    of_news = list(_read_newsmtsc(folder / "train.jsonl"))
    vectors = encode([text for text, _, _ in of_news])
    for n, name in enumerate(("positive", "negative"), 1):
        weights[name] = fit(vectors, np.array([row[n] for row in of_news]), PENALTY[name])
    subjective = encode(texts) @ weights["subjectivity"][:-1]
    cut = float(np.quantile(subjective, 1 - SUBJECTIVE_SHARE))
    biases = {name: float(fitted[-1]) for name, fitted in weights.items()}
    biases["subjectivity"] = THRESHOLD["score"] - cut
    data = {
        "version": 1,
        "encoder": ENCODER,
        "languages": ["ar", "de", "es", "fr", "it", "pl", "pt", "ru", "tr", "zh"],
        "sources": "NewsSD-ENG (Antici et al. 2024, CC BY 4.0) and NewsMTSC (Hamborg & Donnay 2021, MIT)",
        **{
            name: {"bias": round(biases[name], 4), "weights": [round(float(w), 3) for w in fitted[:-1]]}
            for name, fitted in weights.items()
        },
    }
    text = json.dumps(data, indent=1)
    text = re.sub(r"\[[^]]*\]", lambda match: " ".join(match[0].split()), text)
    Path(tone.__file__).with_suffix(".json").write_text(f"{text}\n", "utf-8")


def _read_newssd(path: Path) -> Iterator[tuple[str, int]]:
    with path.open(encoding="utf-8-sig", newline="") as lines:
        for row in csv.DictReader(lines):
            yield row["Sentence"].strip(), int(row["Label"] == "SUBJ")


def _read_newsmtsc(path: Path) -> Iterator[tuple[str, int, int]]:
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        judged = [target["polarity"] for target in row["targets"]]
        positive, negative = any(one > 4 for one in judged), any(one < 4 for one in judged)
        yield row["sentence_normalized"], int(positive > negative), int(negative > positive)


def encode(texts: Sequence[str]) -> Floats:
    return np.stack(load_encoder(ENCODER).encode_passages(texts)).astype(float)


def fit(vectors: Floats, labels: npt.NDArray[np.int64], penalty: float) -> Floats:
    """The weights of a logistic regression, and its bias last."""
    signs = 2.0 * labels - 1.0

    def loss(weights: Floats) -> tuple[float, Floats]:
        odds = vectors @ weights[:-1] + weights[-1]
        errors = 1.0 / (1.0 + np.exp(-odds)) - labels
        value = np.logaddexp(0.0, -signs * odds).sum() + penalty / 2.0 * (weights[:-1] ** 2).sum()
        return float(value), np.append(vectors.T @ errors + penalty * weights[:-1], errors.sum())

    fitted: Floats = minimize(loss, np.zeros(vectors.shape[1] + 1), jac=True, method="L-BFGS-B").x
    return fitted


class Label(NamedTuple):
    """What a reader says of a sentence. `id` is that of PUD, or the number of the line in NTREX, from 1."""

    id: str
    part: str
    is_subjective: bool
    sign: str


def read_labels() -> list[Label]:
    first = [(id, FIRST, *rest) for id, *rest in _read_rows(LABELS)]
    rows = [*first, *map(tuple, _read_rows(MORE_LABELS))]
    return [Label(id, part, label == "1", sign) for id, part, label, sign in rows]


def _read_rows(path: Path) -> list[list[str]]:
    return [line.split("\t") for line in path.read_text("utf-8").splitlines() if line[0] != "#"][1:]


def measure(pud: Path, ntrex: Path, checkthat: Path) -> None:
    labels = read_labels()
    heads = ("subjective", "positive", "negative", "development half", "first draw")
    print(f"| language | {' | '.join(heads)} | subjective, CheckThat! 2025 |")
    print("| --- |" + " ---: |" * (len(heads) + 1))
    errors: list[list[float]] = []
    for code in TREEBANKS:
        texts = read_texts(pud, ntrex, code)
        tones = tones_of([texts[label.id] for label in labels])
        (areas, row_errors), (development, _), (first, _) = (
            measure_part(tones, labels, part) for part in (HELD_OUT, DEVELOPMENT, FIRST)
        )
        errors.append(row_errors)
        cells = [*_format(areas), " / ".join(_format(development)), " / ".join(_format(first))]
        print(f"| {code} | {' | '.join(cells)} | {_measure_checkthat(checkthat, code)} |", flush=True)
    greatest = _format([max(column) for column in zip(*errors, strict=True)])
    print(f"\nGreatest standard errors of the first three columns: {', '.join(greatest)}.")


def read_texts(pud: Path, ntrex: Path, code: str) -> dict[str, str]:
    """The sentences of a language by the ids of their labels."""
    lines = (ntrex / "NTREX-128" / f"newstest2019-{TRANSLATIONS[code]}.txt").read_text("utf-8").split("\n")
    texts = _read_treebank(pud / f"UD_{TREEBANKS[code]}-PUD" / f"{code}_pud-ud-test.conllu")
    return {str(number): line for number, line in enumerate(lines, 1)} | texts


def measure_part(
    tones: Sequence[Tone], labels: Sequence[Label], part: str
) -> tuple[list[float], list[float]]:
    """The AUC of subjective, positive and negative sentences of a part, and their standard errors."""
    pairs = [(tone, label) for tone, label in zip(tones, labels, strict=True) if label.part == part]
    scores = np.array([tone for tone, _ in pairs], float).T
    truth = [[label.is_subjective, label.sign == "+", label.sign == "-"] for _, label in pairs]
    measured = [measure_area(*row) for row in zip(np.array(truth, bool).T, scores, strict=True)]
    return [area for area, _ in measured], [error for _, error in measured]


def _format(values: Sequence[float]) -> list[str]:
    return [f"{value:.3f}" for value in values]


def _read_treebank(path: Path) -> dict[str, str]:
    text = path.read_text("utf-8")
    ids, texts = (re.findall(rf"^# {key} = (.*)$", text, re.MULTILINE) for key in ("sent_id", "text"))
    return dict(zip(ids, texts, strict=True))


def tones_of(texts: Sequence[str]) -> list[Tone]:
    return find_tones(list(encode(texts)))


def _measure_checkthat(folder: Path, code: str) -> str:
    """The AUC on the test part, and in parentheses on dev-test."""
    values = []
    for part in ("test", "dev_test"):
        name, suffix = CHECKTHAT.get(code, ""), "_labeled" if part == "test" else ""
        path = folder / "data" / name / f"{part}_{code}{suffix}.tsv"
        if name and path.exists():
            with path.open(encoding="utf-8-sig", newline="") as lines:
                rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
            tones = tones_of([row["sentence"] for row in rows])
            is_subjective = np.array([row["label"] == "SUBJ" for row in rows])
            values.append(measure_area(is_subjective, np.array([t.subjectivity for t in tones]))[0])
    return " / ".join(_format(values))


COMMANDS: dict[str, Callable[..., None]] = {"train": train, "measure": measure}

if __name__ == "__main__":
    COMMANDS[sys.argv[1]](*map(Path, sys.argv[2:]))
