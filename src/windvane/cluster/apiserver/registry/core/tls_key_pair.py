"""Whether a certificate and a private key, both in PEM, belong together; what is wrong is told in Go's words.

What is in here takes long to load, so it is loaded when there is a key pair to look at.
"""

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
from cryptography.hazmat.primitives.serialization import load_der_private_key

from windvane.cluster.certificate_requests import pem_blocks

CERTIFICATE, KEY = "CERTIFICATE", "PRIVATE KEY"
# Of what a server can prove to have: the public and the private keys of each sort.
SORTS = (
    (rsa.RSAPublicKey, rsa.RSAPrivateKey),
    (ec.EllipticCurvePublicKey, ec.EllipticCurvePrivateKey),
    (ed25519.Ed25519PublicKey, ed25519.Ed25519PrivateKey),
)


def key_pair_problem(certificates: bytes, keys: bytes) -> str:
    """What keeps a server from using the first certificate with the first key; empty if nothing does."""
    found, others = list(pem_blocks(certificates)), list(pem_blocks(keys))
    certificate = next((each.content for each in found if each.sort == CERTIFICATE), None)
    if certificate is None:
        return _no_certificate([each.sort for each in found])
    key = next((each.content for each in others if each.sort == KEY or each.sort.endswith(f" {KEY}")), None)
    if key is None:
        return _no_key([each.sort for each in others])
    try:
        public = x509.load_der_x509_certificate(certificate).public_key()
    except (ValueError, UnsupportedAlgorithm):
        return "x509: malformed certificate"
    try:
        private: PrivateKeyTypes = load_der_private_key(key, None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return "tls: failed to parse private key"
    if not isinstance(private, tuple(each for _, each in SORTS)):
        return "tls: found unknown private key type in PKCS#8 wrapping"
    for of_public, of_private in SORTS:
        if isinstance(public, of_public):
            if not isinstance(private, of_private):
                return "tls: private key type does not match public key type"
            return "" if private.public_key() == public else "tls: private key does not match public key"
    return "tls: unknown public key algorithm"


def _no_certificate(sorts: list[str]) -> str:
    if not sorts:
        return "tls: failed to find any PEM data in certificate input"
    if len(sorts) == 1 and sorts[0].endswith(KEY):
        found = "but did find a private key; PEM inputs may have been switched"
        return f"tls: failed to find certificate PEM data in certificate input, {found}"
    skipped = f"after skipping PEM blocks of the following types: [{' '.join(sorts)}]"
    return f'tls: failed to find "{CERTIFICATE}" PEM block in certificate input {skipped}'


def _no_key(sorts: list[str]) -> str:
    if not sorts:
        return "tls: failed to find any PEM data in key input"
    if sorts == [CERTIFICATE]:
        return "tls: found a certificate rather than a key in the PEM for the private key"
    skipped = f"after skipping PEM blocks of the following types: [{' '.join(sorts)}]"
    return f'tls: failed to find PEM block with type ending in "{KEY}" in key input {skipped}'
