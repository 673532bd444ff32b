"""--webhook-client-ca, with a real API server that is configured to show a certificate to webhooks."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.servers import Server, reference_server
from integration.test_run import Shell, answer
from integration.webhook.declared import convert, fill_in
from integration.webhook.world import OldSiteSpec, World
from reference.certificates import Authority
from reference.conftest import need_reference
from windvane import APIError, Forbidden, ObjectMeta
from windvane.runtime.crds import install_crds
from windvane.webhook.lifecycle import serve_webhooks

pytestmark = pytest.mark.reference


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """Who has signed the certificate that the API server shows."""
    return Authority(tmp_path_factory.mktemp("shown"))


@pytest.fixture(scope="module")
def api_server(shown: Authority) -> Iterator[Server]:
    need_reference()
    with reference_server(webhook_certificates={"*": shown.issue_client("kube-apiserver")}) as running:
        yield running


def words(client_ca: Path) -> list[str | Path]:
    return ["./site.py:operator", "--install-crds", "--webhook-port", "0", "--webhook-client-ca", client_ca]


async def test_an_api_server_that_shows_a_certificate_is_answered(shell: Shell, world: World, shown: Authority) -> None:
    operator = shell.run(*words(shown.file), "--no-leader-elect")
    health = operator.health
    operator.until("the API server reaches the webhooks")
    operator.until(f"ValidatingWebhookConfiguration {world.operator.name} is as declared")

    async def is_denied() -> bool:
        try:
            await world.create("blog", region="moon", dry_run=True)
        except APIError as error:
            return isinstance(error, Forbidden) and "nobody lives there" in str(error)
        return False  # the API server has not noticed yet that it has to ask

    await world.until(is_denied)
    assert await answer(health, "/readyz") == (200, "ok\n")
    assert operator.stop() == 0


async def test_an_api_server_whose_certificate_is_of_another_authority_is_not_answered(
    shell: Shell, world: World, tmp_path: Path
) -> None:
    code, said = shell.said(*words(Authority(tmp_path).file), "--no-leader-elect")
    assert code == 1
    assert f"the API server does not reach the webhooks of operator {world.operator.name}" in said
    assert "With --webhook-client-ca, it must show a certificate that those in" in said


async def test_when_the_file_has_the_authority_the_api_server_is_answered(
    world: World, tmp_path: Path, shown: Authority
) -> None:
    fill_in(world)
    trusted = Authority(tmp_path).file
    async with serve_webhooks(world.operator, world.client, client_ca=trusted) as webhooks:
        await install_crds(world.client, world.operator.kinds)
        await webhooks.wait_right()

        async def is_refused() -> bool:
            try:
                await world.create("blog", dry_run=True)
            except APIError as error:
                return "failed calling webhook" in str(error)
            return False  # the API server has not noticed yet that it has to ask

        await world.until(is_refused)
        trusted.write_bytes(trusted.read_bytes() + shown.file.read_bytes())

        async def is_answered() -> bool:
            try:
                return (await world.create("blog", dry_run=True)).spec.region == "eu"
            except APIError:
                return False

        await world.until(is_answered)


async def test_conversions_are_answered_though_no_api_server_shows_a_certificate_there(
    world: World, shown: Authority
) -> None:
    convert(world)
    async with serve_webhooks(world.operator, world.client, client_ca=shown.file) as webhooks:
        await install_crds(world.client, world.operator.kinds, conversion=webhooks.conversion)
        metadata = ObjectMeta(name="blog", namespace=world.client.namespace)
        old = await world.client.create(world.old_site(metadata=metadata, spec=OldSiteSpec(host="a")))
        assert old.spec.host == "a"
        assert (await world.client.get(world.site, "blog")).spec.hosts == ["a"]
