"""How webhooks are called, and what is told when nobody answers there, or the wrong one."""

import asyncio
import base64
import datetime
import ssl
from math import ceil
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from conformance.objects import config_map, service
from conformance.requests import SECONDS, Raw
from conformance.servers import Server
from conformance.webhook_server import Thing, Webhooks, answers, listening
from reference.certificates import Authority
from talking import request, talking
from windvane import ambient

BOTH = pytest.mark.parametrize("kind", ["Mutating", "Validating"])
UNVERIFIED = "tls: failed to verify certificate: x509: "
UNKNOWN = "certificate signed by unknown authority"


@pytest.fixture
def another(tmp_path: Path) -> Authority:
    """An authority of whom the server knows nothing."""
    directory = tmp_path / "another"
    directory.mkdir()
    return Authority(directory)


def bundle(authority: Authority) -> str:
    return base64.b64encode(authority.file.read_bytes()).decode()


async def problem(raw: Raw, webhooks: Webhooks, client: Thing, kind: str = "Validating", **fields: Any) -> str:
    """What is told of a webhook that can't be called.

    It has less time than a request, of which a busy server may have lost some: else it would be told what is left.
    """
    hook = {**webhooks.webhook("h", **{"timeoutSeconds": 15, **fields}), "clientConfig": client}
    await webhooks.install(kind, hook)
    return await refusal(raw)


async def refusal(raw: Raw) -> str:
    """What is told of the webhook that is in the way of a new ConfigMap."""
    answer = await raw("POST configmaps", config_map())
    assert answer.code == 500, answer.body
    message: str = answer.json["message"]
    return message.removeprefix('Internal error occurred: failed calling webhook "h.windvane.dev": ')


async def problem_with_service(raw: Raw, webhooks: Webhooks, client: Thing) -> str:
    """The same of one behind the Service "s", which is there."""
    await problem(raw, webhooks, client)
    await until_found(raw)
    return await refusal(raw)


async def until_found(raw: Raw) -> None:
    """Wait until who calls webhooks knows the Service "s": a real server notices it by itself, not with the webhook."""
    async with asyncio.timeout(SECONDS):
        while r"service \"s\" not found" in (await raw("POST configmaps?dryRun=All", config_map())).body.decode():
            await ambient.sleep(0.02)


def serving(authority: Authority) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*authority.issue_server("webhook", "127.0.0.1"))
    return context


@BOTH
async def test_nobody_listens(raw: Raw, webhooks: Webhooks, kind: str) -> None:
    told = await problem(raw, webhooks, {"url": "https://127.0.0.1:1/h", "caBundle": webhooks.ca}, kind)
    refused = "dial tcp 127.0.0.1:1: connect: connection refused"
    assert told == f'failed to call webhook: Post "https://127.0.0.1:1/h?timeout=15s": {refused}'


@BOTH
async def test_nobody_listens_and_nobody_cares(raw: Raw, webhooks: Webhooks, kind: str) -> None:
    hook = webhooks.webhook("h", failurePolicy="Ignore")
    await webhooks.install(kind, {**hook, "clientConfig": {"url": "https://127.0.0.1:1/h"}})
    await raw.ok("POST configmaps", config_map())


@pytest.mark.parametrize(
    ("url", "path"), [("", "/"), ("/", "/"), ("/a/b/", "/a/b"), ("/a//b%20c", "/a/b%20c"), ("/a/../b", "/b")]
)
async def test_a_path_is_tidied_up(raw: Raw, webhooks: Webhooks, url: str, path: str) -> None:
    told = await problem(raw, webhooks, {"url": f"https://127.0.0.1:1{url}"})
    assert f'Post "https://127.0.0.1:1{path}?timeout=15s": ' in told


async def test_an_authority_that_nobody_knows(raw: Raw, webhooks: Webhooks) -> None:
    told = await problem(raw, webhooks, {"url": f"https://127.0.0.1:{webhooks.port}/h"})
    where = f"https://127.0.0.1:{webhooks.port}/h?timeout=15s"
    assert told == f'failed to call webhook: Post "{where}": {UNVERIFIED}{UNKNOWN}'


async def test_an_authority_of_the_same_name(raw: Raw, webhooks: Webhooks, another: Authority) -> None:
    client = {"url": f"https://127.0.0.1:{webhooks.port}/h", "caBundle": bundle(another)}
    why = (
        ' (possibly because of "x509: ECDSA verification failure" while trying to verify candidate authority '
        'certificate "windvane-reference-ca")'
    )
    assert (await problem(raw, webhooks, client)).endswith(f"{UNVERIFIED}{UNKNOWN}{why}")


