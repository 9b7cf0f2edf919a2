from __future__ import annotations

from esr.evaluation.results import evaluate_runs
from esr.evaluation.significance import compare_systems, correct_p_values
from esr.learning.cross_validation import Ablation
from esr.learning.outcome import Outcome, to_text

TOPICS = [f"t{n}" for n in range(40)]


def test_a_p_value_that_rounds_to_zero_is_said_to_be_smaller_than_what_is_printed() -> None:
    qrels = {topic: {"a": 1} for topic in TOPICS}
    poor = {topic: {"a": 1.0, "b": 2.0} for topic in TOPICS} | {TOPICS[0]: {"a": 2.0, "b": 1.0}}
    good = {topic: {"a": 2.0, "b": 1.0} for topic in TOPICS}
    results = evaluate_runs(["AP"], qrels, {"first stage": poor, "learned": good}, baseline="first stage")
    values = [{topic: run.values["AP"][topic] for topic in TOPICS} for run in results]
    (comparison,) = correct_p_values([compare_systems(values[1], values[0])])
    ablation = Ablation("dir", 0.5, comparison)
    text = to_text(Outcome("linear", "AP", 5, 0, 20, 40, 40, results, [("dir", 1.0)], [ablation]))
    assert "p <0.0001 (t-test), " in text and "by them, p <0.0001" in text
    assert "p 0.0000" not in text
