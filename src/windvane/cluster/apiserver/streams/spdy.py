"""SPDY/3.1, as far as port-forwarding needs it: bytes to frames, and frames to bytes.

SPDY carries many streams over one connection, and each stream begins with headers. It was what became HTTP/2, and lives
on in Kubernetes. No windows are kept here: neither kubectl nor any other client of Kubernetes sends updates of them.

A control frame is

    1 | version: 15 bits | type: 16 | flags: 8 | length: 24 | what it says

and a frame of data is

    0 | stream: 31 bits | flags: 8 | length: 24 | data
"""

import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

VERSION = 3
SYN_STREAM, SYN_REPLY, RST_STREAM, PING, GOAWAY = 1, 2, 3, 6, 7
FIN = 1
REFUSED_STREAM, CANCEL = 3, 5
LARGEST_FRAME = 1024 * 1024
LARGEST_HEADERS = 64 * 1024

# The words that headers are packed with, which SPDY defines.
_WORDS = (
    "options head post put delete trace accept accept-charset accept-encoding accept-language accept-ranges age allow "
    "authorization cache-control connection content-base content-encoding content-language content-length "
    "content-location content-md5 content-range content-type date etag expect expires from host if-match "
    "if-modified-since if-none-match if-range if-unmodified-since last-modified location max-forwards pragma "
    "proxy-authenticate proxy-authorization range referer retry-after server te trailer transfer-encoding upgrade "
    "user-agent vary via warning www-authenticate method get status"
)
_MORE_WORDS = ("200 OK", "version", "HTTP/1.1", "url", "public", "set-cookie", "keep-alive", "origin")
_TAIL = (
    "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505"
    "203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized403 Forbidden"
    "404 Not Found500 Internal Server Error501 Not Implemented503 Service Unavailable"
    "Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMT"
    "chunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,text/javascript,"
    "publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0."
)


def _sized(text: bytes) -> bytes:
    return struct.pack("!I", len(text)) + text


DICTIONARY = b"".join(_sized(word.encode()) for word in (*_WORDS.split(), *_MORE_WORDS)) + _TAIL.encode()


class SPDYError(Exception):
    """The bytes are not SPDY/3.1."""


@dataclass(frozen=True, slots=True)
class SynStream:
    """The client begins a stream; `over` if no data will follow."""

    stream: int
    headers: Mapping[str, str]
    over: bool


@dataclass(frozen=True, slots=True)
class Data:
    """The client sends data on a stream."""

    stream: int
    data: bytes
    over: bool


@dataclass(frozen=True, slots=True)
class Reset:
    """The client cancels a stream."""

    stream: int


@dataclass(frozen=True, slots=True)
class Ping:
    """The client checks that the server is there."""

    number: int


@dataclass(frozen=True, slots=True)
class GoAway:
    """The client ends the connection."""


Frame = SynStream | Data | Reset | Ping | GoAway


class Decoder:
    """Turns bytes, however they are cut, into frames. Frames that have no use here are skipped."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._headers = zlib.decompressobj(zdict=DICTIONARY)

    def feed(self, data: bytes) -> Iterator[Frame]:
        """The frames that are complete with these bytes; `SPDYError` if they are malformed."""
        self._rest += data
        while len(self._rest) >= 8:
            first, second = struct.unpack_from("!II", self._rest)
            flags, length = second >> 24, second & 0xFFFFFF
            if length > LARGEST_FRAME:
                raise SPDYError(f"a frame has {length} bytes; the limit is {LARGEST_FRAME}")
            if len(self._rest) < 8 + length:
                return
            body = bytes(self._rest[8 : 8 + length])
            del self._rest[: 8 + length]
            if not first & 0x80000000:
                yield Data(first, body, bool(flags & FIN))
            elif (frame := self._control(first, flags, body)) is not None:
                yield frame

    def _control(self, first: int, flags: int, body: bytes) -> Frame | None:
        if (first >> 16) & 0x7FFF != VERSION:
            raise SPDYError(f"a frame is of version {(first >> 16) & 0x7FFF} of SPDY, not {VERSION}")
        try:
            match first & 0xFFFF:
                case 1:
                    (stream,) = struct.unpack_from("!I", body)
                    return SynStream(stream & 0x7FFFFFFF, self._unpacked(body[10:]), bool(flags & FIN))
                case 3:
                    (stream,) = struct.unpack_from("!I", body)
                    return Reset(stream & 0x7FFFFFFF)
                case 6:
                    (number,) = struct.unpack_from("!I", body)
                    return Ping(number)
                case 7:
                    return GoAway()
                case 2 | 8:
                    self._unpacked(body[4:])  # all headers are packed as one, so none may be skipped
        except struct.error:
            raise SPDYError(f"a frame of type {first & 0xFFFF} is too short") from None
        return None

    def _unpacked(self, packed: bytes) -> dict[str, str]:
        try:
            block = self._headers.decompress(packed, LARGEST_HEADERS)
        except zlib.error as error:
            raise SPDYError(f"headers can't be unpacked: {error}") from None
        if self._headers.unconsumed_tail:
            raise SPDYError(f"headers are longer than {LARGEST_HEADERS} bytes")
        headers, position = {}, 4
        (count,) = struct.unpack_from("!I", block)
        for _ in range(count):
            words = []
            for _ in range(2):
                (size,) = struct.unpack_from("!I", block, position)
                words.append(block[position + 4 : position + 4 + size].decode(errors="replace"))
                position += 4 + size
            headers[words[0].lower()] = words[1]
        return headers


class Encoder:
    """Turns frames into bytes."""

    def __init__(self) -> None:
        self._headers = zlib.compressobj(zdict=DICTIONARY)

    def reply(self, stream: int) -> bytes:
        """Accept a stream of the client."""
        packed = self._headers.compress(struct.pack("!I", 0)) + self._headers.flush(zlib.Z_SYNC_FLUSH)
        return _control(SYN_REPLY, struct.pack("!I", stream) + packed)

    def open(self, stream: int, headers: Mapping[str, str], *, over: bool = False) -> bytes:
        """Begin a stream."""
        block = struct.pack("!I", len(headers))
        block += b"".join(_sized(name.encode()) + _sized(value.encode()) for name, value in headers.items())
        packed = self._headers.compress(block) + self._headers.flush(zlib.Z_SYNC_FLUSH)
        return _control(SYN_STREAM, struct.pack("!IIH", stream, 0, 0) + packed, FIN if over else 0)

    @staticmethod
    def data(stream: int, data: bytes, *, over: bool = False) -> bytes:
        """Data on a stream; `over` if it is the last."""
        return struct.pack("!II", stream, (FIN if over else 0) << 24 | len(data)) + data

    @staticmethod
    def reset(stream: int, why: int) -> bytes:
        """Cancel a stream."""
        return _control(RST_STREAM, struct.pack("!II", stream, why))

    @staticmethod
    def ping(number: int) -> bytes:
        """Answer a ping."""
        return _control(PING, struct.pack("!I", number))


def _control(kind: int, body: bytes, flags: int = 0) -> bytes:
    return struct.pack("!HHI", 0x8000 | VERSION, kind, flags << 24 | len(body)) + body
