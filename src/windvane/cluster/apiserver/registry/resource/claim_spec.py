"""What a ResourceClaim asks for, and a ResourceClaimTemplate's claims with it: requests, constraints, configuration."""

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.registry.defaults import fill, fill_zero
from windvane.cluster.apiserver.registry.resource.device_configuration import MOST_CONFIGURATIONS, configuration
from windvane.cluster.apiserver.registry.resource.device_names import class_name, fully_qualified_name, label_name
from windvane.cluster.apiserver.registry.resource.device_selector import selectors
from windvane.cluster.apiserver.registry.resource.device_taint import default_tolerations, toleration
from windvane.cluster.apiserver.registry.resource.lists import check_list, check_set
from windvane.cluster.apiserver.registry.resource.request_names import MOST_REQUESTS, RequestNames
from windvane.cluster.apiserver.registry.validation.problems import Problems

MOST_CONSTRAINTS = 32
MOST_ALTERNATIVES = 8
ALL, EXACT_COUNT = "All", "ExactCount"
_ONE_OF_BOTH = "exactly one of `exactly` or `firstAvailable` is required"
_ONE_ATTRIBUTE = (
    'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'  # even if none is
)


def default_claim(spec: Wire) -> None:
    """Fill in how many devices are asked for; a claim without requests says null."""
    devices = spec.setdefault("devices", {})
    devices.setdefault("requests", None)
    for request in devices["requests"] or ():
        if (exactly := request.get("exactly")) is not None:
            _default_request(exactly)
        for alternative in request.get("firstAvailable") or ():
            _default_request(alternative)


def _default_request(request: Wire) -> None:
    fill(request, "allocationMode", EXACT_COUNT)
    if request["allocationMode"] == EXACT_COUNT:
        fill_zero(request, "count", 1)
    default_tolerations(request.get("tolerations") or [])


def claim(spec: Wire, path: str, problems: Problems) -> None:
    """Check a claim."""
    devices, here = spec["devices"], f"{path}.devices"
    requests = devices.get("requests") or []
    names = RequestNames(requests)
    check_set(requests, MOST_REQUESTS, _request, _name, f"{here}.requests", problems)

    def constraint(found: Wire, path: str, problems: Problems) -> None:
        names.check_all(found.get("requests") or [], f"{path}.requests", problems)
        for field in ("matchAttribute", "distinctAttribute"):
            if (attribute := found.get(field)) is not None:
                fully_qualified_name(attribute, f"{path}.{field}", problems)
                return
        problems.required(path, _ONE_ATTRIBUTE)

    def claim_configuration(found: Wire, path: str, problems: Problems) -> None:
        names.check_all(found.get("requests") or [], f"{path}.requests", problems)
        configuration(found, path, problems)

    check_list(devices.get("constraints") or [], MOST_CONSTRAINTS, constraint, f"{here}.constraints", problems)
    check_list(devices.get("config") or [], MOST_CONFIGURATIONS, claim_configuration, f"{here}.config", problems)


def _name(request: Wire) -> str:
    return request.get("name") or ""


def _request(request: Wire, path: str, problems: Problems) -> None:
    label_name(_name(request), f"{path}.name", problems)
    exactly, alternatives = request.get("exactly"), request.get("firstAvailable") or []
    if exactly is None and not alternatives:
        problems.required(path, _ONE_OF_BOTH)
    elif exactly is not None and alternatives:
        problems.invalid(path, None, f"{_ONE_OF_BOTH}, but multiple fields are set")
    elif exactly is not None:
        _devices(exactly, f"{path}.exactly", problems)
    else:
        check_set(alternatives, MOST_ALTERNATIVES, _alternative, _name, f"{path}.firstAvailable", problems)


def _alternative(request: Wire, path: str, problems: Problems) -> None:
    label_name(_name(request), f"{path}.name", problems)
    _devices(request, path, problems)


def _devices(request: Wire, path: str, problems: Problems) -> None:
    class_name(request.get("deviceClassName") or "", f"{path}.deviceClassName", problems)
    selectors(request.get("selectors") or [], f"{path}.selectors", problems)
    mode, count = request["allocationMode"], request.get("count") or 0
    if mode == ALL:
        if count:
            problems.invalid(f"{path}.count", count, "must not be specified when allocationMode is 'All'")
    elif mode == EXACT_COUNT:
        if count <= 0:
            problems.invalid(f"{path}.count", count, "must be greater than zero")
    else:
        problems.unsupported(f"{path}.allocationMode", mode, (ALL, EXACT_COUNT))
    for index, each in enumerate(request.get("tolerations") or ()):
        toleration(each, f"{path}.tolerations[{index}]", problems)
