from esr.evaluation.report.inputs import read

QRELS = "t1 0 a 1\nt2 0 a 1\nt3 0 a 0\n"


def run(tag, *topics):
    return "".join(f"{topic} Q0 a 1 1.0 {tag}\n" for topic in topics)


def test_the_baseline_becomes_the_first_run_and_is_not_repeated(file):
    qrels = str(file(QRELS, "qrels"))
    first, second = (str(file(run(name, "t1", "t2", "t3"), f"{name}.run")) for name in ("one", "two"))
    inputs = read(qrels, [first, second], second, None)
    assert list(inputs.runs) == ["two", "one"]
    assert inputs.baseline == "two"
    assert inputs.notes == ["1 of 3 judged topics have no relevant sentence and score 0: t3"]


def test_runs_with_the_same_tag_are_named_by_their_paths(file):
    qrels = str(file(QRELS, "qrels"))
    paths = [str(file(run("same", "t1"), name)) for name in ("one.run", "two.run")]
    assert list(read(qrels, paths, None, None).runs) == paths


def test_runs_that_lack_the_same_topics_share_a_note(file):
    qrels = str(file("t1 0 a 1\nt2 0 a 1\n", "qrels"))
    paths = [str(file(run(name, "t1", "x"), f"{name}.run")) for name in ("one", "{two}")]
    paths.append(str(file(run("whole", "t1", "t2"), "whole.run")))
    assert read(qrels, paths, None, {"t1": "event"}).notes == [
        "1 of 2 judged topics have no type: t2",
        "one, {two} lack 1 of 2 judged topics, which score 0: t2",
        "one, {two} answer 1 topics without judgements, which are ignored: x",
    ]
