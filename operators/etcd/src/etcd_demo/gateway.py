"""Talking to etcd over HTTP, as anybody could with curl."""

from base64 import b64decode, b64encode
from typing import Any

import aiohttp

TIMEOUT = aiohttp.ClientTimeout(total=10)


class NotReached(Exception):
    """etcd could not be asked; the message says why."""


async def put(address: str, key: str, value: str) -> int:
    """Write a key. Returns the revision that etcd has then."""
    answer = await _ask(address, "kv/put", key=key, value=value)
    return int(answer["header"]["revision"])


async def get(address: str, key: str) -> str | None:
    """Read a key: from a majority, so this works only if there is one."""
    answer = await _ask(address, "kv/range", key=key)
    return next((b64decode(each["value"]).decode() for each in answer.get("kvs", ())), None)


async def member(address: str) -> tuple[str, str]:
    """The id of the member at an address, and that of the one that leads, in its opinion."""
    answer = await _ask(address, "maintenance/status")
    return f"{int(answer['header']['member_id']):x}", f"{int(answer.get('leader', 0)):x}"


async def _ask(address: str, what: str, **body: str) -> dict[str, Any]:
    packed = {name: b64encode(value.encode()).decode() for name, value in body.items()}
    try:
        async with (
            aiohttp.ClientSession(timeout=TIMEOUT) as session,
            session.post(f"http://{address}/v3/{what}", json=packed) as response,
        ):
            if response.status != 200:
                raise NotReached(f"etcd answered {response.status}: {await response.text()}")
            answer: dict[str, Any] = await response.json()
            return answer
    except TimeoutError as error:
        raise NotReached(f"{address} did not answer within {TIMEOUT.total:g} s") from error
    except aiohttp.ClientError as error:
        raise NotReached(f"{address} can't be reached: {error}") from error
