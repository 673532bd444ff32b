"""`windvane run` with webhooks, as users run it on their machine: a process of its own, asked by an API server."""

import signal
import socket
from contextlib import suppress
from pathlib import Path

import pytest

from integration.test_run import Shell, answer
from integration.webhook.world import World
from reference.certificates import Authority
from windvane import Forbidden, InternalError, NotFound
from windvane.k8s.admissionregistration import ValidatingWebhookConfiguration
from windvane.k8s.core import Secret
from windvane.runtime.crds import install_crds
from windvane.webhook.configurations import OWNER
from windvane.webhook.server import NO_CERTIFICATE


async def test_it_is_asked_without_a_word_about_certificates(shell: Shell, world: World) -> None:
    operator = shell.run("./site.py:operator", "--install-crds", "--webhook-port", "0", "--no-leader-elect")
    health = operator.health
    operator.until("the API server reaches the webhooks")
    operator.until("ValidatingWebhookConfiguration")

    async def is_denied() -> bool:
        try:
            await world.create("blog", region="moon", dry_run=True)
        except Forbidden as error:
            return "nobody lives there" in str(error)
        except NotFound:
            pass
        return False

    async def is_filled_in() -> bool:
        return (await world.create("blog", dry_run=True)).spec.region == "eu"

    await world.until(is_denied)
    await world.until(is_filled_in)  # an API server notices each of the two configurations by itself
    assert (await world.create("blog")).spec.region == "eu"
    assert await answer(health, "/readyz") == (200, "ok\n")
    metric = f'windvane_webhook_requests_total{{webhook="default.sites.{world.group}"'
    assert metric in (await answer(health, "/metrics"))[1].replace('allowed="true",operation="CREATE",', "")
    await world.client.get(Secret, f"{world.operator.name}-webhook-server-cert", namespace="default")
    with pytest.raises(NotFound):
        await world.client.get(ValidatingWebhookConfiguration, f"{world.operator.name}-probe")
    assert operator.stop() == 0


async def test_an_api_server_that_does_not_come_here_is_quoted(shell: Shell, world: World) -> None:
    url = "https://127.0.0.1:1"
    code, said = shell.said("./site.py:operator", "--webhook-port", "0", "--webhook-url", url, "--no-leader-elect")
    assert code == 1
    assert f"the API server does not reach the webhooks of operator {world.operator.name} at {url}" in said
    assert "connection refused" in said
    assert "host.docker.internal" in said
    assert await world.validating() is None, "nothing is left behind that would refuse all objects"


async def test_who_can_not_prove_to_be_an_api_server_is_not_answered(
    shell: Shell, world: World, tmp_path: Path
) -> None:
    trusted = Authority(tmp_path).file
    code, said = shell.said(
        "./site.py:operator", "--webhook-port", "0", "--webhook-client-ca", str(trusted), "--no-leader-elect"
    )
    assert code == 1
    assert f"the API server does not reach the webhooks of operator {world.operator.name}" in said
    assert f"{NO_CERTIFICATE}\nWith --webhook-client-ca, it must show a certificate" in said
    assert "--admission-control-config-file" in said
    assert "docker" not in said, "it does come here"


BUG = """
from windvane.webhook.registration_controller import RegistrationController

async def run(self):
    raise RuntimeError("a bug")

RegistrationController.run = run
"""


async def test_an_operator_that_can_not_look_after_its_webhooks_ends(shell: Shell, tmp_path: Path) -> None:
    shell.write("site.py", (tmp_path / "site.py").read_text() + BUG)
    code, said = shell.said("./site.py:operator", "--install-crds", "--webhook-port", "0", "--no-leader-elect")
    assert code == 1
    assert "webhooks are not looked after any more: RuntimeError('a bug')" in said


async def test_a_guard_says_which_namespace_it_leaves_alone(shell: Shell, world: World) -> None:
    guard = "from windvane.k8s import core\n@operator.validate(core.Secret)\ndef guard(secret: object) -> None: ..."
    shell.write("site.py", f"from windvane import Operator\noperator = Operator({world.operator.name!r})\n{guard}\n")
    operator = shell.run("./site.py:operator", "--webhook-port", "0", "--lease-namespace", world.client.namespace)
    said = operator.until("are not judged")
    assert said.startswith(f"secrets in namespace {world.client.namespace} are not judged or filled in: ")
    assert "--lease-namespace NAME" in said


async def test_a_port_that_another_program_has_is_named(shell: Shell) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, said = shell.said("./site.py:operator", "--webhook-port", str(port), "--no-leader-elect")
    assert code == 1
    assert f"another program has port {port}, where webhooks should be served" in said
    assert "--webhook-port N (0: any that is free)" in said