async def test_a_bundle_that_is_none(raw: Raw, webhooks: Webhooks) -> None:
    client = {"url": f"https://127.0.0.1:{webhooks.port}/h", "caBundle": base64.b64encode(b"hello").decode()}
    why = "unable to load root certificates: unable to parse bytes as PEM block"
    assert await problem(raw, webhooks, client) == f"could not get REST client: {why}"


@pytest.mark.parametrize(
    ("names", "host", "why"),
    [
        (
            ["x.svc"],
            "127.0.0.1",
            "cannot validate certificate for 127.0.0.1 because it doesn't contain any IP SANs",
        ),
        (["127.0.0.3"], "127.0.0.1", "certificate is valid for 127.0.0.3, not 127.0.0.1"),
        (["x.svc", "y.svc"], "localhost", "certificate is valid for x.svc, y.svc, not localhost"),
        (["127.0.0.3"], "localhost", "certificate is not valid for any names, but wanted to match localhost"),
    ],
)
async def test_a_certificate_for_somebody_else(
    raw: Raw, webhooks: Webhooks, another: Authority, names: list[str], host: str, why: str
) -> None:
    async with listening(webhooks, *another.issue_server("other", *names)) as port:
        client = {"url": f"https://{host}:{port}/h", "caBundle": bundle(another)}
        told = await problem(raw, webhooks, client)
        assert told == f'failed to call webhook: Post "https://{host}:{port}/h?timeout=15s": {UNVERIFIED}{why}'


async def test_a_certificate_that_has_expired(raw: Raw, webhooks: Webhooks, another: Authority) -> None:
    until = datetime.datetime(2001, 1, 1, tzinfo=datetime.UTC)
    async with listening(webhooks, *another.issue_server("old", "127.0.0.1", until=until)) as port:
        told = await problem(raw, webhooks, {"url": f"https://127.0.0.1:{port}/h", "caBundle": bundle(another)})
    assert f"{UNVERIFIED}certificate has expired or is not yet valid: current time 2" in told
    assert told.endswith("Z is after 2001-01-01T00:00:00Z")


async def test_a_certificate_that_is_its_own_authority(raw: Raw, webhooks: Webhooks, another: Authority) -> None:
    """What the bundle has is trusted, also if it is no authority's."""
    certificate, key = another.issue_server("itself", "127.0.0.1")
    async with listening(webhooks, certificate, key) as port:
        itself = base64.b64encode(certificate.read_bytes()).decode()
        hook = {**webhooks.webhook("h"), "clientConfig": {"url": f"https://127.0.0.1:{port}/h", "caBundle": itself}}
        await webhooks.install("Validating", hook)
        await raw.ok("POST configmaps", config_map())


async def test_no_tls_at_all(raw: Raw, webhooks: Webhooks) -> None:
    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)
        writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    async with talking(plain) as port:
        told = await problem(raw, webhooks, {"url": f"https://127.0.0.1:{port}/h", "caBundle": webhooks.ca})
    assert told.endswith(": http: server gave HTTP response to HTTPS client")


