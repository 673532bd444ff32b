"""The strategy of CertificateSigningRequest."""

import base64
import binascii
from collections.abc import Callable
from datetime import timedelta

from windvane import ambient
from windvane.api.json_value import Wire
from windvane.api.names import label_problems, subdomain_problems
from windvane.api.time import format_time
from windvane.cluster.apiserver.answer import User, user_info
from windvane.cluster.apiserver.columns.age import human_duration
from windvane.cluster.apiserver.columns.column import AGE, NAME, Column, field, items, read
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.subresource import StatusStrategy, SubresourceStrategy
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.k8s import certificates

_ABOUT_USER = ("username", "uid", "groups", "extra")
DECISIONS = ("Approved", "Denied")
FINAL = (*DECISIONS, "Failed")  # conditions that are either there and true, or not there
YES, ANYTHING = ("True",), ("False", "True", "Unknown")
SHORTEST = 600
LONGEST_DOMAIN, LONGEST_SIGNER = 253, 571
LEGACY = "kubernetes.io/legacy-unknown"
USAGES = (
    "any", "cert sign", "client auth", "code signing", "content commitment", "crl sign", "data encipherment",
    "decipher only", "digital signature", "email protection", "encipher only", "ipsec end system", "ipsec tunnel",
    "ipsec user", "key agreement", "key encipherment", "microsoft sgc", "netscape sgc", "ocsp signing", "s/mime",
    "server auth", "signing", "timestamping",
)  # fmt: skip


def _requested_duration(request: Wire) -> str:
    seconds = read(request, "spec.expirationSeconds")
    return "<none>" if seconds is None else human_duration(timedelta(seconds=seconds))


def _condition(request: Wire) -> str:
    types = {condition.get("type") for condition in items(request, "status.conditions")}
    decision = "Denied" if "Denied" in types else "Approved" if "Approved" in types else "Pending"
    failed = ",Failed" if "Failed" in types else ""
    issued = ",Issued" if read(request, "status.certificate") else ""
    return decision + failed + issued


class ApprovalStrategy(SubresourceStrategy):
    """The subresource approval, which changes only the conditions."""

    reset_fields = ("spec", "status.certificate")

    def reset(self, wire: Wire, current: Wire) -> Wire:
        """The current request with the new conditions."""
        conditions = _with_times(_conditions(wire), _conditions(current))
        status = {key: value for key, value in (current.get("status") or {}).items() if key != "conditions"}
        if conditions:
            status["conditions"] = conditions
        return {**current, "metadata": wire["metadata"], "status": status}

    def validate_update(self, obj: Wire, old: Wire, problems: Problems) -> None:
        request(obj, problems)
        _nothing_removed(obj, old, problems)


class CertificateSigningRequestStatusStrategy(StatusStrategy):
    """The status of CertificateSigningRequests: all of it but whether the request is approved or denied."""

    reset_fields = ("spec", "status.conditions")

    def reset(self, wire: Wire, current: Wire) -> Wire:
        """The current request with the new status, but the current decisions."""
        conditions, before = _conditions(wire), _conditions(current)
        for decision in DECISIONS:
            places = [index for index, each in enumerate(conditions) if each.get("type") == decision]
            kept = [each for each in before if each.get("type") == decision]
            if len(places) == len(kept):  # otherwise one was added or removed, and that is refused
                for index, each in zip(places, kept, strict=True):
                    conditions[index] = each
        status = dict(wire.get("status") or {})
        if conditions:
            status["conditions"] = _with_times(conditions, before)
        return {**current, "metadata": wire["metadata"], "status": status}

    def validate_update(self, obj: Wire, old: Wire, problems: Problems) -> None:
        request(obj, problems)
        _nothing_removed(obj, old, problems)
        for decision in DECISIONS:
            if _count(obj, decision) > _count(old, decision):
                problems.forbidden("status.conditions", f'updates may not add a condition of type "{decision}"')
        before = (old.get("status") or {}).get("certificate")
        if before and (obj.get("status") or {}).get("certificate") != before:
            problems.forbidden("status.certificate", "updates may not modify existing certificate content")


class CertificateSigningRequestStrategy(BuiltinStrategy):
    model = certificates.CertificateSigningRequest
    selectable_fields = ("spec.signerName",)
    defaults = {"status": {}}
    columns = (
        NAME,
        AGE,
        Column("SignerName", lambda request: read(request, "spec.signerName") or "<none>"),
        Column("Requestor", field("spec.username")),
        Column("RequestedDuration", _requested_duration),
        Column("Condition", _condition),
    )
    column_fields = {"RequestedDuration": "certificates.v1.CertificateSigningRequestSpec.expirationSeconds"}
    status = CertificateSigningRequestStatusStrategy()
    parts = {"approval": ApprovalStrategy()}
    resets_on_update = ("spec", "status")

    def record_user(self, wire: Wire, user: User) -> None:
        """Write the user into a new request, whatever it says."""
        if isinstance(wire.get("spec"), dict):
            stated = {key: value for key, value in wire["spec"].items() if key not in _ABOUT_USER}
            wire["spec"] = stated | user_info(user)

    def reset(self, wire: Wire, current: Wire, subresource: str) -> Wire:
        """The request, and the user that made it, never change."""
        if not subresource:
            wire["spec"] = current["spec"]
        return super().reset(wire, current, subresource)

    def prepare_change(self, obj: Wire, old: Wire) -> None:
        """The same after admission."""
        obj["spec"] = old["spec"]

    def validate(self, obj: Wire, problems: Problems) -> None:
        request(obj, problems)