async def test_who_can_not_install_its_crds_leaves_nothing_behind(shell: Shell, world: World) -> None:
    await install_crds(world.client, [world.site, world.old_site])
    code, said = shell.said("./site.py:operator", "--install-crds", "--webhook-port", "0", "--no-leader-elect")
    assert (code, "the CRDs are not installed" in said) == (1, True)
    assert (await world.mutating(), await world.validating()) == (None, None)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_run_that_is_stopped_has_api_servers_ask_no_more(
    shell: Shell, world: World, number: signal.Signals
) -> None:
    operator = shell.run("./site.py:operator", "--install-crds", "--webhook-port", "0", "--no-leader-elect")
    operator.until("filled its caches")
    await world.until(world.validating)
    await world.until(world.mutating)
    assert operator.stop(number) == 0
    assert (await world.mutating(), await world.validating()) == (None, None)
    gone = f"ValidatingWebhookConfiguration {world.operator.name} is gone until the operator runs again"
    assert gone in "".join(operator.lines)

    async def is_stored() -> bool:
        with suppress(InternalError):  # an API server takes a moment to notice
            return (await world.create("blog", region="moon", dry_run=True)).spec.region == "moon"
        return False

    await world.until(is_stored)


@pytest.mark.parametrize("namespace", ["", "elsewhere"])
async def test_a_run_takes_over_from_one_that_was_killed(shell: Shell, world: World, namespace: str) -> None:
    """What it left refuses everything, and says that it belongs to the operator of that name in its own namespace."""
    first = shell.run("./site.py:operator", "--install-crds", "--webhook-port", "0", "--no-leader-elect")
    first.until("filled its caches")
    left = await world.until(world.validating)
    assert first.stop(signal.SIGKILL) != 0
    with pytest.raises(InternalError, match="failed calling webhook"):
        await world.create("blog", dry_run=True)
    another = ["--lease-namespace", world.client.namespace] if namespace else []
    second = shell.run("./site.py:operator", "--webhook-port", "0", "--no-leader-elect", *another)
    health = second.health

    async def is_taken_over() -> bool:
        there = await world.validating()
        return there is not None and there.webhooks != left.webhooks and (await answer(health, "/readyz"))[0] == 200

    await world.until(is_taken_over)
    if namespace:
        second.until(f"{world.operator.name} is taken over from the operator default/{world.operator.name}")

    async def is_filled_in() -> bool:
        with suppress(InternalError):
            return (await world.create("blog", dry_run=True)).spec.region == "eu"
        return False

    await world.until(is_filled_in)
    assert second.stop() == 0


async def test_a_run_without_webhooks_removes_what_one_that_was_killed_has_left(shell: Shell, world: World) -> None:
    first = shell.run("./site.py:operator", "--install-crds", "--webhook-port", "0", "--no-leader-elect")
    first.until("filled its caches")
    await world.until(world.validating)
    await world.until(world.mutating)
    second = shell.run("./site.py:operator", "--no-webhooks", "--no-leader-elect", "--metrics-port", "none")
    second.until("filled its caches")
    assert second.stop() == 0
    assert await world.validating() is not None, "the first one still answers"
    assert first.stop(signal.SIGKILL) != 0
    third = shell.run("./site.py:operator", "--no-webhooks", "--no-leader-elect")
    third.until(f"ValidatingWebhookConfiguration {world.operator.name}, which a former run of the operator")
    third.until("filled its caches")
    assert (await world.mutating(), await world.validating()) == (None, None)
    assert third.stop() == 0


async def test_a_run_that_is_stopped_leaves_what_leads_elsewhere_by_now(shell: Shell, world: World) -> None:
    operator = shell.run("./site.py:operator", "--install-crds", "--webhook-port", "0", "--no-leader-elect")
    operator.until("filled its caches")
    await world.until(world.validating)
    service = {"service": {"name": "pods", "namespace": "default", "port": 443}}
    leads = [{"op": "replace", "path": "/webhooks/0/clientConfig", "value": service}]
    owner = {"metadata": {"annotations": {OWNER: f"cluster/{world.operator.name}"}}}
    await world.client.patch(ValidatingWebhookConfiguration, world.operator.name, owner)
    await world.client.patch(ValidatingWebhookConfiguration, world.operator.name, leads, type="json")
    assert operator.stop() == 0
    there = await world.validating()
    assert there is not None
    assert there.webhooks[0].client_config.service is not None


async def test_without_webhooks_it_says_what_is_missing(shell: Shell, world: World) -> None:
    operator = shell.run("./site.py:operator", "--no-webhooks", "--no-leader-elect")
    said = operator.until("without webhooks")
    assert f"nothing of this operator fills in or judges sites.{world.group}" in said
    assert f"validatingwebhookconfiguration {world.operator.name}" in said
    assert operator.stop() == 0
    assert await world.validating() is None
