"""The one gRPC call that a probe makes, grpc.health.v1.Health/Check, in as much of HTTP/2 as it takes.

A library for gRPC would be ten times the size of everything else that the agent needs. One request on one connection
needs no flow control, no compression of headers and no second stream; the answer is in a single small message, so the
headers that come with it need not be understood.
"""

import asyncio
import struct

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY = 0, 1, 3, 4, 6, 7
END_STREAM, ACK, END_HEADERS = 1, 1, 4
STREAM = 1
STATES = {0: "UNKNOWN", 1: "SERVING", 2: "NOT_SERVING", 3: "SERVICE_UNKNOWN"}


async def check(host: str, port: int, service: str) -> str:
    """What a server says of a service: `SERVING` if all is well. `OSError` if it can't be asked."""
    reader, writer = await asyncio.open_connection(host, port)
    try:
        writer.write(PREFACE + _frame(SETTINGS, 0, 0, b"") + _request(f"{host}:{port}", service))
        answer = await _answer(reader, writer)
    except (asyncio.IncompleteReadError, ConnectionError):
        raise ConnectionError("the connection ended before there was an answer: is this a gRPC server?") from None
    finally:
        writer.close()
    return _state(answer)


def _request(authority: str, service: str) -> bytes:
    headers = b"".join(
        (
            b"\x83\x86",  # :method POST, :scheme http
            b"\x04" + _text("/grpc.health.v1.Health/Check"),  # :path
            b"\x01" + _text(authority),  # :authority
            b"\x0f\x10" + _text("application/grpc"),  # content-type
            b"\x00" + _text("te") + _text("trailers"),
        )
    )
    name = service.encode()
    message = b"\x0a" + _varint(len(name)) + name if name else b""
    body = struct.pack(">BI", 0, len(message)) + message
    return _frame(HEADERS, END_HEADERS, STREAM, headers) + _frame(DATA, END_STREAM, STREAM, body)


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
    """All data of the answer."""
    data = b""
    while True:
        head = await reader.readexactly(9)
        size, kind, flags = int.from_bytes(head[:3], "big"), head[3], head[4]
        payload = await reader.readexactly(size)
        if kind == SETTINGS and not flags & ACK:
            writer.write(_frame(SETTINGS, ACK, 0, b""))
        elif kind == PING and not flags & ACK:
            writer.write(_frame(PING, ACK, 0, payload))
        elif kind == DATA:
            data += payload
        if kind in (GOAWAY, RST_STREAM) or (kind in (DATA, HEADERS) and flags & END_STREAM):
            return data


def _state(answer: bytes) -> str:
    """The state in an answer: a message whose first field is a number. One without it says UNKNOWN."""
    if len(answer) < 5:
        return "an error"
    message = answer[5:]
    number = message[1] if len(message) >= 2 and message[0] == 0x08 else 0
    return STATES.get(number, str(number))


def _frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return len(payload).to_bytes(3, "big") + struct.pack(">BBI", kind, flags, stream) + payload


def _text(text: str) -> bytes:
    """A string in a header: shorter ones than 127 bytes, and uncompressed."""
    return bytes([len(text)]) + text.encode()


def _varint(number: int) -> bytes:
    parts = []
    while number > 127:
        parts.append(number & 127 | 128)
        number >>= 7
    return bytes([*parts, number])