def request(obj: Wire, problems: Problems) -> None:
    """Check a request."""
    spec = obj.get("spec") or {}
    if why := _wrong_with_request(spec.get("request") or ""):
        problems.invalid("spec.request", spec.get("request"), why)
    usages = spec.get("usages") or []
    if not usages:
        problems.required("spec.usages")
    for index, usage in enumerate(usages):
        if usage not in USAGES:
            problems.unsupported(f"spec.usages[{index}]", usage, USAGES)
    for index, usage in enumerate(usages):
        if usage in usages[:index]:
            problems.duplicate(f"spec.usages[{index}]", usage)
    _check_signer(str(spec.get("signerName") or ""), problems)
    seconds = spec.get("expirationSeconds")
    if seconds is not None and seconds < SHORTEST:
        rule = "may not specify a duration less than 600 seconds (10 minutes)"
        problems.invalid("spec.expirationSeconds", seconds, rule)
    _check_conditions(_conditions(obj), problems)
    if why := _wrong_with_certificate((obj.get("status") or {}).get("certificate") or ""):
        problems.invalid("status.certificate", "<certificate data>", why)


def _wrong_with_request(encoded: str) -> str | None:
    from windvane.cluster.certificate_requests import Request  # loaded when it is needed, because that takes long

    try:
        return Request.read(_bytes(encoded)).problem or None
    except ValueError as error:
        return str(error)


def _wrong_with_certificate(encoded: str) -> str | None:
    if not encoded:
        return None
    from windvane.cluster.certificate_requests import problem_with_chain

    return problem_with_chain(_bytes(encoded))


def _bytes(encoded: str) -> bytes:
    try:
        return base64.b64decode(encoded)
    except binascii.Error:
        return b""


def _check_signer(name: str, problems: Problems) -> None:
    path = "spec.signerName"
    domain, *rest = name.split("/")
    if not name:
        problems.required(path)
    elif name == LEGACY:
        problems.invalid(path, name, "the legacy signerName is not allowed via this API version")
    elif len(rest) != 1:
        problems.invalid(path, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")
    else:
        if len(domain) > LONGEST_DOMAIN:
            problems.too_long(path, LONGEST_DOMAIN)
        _check_labels(domain, label_problems, problems)
        if "." not in domain:
            problems.invalid(path, domain, "should be a domain with at least two segments separated by dots")
        _check_labels(rest[0], subdomain_problems, problems)
        if len(name) > LONGEST_SIGNER:
            problems.too_long(path, LONGEST_SIGNER)


def _check_labels(segment: str, problems_of: Callable[[str], list[str]], problems: Problems) -> None:
    """Complain about the first part between dots that is no name."""
    for label in segment.split("."):
        if found := problems_of(label):
            words = (f'validating label "{label}": {why}' for why in found)
            problems.all_invalid("spec.signerName", segment, words)
            return


def _check_conditions(conditions: list[Wire], problems: Problems) -> None:
    path = "status.conditions"
    for index, condition in enumerate(conditions):
        type_, status = condition.get("type", ""), condition.get("status", "")
        earlier = [each.get("type", "") for each in conditions[:index]]
        if not type_:
            problems.required(f"{path}[{index}].type")
        problems.one_of(f"{path}[{index}].status", status, YES if type_ in FINAL else ANYTHING)
        if type_ in DECISIONS and any(each in earlier for each in DECISIONS if each != type_):
            problems.invalid(path, type_, "Approved and Denied conditions are mutually exclusive")
        if type_ in earlier:
            problems.duplicate(f"{path}[{index}].type", type_)


def _conditions(obj: Wire) -> list[Wire]:
    return list((obj.get("status") or {}).get("conditions") or ())


def _nothing_removed(obj: Wire, old: Wire, problems: Problems) -> None:
    for final in FINAL:
        if _count(obj, final) < _count(old, final):
            problems.forbidden("status.conditions", f'updates may not remove a condition of type "{final}"')


def _with_times(conditions: list[Wire], before: list[Wire]) -> list[Wire]:
    """The conditions, with times where the client left them to the server."""
    now = format_time(ambient.now())
    return [
        {
            **each,
            "lastUpdateTime": each.get("lastUpdateTime") or now,
            "lastTransitionTime": each.get("lastTransitionTime") or _since(each, before) or now,
        }
        for each in conditions
    ]


def _since(condition: Wire, before: list[Wire]) -> str:
    same = [each for each in before if all(each.get(key) == condition.get(key) for key in ("type", "status"))]
    return next((each["lastTransitionTime"] for each in same if each.get("lastTransitionTime")), "")


def _count(obj: Wire, type_: str) -> int:
    return sum(each.get("type") == type_ for each in _conditions(obj))
