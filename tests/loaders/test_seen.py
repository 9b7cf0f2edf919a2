from esr.loaders.seen import Seen


def test_the_first_word_on_a_key_is_kept():
    seen = Seen()
    assert seen.first(b"a", "one") is None
    assert seen.first(b"a", "two") == "one"
    assert seen.first(b"b", "three") is None
    assert seen.first(b"a", "four") == "one"
    seen.close()


def test_two_do_not_know_of_each_other():
    one, two = Seen(), Seen()
    assert one.first(b"a", "x") is None
    assert two.first(b"a", "y") is None
