from __future__ import annotations

import socket
from collections.abc import Iterator
from threading import BoundedSemaphore, Timer

import pytest

from webui.running.timed_reads import TimedReads


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, client = socket.socketpair()
    with ours, client:
        yield ours, client


def test_what_comes_in_time_is_read(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, client = pair
    waiting = BoundedSemaphore(1)
    reads = TimedReads(ours, waiting)
    reads.begin(30, 100)
    client.sendall(b"at once")
    assert reads.recv(100) == b"at once"
    timer = Timer(0.05, client.sendall, [b"later"])
    timer.start()
    assert reads.recv(100) == b"later"
    timer.join()
    assert waiting.acquire(blocking=False)  # its place is free again
    assert not reads.has_expired


def test_what_does_not_come_in_time_is_given_up(pair: tuple[socket.socket, socket.socket]) -> None:
    reads = TimedReads(pair[0], BoundedSemaphore(1))
    reads.begin(0.01, 100)
    with pytest.raises(TimeoutError):
        reads.recv(100)
    assert reads.has_expired


def test_a_thread_without_a_place_does_not_wait(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, client = pair
    waiting = BoundedSemaphore(1)
    reads = TimedReads(ours, waiting)
    reads.begin(3_600, 100)
    with waiting:
        client.sendall(b"here")
        assert reads.recv(100) == b"here"
        with pytest.raises(TimeoutError):
            reads.recv(100)


def test_no_more_than_the_allowed_bytes_are_read(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, client = pair
    reads = TimedReads(ours, BoundedSemaphore(1))
    reads.begin(30, 5)
    client.sendall(b"0123456789")
    assert [reads.recv(3), reads.recv(3), reads.recv(3)] == [b"012", b"34", b""]
