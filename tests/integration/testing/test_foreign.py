"""Kinds of other operators in a test: they are served, though nobody there installs them."""

from windvane import Context, Dynamic, Kind, ObjectMeta, Operator, Resource, Spec, Status, dynamic, only_metadata
from windvane.testing import Cluster, reconcile_once

Certificate = dynamic(Kind(group="cert-manager.example", version="v1", name="Certificate", plural="certificates"))
NOTED = {"example.com/noted": "yes"}

operator = Operator("notes")


@operator.controller(Certificate)
async def reconcile(certificate: Dynamic, ctx: Context) -> None:
    if not certificate.metadata.annotations:
        change = {"metadata": {"annotations": NOTED}}
        await ctx.client.patch(Certificate, certificate.metadata.name, change)


class OwnCertificate(
    Resource[Spec, Status], group="cert-manager.example", version="v1", kind="Certificate", plural="certificates"
):
    """The kind, as the operator has it that it belongs to."""


def certificate() -> Dynamic:
    return Certificate(metadata=ObjectMeta(name="example"), content={"spec": {"dnsNames": ["example.com"]}})


async def test_one_pass_over_an_object_of_another_operators_kind() -> None:
    once = await reconcile_once(operator, certificate())
    assert once.writes == ["patch certificates.cert-manager.example example"]
    assert once.obj.metadata.annotations == NOTED


async def test_an_operator_of_such_a_kind_runs_and_objects_keep_all_that_is_in_them(cluster: Cluster) -> None:
    await cluster.run(operator)
    await cluster.apply(certificate())
    await cluster.settled()
    there = await cluster.get(Certificate, "example")
    assert (there.metadata.annotations, there["spec"]) == (NOTED, {"dnsNames": ["example.com"]})


async def test_the_operator_that_it_belongs_to_installs_it_in_its_place(cluster: Cluster) -> None:
    owner = Operator("certificates")

    @owner.controller(OwnCertificate)
    async def issue(certificate: OwnCertificate, ctx: Context) -> None:
        ctx.ready(True, "issued")

    await cluster.run(operator)
    await cluster.run(owner)
    await cluster.apply(OwnCertificate(metadata=ObjectMeta(name="example")))
    await cluster.settled()
    there = await cluster.get(OwnCertificate, "example")
    assert (there.metadata.annotations, there.status.conditions[0].message) == (NOTED, "issued")


async def test_a_kind_that_is_there_is_left_as_it_is(cluster: Cluster) -> None:
    await cluster.install(OwnCertificate)
    reader = Operator("reader")

    @reader.controller(only_metadata(OwnCertificate))
    async def look(certificate: object, ctx: Context) -> None:
        """Does nothing."""

    await cluster.run(reader)
    await cluster.apply(OwnCertificate(metadata=ObjectMeta(name="example")))
    assert (await cluster.get(OwnCertificate, "example")).status.conditions == []
