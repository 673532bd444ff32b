"""HTTP requests that go to pods and services through the API server."""

import json

import pytest

from integration.node.machine import is_ready, running
from integration.processes.machine import python
from integration.streams.machine import StreamingMachine
from windvane import ObjectMeta
from windvane.api import codec
from windvane.client.transport import Request
from windvane.k8s import core, discovery

SERVER = """
import http.server, json, os
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        size = int(self.headers.get("Content-Length") or 0)
        told = {"method": self.command, "path": self.path, "body": self.rfile.read(size).decode()}
        self.send_response(418 if self.path == "/teapot" else 200)
        self.send_header("Content-Type", "application/x-test")
        self.send_header("X-Colour", "blue")
        self.end_headers()
        told["headers"] = dict(self.headers)
        if self.command != "HEAD":
            self.wfile.write(json.dumps(told).encode())
    do_POST = do_PUT = do_DELETE = do_PATCH = do_HEAD = do_GET
server = http.server.ThreadingHTTPServer((os.environ["WINDVANE_POD_IP"], 8080), Handler)
print("up", flush=True)
server.serve_forever()
"""
PODS = "/api/v1/namespaces/default/pods"
SERVICES = "/api/v1/namespaces/default/services"


@pytest.fixture
async def served(machine: StreamingMachine) -> StreamingMachine:
    """A machine with a pod that tells what it is asked."""
    await machine.create(containers=[python(SERVER, ports=[{"containerPort": 8080, "name": "http"}])])
    await machine.status(is_ready)
    await machine.said("up")
    return machine


async def ask(machine: StreamingMachine, request: Request) -> tuple[int, bytes, str]:
    """The code, the body and the colour of an answer."""
    async with machine.transport.open(request) as response:
        return response.code, await response.read(), "".join(response.header("X-Colour"))


async def test_a_request_is_passed_on_and_the_answer_comes_back(served: StreamingMachine) -> None:
    headers = {"Accept": "text/html", "Authorization": "Bearer secret", "X-Mine": "yes"}
    code, body, colour = await ask(
        served, Request("POST", f"{PODS}/web:8080/proxy/a/b%20c", [("q", "ä"), ("watch", "1")], headers, b"hello")
    )
    assert (code, colour) == (200, "blue")
    told = json.loads(body)
    assert (told["method"], told["path"], told["body"]) == ("POST", "/a/b%20c?q=%C3%A4&watch=1", "hello")
    assert told["headers"]["X-Mine"] == "yes"
    assert "Authorization" not in told["headers"]
    assert told["headers"]["X-Forwarded-Uri"] == f"{PODS}/web:8080/proxy/a/b%20c"


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH"])
async def test_all_methods_are_passed_on(served: StreamingMachine, method: str) -> None:
    _, body, _ = await ask(served, Request(method, f"{PODS}/web/proxy/x"))
    assert json.loads(body)["method"] == method


async def test_the_head_alone_can_be_asked_for(served: StreamingMachine) -> None:
    assert await ask(served, Request("HEAD", f"{PODS}/web/proxy/x")) == (200, b"", "blue")


async def test_codes_are_passed_on(served: StreamingMachine) -> None:
    assert (await ask(served, Request("GET", f"{PODS}/http:web:8080/proxy/teapot")))[0] == 418


async def test_without_a_slash_one_is_sent_to_where_there_is_one(served: StreamingMachine) -> None:
    async with served.transport.open(Request("GET", f"{PODS}/web/proxy")) as response:
        assert (response.code, response.header("Location")) == (301, [f"{PODS}/web/proxy/"])
    _, body, _ = await ask(served, Request("GET", f"{PODS}/web/proxy/"))
    assert json.loads(body)["path"] == "/"


async def test_whoever_admits_a_request_may_change_its_path(served: StreamingMachine) -> None:
    await served.change_connections("pods/proxy", 'op: "replace", path: "/path", value: "/b c?"')
    _, body, _ = await ask(served, Request("GET", f"{PODS}/web/proxy/a", [("q", "x")]))
    assert json.loads(body)["path"] == "/b%20c%3F?q=x"


async def test_a_port_that_nobody_listens_on(served: StreamingMachine) -> None:
    code, body, _ = await ask(served, Request("GET", f"{PODS}/web:8081/proxy/"))
    assert code == 503
    assert b"error trying to reach service" in body


async def test_a_service_leads_to_one_of_its_pods(served: StreamingMachine) -> None:
    await _service(served, pod="web")
    for name in ("web", "web:http", "web:80", "http:web:80"):
        code, body, _ = await ask(served, Request("GET", f"{SERVICES}/{name}/proxy/x"))
        assert (code, json.loads(body)["path"]) == (200, "/x")


async def test_a_service_without_pods(served: StreamingMachine) -> None:
    await _service(served, pod="")
    code, body, _ = await ask(served, Request("GET", f"{SERVICES}/web/proxy/x"))
    assert (code, json.loads(body)["message"]) == (503, 'no endpoints available for service "web"')


async def test_a_port_that_a_service_does_not_have(served: StreamingMachine) -> None:
    await _service(served, pod="web")
    code, body, _ = await ask(served, Request("GET", f"{SERVICES}/web:81/proxy/x"))
    assert (code, json.loads(body)["message"]) == (503, 'no service port "81" found for service "web"')


async def test_a_simulated_pod_answers_nothing(machine: StreamingMachine) -> None:
    await machine.create(containers=[{"name": "main", "image": "nobody.example/knows/this"}])
    await machine.status(running)
    code, body, _ = await ask(machine, Request("GET", f"{PODS}/web:80/proxy/"))
    assert code == 503
    assert b"windvane simulates it" in body


async def _service(machine: StreamingMachine, *, pod: str) -> None:
    spec = codec.from_wire({"ports": [{"name": "http", "port": 80, "targetPort": 8080}]}, core.ServiceSpec)
    meta = ObjectMeta(name="web", namespace="default")
    await machine.admin.create(core.Service(metadata=meta, spec=spec))
    if pod:
        endpoint = discovery.Endpoint(
            addresses=["10.0.0.1"], target_ref=core.ObjectReference(kind="Pod", name=pod, namespace="default")
        )
        meta = ObjectMeta(name="web-1", namespace="default", labels={"kubernetes.io/service-name": "web"})
        ports = [discovery.EndpointPort(name="http", port=8080)]
        await machine.admin.create(
            discovery.EndpointSlice(metadata=meta, address_type="IPv4", endpoints=[endpoint], ports=ports)
        )
