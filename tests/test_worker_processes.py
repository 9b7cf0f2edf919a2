import signal

import pytest

from esr.worker_processes import defer_interrupt


def test_an_interrupt_waits_for_the_end_of_a_call_of_the_pool() -> None:
    reached = False
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background it is ignored
    try:
        with pytest.raises(KeyboardInterrupt), defer_interrupt():
            signal.raise_signal(signal.SIGINT)
            reached = True
    finally:
        signal.signal(signal.SIGINT, before)
    assert reached