@BOTH
async def test_no_answer_in_time(raw: Raw, webhooks: Webhooks, another: Authority, kind: str) -> None:
    done = asyncio.Event()

    async def silent(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await done.wait()
        writer.close()

    async with talking(silent, serving(another)) as port:
        client = {"url": f"https://127.0.0.1:{port}/h", "caBundle": bundle(another)}
        told = await problem(raw, webhooks, client, kind, timeoutSeconds=1)
        done.set()
    where = f"https://127.0.0.1:{port}/h?timeout=1s"
    assert told == f'failed to call webhook: Post "{where}": context deadline exceeded'


async def test_a_request_that_has_less_time_gives_less(raw: Raw, webhooks: Webhooks) -> None:
    await webhooks.install("Validating", webhooks.webhook("h", timeoutSeconds=30))
    begun = ambient.monotonic()
    await raw.ok("POST configmaps?timeout=20s", config_map())
    took = ceil(ambient.monotonic() - begun)
    (told,) = webhooks.queries
    assert told in {f"timeout={seconds}s" for seconds in range(20 - took, 21)}  # what is left, in whole seconds


@BOTH
@pytest.mark.parametrize("policy", ["Fail", "Ignore"])
async def test_what_nobody_waits_for_any_more_is_not_written(
    server: Server, raw: Raw, webhooks: Webhooks, another: Authority, policy: str, kind: str
) -> None:
    done = asyncio.Event()

    async def silent(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await done.wait()
        writer.close()

    async with talking(silent, serving(another)) as port:
        client = {"url": f"https://127.0.0.1:{port}/h", "caBundle": bundle(another)}
        hook = webhooks.webhook("h", failurePolicy=policy, timeoutSeconds=5)
        await webhooks.install(kind, {**hook, "clientConfig": client})
        try:
            answer = await raw("POST configmaps?timeout=1s", config_map())
        except aiohttp.ClientError:
            # Two parts of the real server see the time run out, and it hangs up if both want to say so at once.
            assert server.name == "reference"
        else:
            told = "Timeout: request did not complete within the allotted timeout"
            assert (answer.code, answer.json["message"]) == (504, told)
        assert (await raw("GET configmaps/a")).code == 404
        done.set()


async def test_the_end_instead_of_an_answer(raw: Raw, webhooks: Webhooks, another: Authority) -> None:
    async def ends(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request(reader)
        writer.close()

    async with talking(ends, serving(another)) as port:
        told = await problem(raw, webhooks, {"url": f"https://127.0.0.1:{port}/h", "caBundle": bundle(another)})
    assert told == f'failed to call webhook: Post "https://127.0.0.1:{port}/h?timeout=15s": EOF'


async def test_half_an_answer(raw: Raw, webhooks: Webhooks, another: Authority) -> None:
    async def half(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
        await writer.drain()
        writer.close()

    async with talking(half, serving(another)) as port:
        told = await problem(raw, webhooks, {"url": f"https://127.0.0.1:{port}/h", "caBundle": bundle(another)})
    words = "unexpected error when reading response body. Please retry. Original error: unexpected EOF"
    assert told == f"failed to call webhook: {words}"


async def test_a_service_that_is_not_there(raw: Raw, webhooks: Webhooks) -> None:
    client = {"service": {"namespace": raw.namespace, "name": "s", "path": "/h"}, "caBundle": webhooks.ca}
    told = await problem(raw, webhooks, client)
    where = f"https://s.{raw.namespace}.svc:443/h?timeout=15s"
    assert told == f'failed to call webhook: Post "{where}": service "s" not found'


async def test_a_port_that_a_service_does_not_have(raw: Raw, webhooks: Webhooks) -> None:
    await raw.ok("POST services", service("s"))
    client = {"service": {"namespace": raw.namespace, "name": "s", "port": 8443}}
    told = await problem_with_service(raw, webhooks, client)
    assert told.endswith(': no service port 8443 found for service "s"')


async def test_a_service_without_an_address(raw: Raw, webhooks: Webhooks) -> None:
    await raw.ok("POST services", service("s", clusterIP="None"))
    client = {"service": {"namespace": raw.namespace, "name": "s", "port": 80}}
    told = await problem_with_service(raw, webhooks, client)
    assert told.endswith(': cannot route to service with ClusterIP "None"')


async def test_a_service_elsewhere_must_have_a_certificate_for_the_services_name(
    raw: Raw, webhooks: Webhooks, another: Authority
) -> None:
    await raw.ok(
        "POST services", {"metadata": {"name": "s"}, "spec": {"type": "ExternalName", "externalName": "localhost"}}
    )
    client = {"service": {"namespace": raw.namespace, "name": "s", "port": webhooks.port}, "caBundle": webhooks.ca}
    told = await problem_with_service(raw, webhooks, client)
    assert told.endswith(f"{UNVERIFIED}certificate is valid for localhost, not s.{raw.namespace}.svc")


async def test_a_service_elsewhere_is_asked(raw: Raw, webhooks: Webhooks, another: Authority) -> None:
    await raw.ok(
        "POST services", {"metadata": {"name": "s"}, "spec": {"type": "ExternalName", "externalName": "localhost"}}
    )
    certificate = another.issue_server("service", f"s.{raw.namespace}.svc")
    async with listening(webhooks, *certificate) as port:
        reference = {"namespace": raw.namespace, "name": "s", "port": port, "path": "/h"}
        hook = webhooks.webhook("h")
        await webhooks.install(
            "Validating", {**hook, "clientConfig": {"service": reference, "caBundle": bundle(another)}}
        )
        await until_found(raw)
        webhooks.asked.clear()
        await raw.ok("POST configmaps", config_map())
    assert [name for name, _ in webhooks.asked] == ["h"]


async def test_an_answer_may_be_yaml(raw: Raw, webhooks: Webhooks) -> None:
    def says(request: Thing) -> Any:
        head = "apiVersion: admission.k8s.io/v1\nkind: AdmissionReview\n"
        text = f"{head}response:\n  uid: {request['uid']}\n  allowed: yes\n"
        return answers(text, content_type="text/plain")({})

    await webhooks.install("Validating", webhooks.webhook("h", says))
    await raw.ok("POST configmaps", config_map())
