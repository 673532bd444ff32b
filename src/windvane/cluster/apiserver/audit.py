"""The audit log: one audit.k8s.io/v1 Event a line, which says which user requested what, and the outcome.

Its level is Metadata: it has no body of a request or a response, and so no secret and no token. An Event is written
when a request is received and when it is answered; for a watch also when it starts.
"""

import ipaddress
import logging
import os
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import msgspec

from windvane import ambient
from windvane.api.json_value import Wire
from windvane.client.transport import Request
from windvane.cluster.apiserver.answer import Answer, User, user_info
from windvane.cluster.apiserver.authorization.attributes import Attributes, attributes_of
from windvane.cluster.apiserver.authorization.authorizer import Decision
from windvane.cluster.apiserver.request.info import RequestInfo

log = logging.getLogger(__name__)

ID = "Audit-Id"
LONGEST_URI = 4096  # of an unknown user
LONGEST_AGENT = 1024
STATUS_HEAD = 64  # bytes within which a body shows that it is a Status
SLOW = 0.5  # seconds; the Events of slower requests have an annotation
# Errors about invalid objects quote them; in a Secret that may be confidential.
QUOTING = frozenset({400, 422})


class AuditLog:
    """A file that only its owner can read, to which Events are appended."""

    def __init__(self, file: Path) -> None:
        descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._descriptor: int | None = descriptor
        os.fchmod(descriptor, 0o600)  # an existing file may be readable by others
        self._failed = False

    def write(self, event: Wire) -> None:
        """Append one Event."""
        if self._descriptor is None:
            return
        try:
            os.write(self._descriptor, msgspec.json.encode(event) + b"\n")
            self._failed = False
        except OSError as error:
            if not self._failed:  # logged once: a full disk would fill the log
                log.error("the audit log can't be written: %s. Requests are answered, and not recorded.", error)
            self._failed = True

    def close(self) -> None:
        """Close the file. Requests that end later are not recorded."""
        descriptor, self._descriptor = self._descriptor, None  # its descriptor may soon be another file's
        if descriptor is not None:
            os.close(descriptor)

    def unauthenticated(self, request: Request, uri: str, address: str, id_: str) -> None:
        """Record a request of an unknown user. Its query was not parsed; `uri` has it."""
        record = AuditContext(
            self, request, attributes_of(RequestInfo.of(request), User("")), address, id_, uri=uri[:LONGEST_URI]
        )
        message = "Unauthorized"
        record.write(
            "ResponseStarted",
            {"metadata": {}, "status": "Failure", "message": message, "reason": message, "code": 401},
        )


