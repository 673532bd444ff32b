"""SPDY frames, there and back."""

import struct
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windvane.cluster.apiserver.streams.spdy import (
    Data,
    Decoder,
    Encoder,
    Frame,
    GoAway,
    Ping,
    Reset,
    SPDYError,
    SynStream,
)

names = st.text("abcdefghij-", min_size=1, max_size=20)


def decoded(data: bytes) -> list[Frame]:
    return list(Decoder().feed(data))


def test_a_stream_begins_with_headers() -> None:
    headers = {"streamtype": "data", "port": "80", "requestid": "0"}
    assert decoded(Encoder().open(1, headers)) == [SynStream(1, headers, over=False)]


def test_headers_are_packed_as_one_over_all_streams() -> None:
    encoder, decoder = Encoder(), Decoder()
    for stream in (1, 3, 5):
        sent = encoder.open(stream, {"port": str(stream)}, over=True)
        assert list(decoder.feed(sent)) == [SynStream(stream, {"port": str(stream)}, over=True)]


def test_headers_of_frames_that_mean_nothing_are_unpacked_all_the_same() -> None:
    encoder, decoder = Encoder(), Decoder()
    assert list(decoder.feed(encoder.reply(1))) == []
    assert list(decoder.feed(encoder.open(3, {"a": "b"}))) == [SynStream(3, {"a": "b"}, over=False)]


def test_other_frames() -> None:
    encoder = Encoder()
    assert decoded(encoder.data(5, b"abc", over=True)) == [Data(5, b"abc", over=True)]
    assert decoded(encoder.reset(5, 3)) == [Reset(5)]
    assert decoded(encoder.ping(7)) == [Ping(7)]
    assert decoded(struct.pack("!HHIII", 0x8003, 7, 8, 0, 0)) == [GoAway()]
    assert decoded(struct.pack("!HHIII", 0x8003, 9, 8, 1, 100)) == []  # a window


@given(st.dictionaries(names, st.text(max_size=30), max_size=5), st.binary(max_size=100), st.integers(1, 50))
def test_it_does_not_matter_how_bytes_are_cut(headers: dict[str, str], data: bytes, size: int) -> None:
    encoder, decoder = Encoder(), Decoder()
    sent = encoder.open(1, headers) + encoder.data(1, data) + encoder.ping(1)
    frames = [frame for at in range(0, len(sent), size) for frame in decoder.feed(sent[at : at + size])]
    assert frames == [SynStream(1, headers, over=False), Data(1, data, over=False), Ping(1)]


@pytest.mark.parametrize(
    "data",
    [
        struct.pack("!HHI", 0x8002, 1, 0),  # another version
        struct.pack("!II", 1, 0xFFFFFF),  # too long
        struct.pack("!HHI", 0x8003, 6, 0),  # too short
        struct.pack("!HHI", 0x8003, 1, 12) + b"\0" * 12,  # headers that are not packed
    ],
)
def test_what_is_not_spdy_is_refused(data: bytes) -> None:
    with pytest.raises(SPDYError):
        decoded(data)


@given(st.binary(max_size=200))
def test_nothing_else_happens_whatever_comes(data: bytes) -> None:
    with suppress(SPDYError):
        decoded(data)
