"""`kubectl certificate approve` with the real kubectl, on a cluster as users start it: what it brings logs in."""

import base64
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from e2e.clusters import embedded
from reference.controlplane import Programs

pytestmark = pytest.mark.reference

Kubectl = Callable[..., str]


@pytest.fixture(scope="module")
def kubeconfig() -> Iterator[Path]:
    with embedded() as kubeconfig:
        yield kubeconfig


@pytest.fixture(scope="module")
def kubectl(kubeconfig: Path) -> Kubectl:
    """kubectl, as whoever a kubeconfig is for; returns what it prints, whatever comes of it."""
    program = Programs.find().directory / "kubectl"

    def run(line: str, *, as_of: Path = kubeconfig, given: str = "") -> str:
        command = [str(program), f"--kubeconfig={as_of}", *line.split()]
        done = subprocess.run(
            command, input=given, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        return done.stdout

    return run


@pytest.fixture(scope="module")
def jane(kubectl: Kubectl, kubeconfig: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The kubeconfig of somebody who made a key, had it certified, and is of the group `team`."""
    key = rsa.generate_private_key(65537, 2048)
    names = [(NameOID.ORGANIZATION_NAME, "team"), (NameOID.COMMON_NAME, "jane")]
    subject = x509.Name([x509.NameAttribute(oid, value) for oid, value in names])
    signed = x509.CertificateSigningRequestBuilder().subject_name(subject).sign(key, hashes.SHA256())
    spec = {
        "request": base64.b64encode(signed.public_bytes(Encoding.PEM)).decode(),
        "signerName": "kubernetes.io/kube-apiserver-client",
        "usages": ["client auth"],
    }
    about = {"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "metadata": {"name": "jane"}}
    assert "created" in kubectl("create -f -", given=yaml.safe_dump({**about, "spec": spec}))
    assert "Pending" in kubectl("get csr jane")
    assert "approved" in kubectl("certificate approve jane")
    assert "met" in kubectl("wait csr/jane --for=jsonpath={.status.certificate} --timeout=60s")
    assert "Approved,Issued" in kubectl("get csr jane")
    config = yaml.safe_load(kubeconfig.read_text())
    config["users"][0]["user"] = {
        "client-certificate-data": kubectl("get csr jane -o jsonpath={.status.certificate}"),
        "client-key-data": base64.b64encode(
            key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        ).decode(),
    }
    file = tmp_path_factory.mktemp("jane") / "kubeconfig"
    file.write_text(yaml.safe_dump(config))
    return file


def test_who_has_a_signed_certificate_is_who_it_says(kubectl: Kubectl, jane: Path) -> None:
    said = kubectl("auth whoami", as_of=jane)
    assert "jane" in said
    assert "[team system:authenticated]" in said


def test_who_has_one_may_do_what_roles_say(kubectl: Kubectl, jane: Path) -> None:
    assert 'User "jane" cannot list resource "pods"' in kubectl("get pods", as_of=jane)
    kubectl("create rolebinding team --clusterrole=view --group=team")
    assert "No resources found" in kubectl("get pods", as_of=jane)