@dataclass
class AuditContext:
    """What is recorded about one request, from when it is received."""

    log: AuditLog
    request: Request
    attributes: Attributes
    address: str
    id: str
    impersonated: User | None = None
    uri: str = ""
    """The request URI as it was received, if the request doesn't have all of it."""
    constraint: str = ""
    """The verb that allowed impersonation, if it was one of the constrained ones."""
    decision: Decision | None = None
    annotations: dict[str, str] = field(default_factory=dict)
    """Annotations of webhooks and policies."""
    received: datetime = field(default_factory=ambient.now)
    began: float = field(default_factory=ambient.monotonic)

    def write(self, stage: str, status: Mapping[str, Any] | None = None, name: str = "") -> None:
        """Record a stage of the request."""
        now = self.received if stage == "RequestReceived" else ambient.now()
        event: Wire = {
            "kind": "Event",
            "apiVersion": "audit.k8s.io/v1",
            "level": "Metadata",
            "auditID": self.id,
            "stage": stage,
            "requestURI": self.uri or _uri(self.request),
            "verb": self.attributes.verb,
            "user": user_info(self.attributes.user),
            "impersonatedUser": user_info(self.impersonated) if self.impersonated else None,
            "authenticationMetadata": {"impersonationConstraint": self.constraint} if self.constraint else None,
            "sourceIPs": source_ips(self.request.headers, self.address),
            "userAgent": _agent(self.request.headers),
            "objectRef": None if self.attributes.path is not None else _object_ref(self.attributes, name),
            "responseStatus": status,
            "requestReceivedTimestamp": _time(self.received),
            "stageTimestamp": _time(now),
            "annotations": self._annotations(stage),
        }
        self.log.write({key: value for key, value in event.items() if value not in (None, "", [])})

    def answered(self, answer: Answer) -> None:
        """Record the answer; for a stream, now that it starts, and later that it has ended."""
        status = self._status(answer)
        if answer.stream is None:
            self.write("ResponseComplete", status, _name_in(answer) if self.attributes.verb == "create" else "")
            return
        self.write("ResponseStarted", status)
        answer.stream = self._followed(answer.stream, status)

    async def _followed(self, stream: AsyncGenerator[bytes], status: Mapping[str, Any]) -> AsyncGenerator[bytes]:
        try:
            async for part in stream:
                yield part
        finally:
            await stream.aclose()
            self.write("ResponseComplete", status)

    def _status(self, answer: Answer) -> Wire:
        told: Wire = {}
        if answer.content_type == "application/json" and b'"kind":"Status"' in answer.body[:STATUS_HEAD]:
            told = msgspec.json.decode(answer.body)
            told = {key: value for key, value in told.items() if key not in ("kind", "apiVersion")}
            if self.attributes.resource == "secrets" and answer.code in QUOTING:
                told = {key: value for key, value in told.items() if key not in ("message", "details")}
        return {"metadata": {}, **told, "code": answer.code}

    def _annotations(self, stage: str) -> Wire | None:
        if self.decision is None or stage == "RequestReceived":
            return None
        found = {
            "authorization.k8s.io/decision": "allow" if self.decision.allowed else "forbid",
            "authorization.k8s.io/reason": self.decision.reason,
        }
        took = ambient.monotonic() - self.began
        if took > SLOW and self.attributes.verb != "watch":
            found["apiserver.latency.k8s.io/total"] = f"{took:.6f}".rstrip("0").rstrip(".") + "s"
        return {**self.annotations, **found}


def source_ips(headers: Mapping[str, str], address: str) -> list[str]:
    """The IP addresses in the headers of a request, and the one of its connection."""
    said = [part.strip() for part in _header(headers, "X-Forwarded-For").split(",")]
    found = [part for part in said if _is_ip(part)]
    real = _header(headers, "X-Real-Ip")
    if _is_ip(real) and real not in found:
        found.append(real)
    if address and found[-1:] != [address]:
        found.append(address)
    return found


def _is_ip(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _header(headers: Mapping[str, str], name: str) -> str:
    return next((value for key, value in headers.items() if key.lower() == name.lower()), "")


def _agent(headers: Mapping[str, str]) -> str:
    agent = _header(headers, "User-Agent")
    return agent if len(agent) <= LONGEST_AGENT else f"{agent[:LONGEST_AGENT]}...TRUNCATED"


def _uri(request: Request) -> str:
    return f"{request.path}?{urlencode(request.query)}" if request.query else request.path


def _object_ref(attributes: Attributes, name: str) -> Wire:
    ref = {
        "resource": attributes.resource,
        "namespace": attributes.namespace,
        "name": attributes.name or name,
        "apiGroup": attributes.group,
        "apiVersion": attributes.version,
        "subresource": attributes.subresource,
    }
    return {key: value for key, value in ref.items() if value}


class _Named(msgspec.Struct):
    name: str = ""


class _Head(msgspec.Struct):
    metadata: _Named = msgspec.field(default_factory=_Named)


def _name_in(answer: Answer) -> str:
    """The name of the created object, which may be generated."""
    if answer.content_type != "application/json" or answer.code != 201:
        return ""
    return msgspec.json.decode(answer.body, type=_Head).metadata.name


def _time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%S.%fZ}"
