import pickle

from esr.errors import InputError


def test_the_error_of_a_worker_process_arrives_with_its_place() -> None:
    error = pickle.loads(pickle.dumps(InputError("topics.tsv:3", "expected qid<TAB>query")))
    assert (error.where, error.problem) == ("topics.tsv:3", "expected qid<TAB>query")
    assert str(error) == "topics.tsv:3: expected qid<TAB>query"
