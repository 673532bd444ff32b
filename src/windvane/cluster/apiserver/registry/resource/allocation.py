"""Which devices a claim was given, and how they are: the parts of a ResourceClaim's status."""

import re
from functools import partial
from ipaddress import ip_interface

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.registry.resource.binding_conditions import binding_conditions
from windvane.cluster.apiserver.registry.resource.device_configuration import (
    MOST_CONFIGURATIONS,
    configuration,
    raw_object,
)
from windvane.cluster.apiserver.registry.resource.device_names import driver_name, label_name, pool_name
from windvane.cluster.apiserver.registry.resource.device_taint import default_tolerations
from windvane.cluster.apiserver.registry.resource.lists import check_list, check_set
from windvane.cluster.apiserver.registry.resource.request_names import RequestNames
from windvane.cluster.apiserver.registry.validation.conditions import conditions
from windvane.cluster.apiserver.registry.validation.node_selector import node_selector
from windvane.cluster.apiserver.registry.validation.problems import Problems

DeviceID = tuple[str, str, str, str]
"""Driver, pool, device, and the share of it."""
MOST_RESULTS = 32
MOST_CONDITIONS = 8
MOST_ADDRESSES = 16
LONGEST_INTERFACE_NAME, LONGEST_HARDWARE_ADDRESS = 256, 128
SOURCES = ("FromClaim", "FromClass")
_HEXADECIMAL = "[0-9a-fA-F]"
_UUID = re.compile(rf"{_HEXADECIMAL}{{8}}-({_HEXADECIMAL}{{4}}-){{3}}{_HEXADECIMAL}{{12}}")
_NOT_NORMAL = (
    "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal "
    "characters"
)


def device_id(found: Wire) -> DeviceID:
    """Which device a result or a status is about."""
    driver, pool, device, share = (found.get(name) or "" for name in ("driver", "pool", "device", "shareID"))
    return driver, pool, device, share


def allocated_devices(status: Wire) -> set[DeviceID]:
    """All devices that a claim was given."""
    devices = (status.get("allocation") or {}).get("devices") or {}
    return {device_id(each) for each in devices.get("results") or ()}


def default_status(status: Wire) -> None:
    """Fill in what Go always writes, and operators of tolerations."""
    if (allocation := status.get("allocation")) is not None:
        for result in allocation.setdefault("devices", {}).get("results") or ():
            default_tolerations(result.get("tolerations") or [])
    for device in status.get("devices") or ():
        device.setdefault("conditions", None)
        for condition in device["conditions"] or ():
            condition.setdefault("message", "")


def allocation_result(allocation: Wire, names: RequestNames, path: str, problems: Problems) -> None:
    """Check what a claim was given."""
    devices, here = allocation["devices"], f"{path}.devices"
    check_list(devices.get("results") or [], MOST_RESULTS, partial(_result, names), f"{here}.results", problems)
    check = partial(_configuration, names)
    check_list(devices.get("config") or [], 2 * MOST_CONFIGURATIONS, check, f"{here}.config", problems)
    if (selector := allocation.get("nodeSelector")) is not None:
        node_selector(selector, f"{path}.nodeSelector", problems)


def _result(names: RequestNames, result: Wire, path: str, problems: Problems) -> None:
    names.check(result.get("request") or "", f"{path}.request", problems)
    _device(result, path, problems)
    binding_conditions(result, path, problems)
    _share(result, path, problems)


def _device(found: Wire, path: str, problems: Problems) -> None:
    driver_name(found.get("driver") or "", f"{path}.driver", problems)
    pool_name(found.get("pool") or "", f"{path}.pool", problems)
    label_name(found.get("device") or "", f"{path}.device", problems)


def _share(found: Wire, path: str, problems: Problems) -> None:
    if (uid := found.get("shareID")) is None:
        return
    if why := _wrong_with_uuid(uid):
        problems.invalid(f"{path}.shareID", uid, f"error validating uid: {why}")
    elif len(uid) != 36 or uid != uid.lower():
        problems.invalid(f"{path}.shareID", uid, _NOT_NORMAL)


def _wrong_with_uuid(text: str) -> str:
    """What is wrong with a text that may also have braces, a prefix, or no hyphens."""
    size = len(text.encode())
    if size == 32:
        return "" if re.fullmatch(f"{_HEXADECIMAL}{{32}}", text) else "invalid UUID format"
    if size == 38:
        if not (text.startswith("{") and text.endswith("}")):
            return "invalid bracketed UUID format"
        text = text[1:-1]
    elif size == 45:
        if text[:9].lower() != "urn:uuid:":
            return f'invalid urn prefix: "{text[:9]}"'
        text = text[9:]
    elif size != 36:
        return f"invalid UUID length: {size}"
    return "" if _UUID.fullmatch(text) else "invalid UUID format"


def _configuration(names: RequestNames, found: Wire, path: str, problems: Problems) -> None:
    problems.one_of(f"{path}.source", found.get("source"), SOURCES)
    names.check_all(found.get("requests") or [], f"{path}.requests", problems)
    configuration(found, path, problems)


def device_status(allocated: set[DeviceID], found: Wire, path: str, problems: Problems) -> None:
    """Check what a driver says of a device."""
    _device(found, path, problems)
    _share(found, path, problems)
    if device_id(found) not in allocated:
        problems.invalid(path, shown_device(device_id(found)), "must be an allocated device in the claim")
    stated = found.get("conditions") or []
    if len(stated) > MOST_CONDITIONS:
        problems.too_many(f"{path}.conditions", len(stated), MOST_CONDITIONS)
    conditions(stated, f"{path}.conditions", problems)
    if found.get("data") is not None:
        raw_object(found["data"], f"{path}.data", problems)
    if (network := found.get("networkData")) is not None:
        _network(network, f"{path}.networkData", problems)


def shown_device(device: DeviceID) -> Wire:
    """A device as messages show it."""
    return dict(zip(("Driver", "Pool", "Device", "ShareID"), device, strict=True))


def _network(network: Wire, path: str, problems: Problems) -> None:
    for field, longest in (("interfaceName", LONGEST_INTERFACE_NAME), ("hardwareAddress", LONGEST_HARDWARE_ADDRESS)):
        if len((network.get(field) or "").encode()) > longest:
            problems.too_long(f"{path}.{field}", longest)
    check_set(network.get("ips") or [], MOST_ADDRESSES, _address, str, f"{path}.ips", problems)


def _address(text: str, path: str, problems: Problems) -> None:
    address, _, length = text.partition("/")
    if ":" not in address:
        address = re.sub(r"\b0+(?=[0-9])", "", address)  # leading zeros are read, and then not liked
    try:
        if not length.isdecimal():
            raise ValueError(text)
        canonical = str(ip_interface(f"{address}/{length}"))
    except ValueError:
        rule = "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)"
        problems.invalid(path, text, rule)
        return
    if text != canonical:
        problems.invalid(path, text, f'must be in canonical form ("{canonical}")')
