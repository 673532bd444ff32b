"""What SECURITY.md tells users to write is what there is."""

import re
from pathlib import Path

import yaml

from etcd_operator import auth, names, tls, transport

PAGE = (Path(__file__).parents[1] / "SECURITY.md").read_text()


def test_the_page_names_every_secret_and_no_other() -> None:
    named = set(re.findall(r"^\| `([^`]+)` \|", PAGE, re.MULTILINE))
    assert named == {*tls.secret_names("prod"), auth.root("prod")}


def test_the_pod_of_the_page_uses_what_is_there() -> None:
    [pod] = [
        document
        for block in re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
        if (document := yaml.safe_load(block)).get("kind") == "Pod"
    ]
    container = pod["spec"]["containers"][0]
    variables = {each["name"]: each for each in container["env"]}
    assert variables["ETCDCTL_ENDPOINTS"]["value"] == f"https://{names.client('prod')}:{names.CLIENT_PORT}"
    assert variables["ETCDCTL_PASSWORD"]["valueFrom"]["secretKeyRef"] == {"name": auth.root("prod"), "key": "password"}
    [volume] = pod["spec"]["volumes"]
    assert volume["secret"]["secretName"] == tls.client("prod")


def test_the_page_tells_how_to_rotate_and_how_long_things_last() -> None:
    assert f"kubectl annotate etcdcluster prod {tls.ROTATE}=" in PAGE
    assert f"renewed when {tls.RENEW.days} days are left" in PAGE
    assert f"{tls.PATIENCE.days} days pass before step 2" in PAGE


def test_members_show_certificates_to_clients_and_to_each_other_and_ask_for_them() -> None:
    mounted = {mount.mount_path for mount in transport.member_mounts()}
    flags = dict(flag.removeprefix("--").split("=") for flag in transport.member_flags())
    assert {flags[each] for each in ("client-cert-auth", "peer-client-cert-auth")} == {"true"}
    files = {value for value in flags.values() if value != "true"}
    assert {str(Path(file).parent) for file in files} == mounted
    assert {Path(file).name for file in files} == {"tls.crt", "tls.key", "ca.crt"}
    volumes = [each.name for each in transport.member_volumes("prod")]
    assert volumes == [each.name for each in transport.member_mounts()]
