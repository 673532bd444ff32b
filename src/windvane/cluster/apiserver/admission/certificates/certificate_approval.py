"""The admission plugin CertificateApproval: only clients that may approve for a signer do."""

from windvane.cluster.apiserver.admission.certificates.signers import SignerPlugin


class CertificateApproval(SignerPlugin):
    """Checks the verb `approve`."""

    name = "CertificateApproval"
    subresource = "approval"
    verb = "approve"
