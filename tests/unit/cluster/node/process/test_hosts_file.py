"""/etc/hosts of a pod."""

from unit.cluster.node.material import Nothing, pod
from windvane.cluster.node.process.hosts_file import hosts_file


def test_a_pod_knows_itself_and_the_services_of_its_namespace_by_short_names() -> None:
    made = pod()
    made.spec.subdomain = "shop"
    lines = hosts_file(made, "127.0.0.2", Nothing().services(), []).splitlines()
    assert "127.0.0.2\tweb.shop.default.svc.cluster.local web" in lines
    assert "10.0.0.9\tshop.default.svc.cluster.local shop.default.svc shop.default shop" in lines
    made.metadata.namespace = "other"
    assert "10.0.0.9\tshop.default.svc.cluster.local shop.default.svc shop.default" in hosts_file(
        made, "127.0.0.2", Nothing().services(), []
    )
