"""etcd's HTTP gateway, as a client without a library uses it."""

from base64 import b64decode, b64encode
from typing import Any, NamedTuple

import aiohttp

LOST = (aiohttp.ClientError, TimeoutError, OSError)
"""What a request may fail with that never reached etcd, or whose answer never came."""


class Refused(Exception):
    """etcd said no."""


class Member(NamedTuple):
    """A member, as etcd's list has it."""

    id: str
    name: str
    learner: bool
    peer_url: str


class Gateway:
    """One address at which an etcd answers: that of a Service, or of a member."""

    def __init__(self, session: aiohttp.ClientSession, address: str, *, patience: float = 1.0) -> None:
        self.url = f"http://{address}:2379"
        self._session = session
        self._timeout = aiohttp.ClientTimeout(total=patience)

    async def ask(self, path: str, **body: Any) -> dict[str, Any]:
        """The answer; `Refused` if it is an error."""
        async with self._session.post(f"{self.url}/v3/{path}", json=body, timeout=self._timeout) as response:
            answer: dict[str, Any] = await response.json(content_type=None)
        if response.status != 200:
            raise Refused(answer.get("error", str(response.status)))
        return answer

    async def members(self) -> list[Member]:
        """All members, learners included; as a majority has it, where etcd is not older than 3.5."""
        answer = await self.ask("cluster/member/list", linearizable=True)
        return [
            Member(f"{int(each['ID']):x}", each.get("name", ""), each.get("isLearner", False), each["peerURLs"][0])
            for each in answer["members"]
        ]

    async def put(self, key: str, value: str) -> None:
        """Write a key."""
        await self.ask("kv/put", key=encoded(key), value=encoded(value))

    async def read(self, prefix: str) -> dict[str, str]:
        """All keys that begin like this."""
        past = prefix[:-1] + chr(ord(prefix[-1]) + 1)
        answer = await self.ask("kv/range", key=encoded(prefix), range_end=encoded(past))
        return {decoded(each["key"]): decoded(each.get("value", "")) for each in answer.get("kvs", ())}


def encoded(text: str) -> str:
    """How the gateway wants bytes."""
    return b64encode(text.encode()).decode()


def decoded(text: str) -> str:
    """What the gateway's bytes are."""
    return b64decode(text).decode()
