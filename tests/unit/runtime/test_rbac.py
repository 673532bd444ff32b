"""What an operator must be allowed to do, by what it declares."""

from integration.runtime.websites import Website, Websites
from windvane import Context, Operator, Resource, Spec, Status
from windvane.k8s.core import Node
from windvane.runtime.rbac import permissions_of


def verbs(operator: Operator, **where: object) -> dict[str, str]:
    found = permissions_of(operator, home="sites", **where)  # type: ignore[arg-type]
    return {" ".join(filter(None, (each.resource, each.namespace, each.name))): " ".join(each.verbs) for each in found}


def test_a_controller_needs_what_it_declares_and_no_more() -> None:
    assert verbs(Websites().operator) == {
        "websites.demo.windvane.dev": "list watch",
        "websites/status.demo.windvane.dev": "patch",
        "configmaps": "list watch get create patch delete",
        "secrets": "list watch",
        "events": "create patch",
        "leases.coordination.k8s.io sites": "get create update",
    }


def test_what_is_only_read_is_listed_and_watched() -> None:
    operator = Operator("websites")

    @operator.controller(Website, reads=[Node])
    async def reconcile(site: Website, ctx: Context) -> None: ...

    assert verbs(operator)["nodes"] == "list watch"


def test_a_finalizer_is_a_patch_of_the_object() -> None:
    assert verbs(Websites(finalizer=True).operator)["websites.demo.windvane.dev"] == "list watch patch"


def test_each_namespace_is_asked_for_by_itself() -> None:
    found = verbs(Websites().operator, namespaces=["a", "b"])
    assert [each for each in found if each.startswith("configmaps")] == ["configmaps a", "configmaps b"]


def test_without_an_election_there_is_no_lease() -> None:
    assert "leases.coordination.k8s.io sites" not in verbs(Websites().operator, elected=False)


def test_a_built_in_kind_has_no_status_of_ours_and_no_namespace() -> None:
    operator = Operator("nodes")

    @operator.controller(Node)
    async def reconcile(node: Node, ctx: Context) -> None: ...

    found = verbs(operator, namespaces=["a"])
    assert found["nodes"] == "list watch"
    assert "nodes/status" not in found


def test_webhooks_need_a_configuration_and_a_certificate_of_their_name() -> None:
    operator = Websites().operator

    @operator.validate(Website)
    def check(site: Website) -> None: ...

    found = verbs(operator)
    configuration = "validatingwebhookconfigurations.admissionregistration.k8s.io websites"
    assert found[configuration] == "list watch get create patch delete"
    assert found["secrets sites websites-webhook-server-cert"] == "get list watch update"
    assert found["secrets sites"] == "create"


class OldNote(Resource[Spec, Status], group="demo.windvane.dev", version="v1beta1", kind="Note", stored=False):
    """A former version of a kind."""


class Note(Resource[Spec, Status], group="demo.windvane.dev", version="v1"):
    """Its present one."""


def test_of_crds_those_are_looked_after_whose_versions_it_converts() -> None:
    operator = Websites().operator
    operator.convert(OldNote, Note)(lambda old: Note(metadata=old.metadata))
    operator.convert(Note, OldNote)(lambda new: OldNote(metadata=new.metadata))
    crds = {each: what for each, what in verbs(operator).items() if each.startswith("customresourcedefinitions")}
    assert crds == {"customresourcedefinitions.apiextensions.k8s.io notes.demo.windvane.dev": "list watch get patch"}
