"""A client of one etcd member, over the HTTP gateway that every etcd has beside gRPC.

Ids are strings of hexadecimal digits here, as `etcdctl` prints them; the gateway has them as decimal ones.
"""

import base64
import os
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import aiohttp
import msgspec

READ_TIMEOUT = 3.0
"""How long a member may take to say how it is, in seconds. One that takes longer is no use to anybody."""
CHANGE_TIMEOUT = 15.0
"""How long a change of the members may take: it waits for a quorum to agree."""
DEFRAGMENT_TIMEOUT = 60.0


class EtcdError(Exception):
    """A member refused what was asked, or did not answer; the message is its own."""


@dataclass(frozen=True)
class Member:
    """A member, as the others know it."""

    id: str
    name: str
    """Empty until it has started for the first time."""
    peer_url: str
    learner: bool


@dataclass(frozen=True)
class Answer:
    """What a member says of itself."""

    cluster_id: str
    id: str
    version: str
    leader: str
    """The id of who leads, in its opinion; empty if nobody does."""
    learner: bool
    term: int
    index: int
    """How much of the log it has applied."""
    revision: int
    size: int
    in_use: int
    """How much of its database is not empty pages."""


@dataclass(frozen=True)
class Alarm:
    """Something that a member has raised for all to see."""

    member: str
    kind: str


@dataclass(frozen=True)
class Endpoint:
    """Where a member is called, and what proves who is who."""

    host: str
    port: int
    context: ssl.SSLContext | None = None
    name: str = ""
    """The name that its certificate must have: it is called by its pod's address."""

    @property
    def url(self) -> str:
        """Where its gateway is."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.context else 'http'}://{host}:{self.port}"


class Etcd:
    """One member."""

    def __init__(self, session: aiohttp.ClientSession, endpoint: Endpoint, *, token: str = "") -> None:
        self._session = session
        self._endpoint = endpoint
        self.token = token
        """What `auth` got by logging in, if clients must."""

    async def call(self, path: str, body: Mapping[str, Any], *, timeout: float = READ_TIMEOUT) -> dict[str, Any]:
        """Ask for something; `EtcdError` with the member's own words if it refuses or can't be reached."""
        url = f"{self._endpoint.url}/v3/{path}"
        headers = {"Authorization": self.token} if self.token else {}
        try:
            async with self._session.post(
                url,
                data=msgspec.json.encode(body),
                headers=headers,
                ssl=self._endpoint.context or False,
                server_hostname=self._endpoint.name or None,
                timeout=aiohttp.ClientTimeout(total=timeout),
            ) as response:
                answer = await response.read()
                if response.status != 200:
                    raise EtcdError(_words(answer) or f"{url}: {response.status} {response.reason}")
        except TimeoutError as error:
            raise EtcdError(f"no answer within {timeout:g} s") from error
        except (aiohttp.ClientError, OSError) as error:
            raise EtcdError(_why(error)) from error
        try:
            decoded: dict[str, Any] = msgspec.json.decode(answer)
        except msgspec.DecodeError as error:
            raise EtcdError(f"{url}: this is no answer of an etcd: {answer[:100]!r}") from error
        return decoded

    async def status(self, *, timeout: float = READ_TIMEOUT) -> Answer:
        """How it is."""
        said = await self.call("maintenance/status", {}, timeout=timeout)
        header = said.get("header", {})
        return Answer(
            cluster_id=_hex(header.get("cluster_id", 0)),
            id=_hex(header.get("member_id", 0)),
            version=said.get("version", ""),
            leader=_hex(said.get("leader", 0)),
            learner=said.get("isLearner", False),
            term=int(said.get("raftTerm", 0)),
            index=int(said.get("raftAppliedIndex", said.get("raftIndex", 0))),
            revision=int(header.get("revision", 0)),
            size=int(said.get("dbSize", 0)),
            in_use=int(said.get("dbSizeInUse", 0)),
        )

    async def members(self) -> list[Member]:
        """All members, in its opinion: ask the leader."""
        said = await self.call("cluster/member/list", {})
        return [
            Member(
                id=_hex(each.get("ID", 0)),
                name=each.get("name", ""),
                peer_url=next(iter(each.get("peerURLs", ())), ""),
                learner=each.get("isLearner", False),
            )
            for each in said.get("members", ())
        ]

    async def add_learner(self, peer_url: str) -> None:
        """Have a member join, without a vote for now."""
        await self.call("cluster/member/add", {"peerURLs": [peer_url], "isLearner": True}, timeout=CHANGE_TIMEOUT)

    async def promote(self, member: str) -> None:
        """Give a learner a vote; refused until it has caught up."""
        await self.call("cluster/member/promote", {"ID": _decimal(member)}, timeout=CHANGE_TIMEOUT)

    async def remove(self, member: str) -> None:
        """Have a member leave, for ever."""
        await self.call("cluster/member/remove", {"ID": _decimal(member)}, timeout=CHANGE_TIMEOUT)

    async def move_leadership(self, member: str) -> None:
        """Have another member lead; only the leader can be asked for this."""
        await self.call("maintenance/transfer-leadership", {"targetID": _decimal(member)}, timeout=CHANGE_TIMEOUT)

    async def alarms(self) -> list[Alarm]:
        """What has been raised and not been disarmed."""
        said = await self.call("maintenance/alarm", {"action": "GET"})
        return [Alarm(_hex(each.get("memberID", 0)), each.get("alarm", "NONE")) for each in said.get("alarms", ())]

    async def disarm(self, alarm: Alarm) -> None:
        """Say that what an alarm was about is over."""
        body = {"action": "DEACTIVATE", "memberID": _decimal(alarm.member), "alarm": alarm.kind}
        await self.call("maintenance/alarm", body, timeout=CHANGE_TIMEOUT)

    async def compact(self, revision: int) -> None:
        """Forget what keys were before a revision."""
        try:
            await self.call("kv/compaction", {"revision": str(revision), "physical": True}, timeout=CHANGE_TIMEOUT)
        except EtcdError as error:
            if "has been compacted" not in str(error):
                raise

    async def defragment(self) -> None:
        """Give back the empty pages of its database. It does nothing else meanwhile."""
        await self.call("maintenance/defragment", {}, timeout=DEFRAGMENT_TIMEOUT)

    async def put(self, key: str, value: str) -> None:
        """Write a key."""
        await self.call("kv/put", {"key": _base64(key), "value": _base64(value)})

    async def get(self, key: str) -> str | None:
        """Read a key, as the quorum has it; None if there is none."""
        said = await self.call("kv/range", {"key": _base64(key)})
        return next((base64.b64decode(each.get("value", "")).decode() for each in said.get("kvs", ())), None)


def _why(error: Exception) -> str:
    """Why a member could not be reached, in words that are the same each time: addresses and ports are not."""
    cause = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
    if (
        isinstance(cause, OSError)
        and cause.errno is not None
        and cause.errno > 0
        and not isinstance(cause, ssl.SSLError)
    ):
        return os.strerror(cause.errno).lower()
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return "it closed the connection"
    return str(error) or type(error).__name__


def _words(answer: bytes) -> str:
    try:
        said = msgspec.json.decode(answer)
    except msgspec.DecodeError:
        return answer[:200].decode(errors="replace").strip()
    if not isinstance(said, dict):
        return str(said)[:200]
    words = said.get("message") or said.get("error") or ""
    return str(words).removeprefix("etcdserver: ")


def _hex(number: str | int) -> str:
    return f"{int(number):x}" if int(number) else ""


def _decimal(digits: str) -> str:
    return str(int(digits, 16))


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
