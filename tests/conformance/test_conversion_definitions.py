"""What a CRD may say about converting its objects."""

from typing import Any

import pytest

from conformance.conversion_server import ConversionWebhook, links, serve_links, until
from conformance.crds import CRDS
from conformance.requests import Raw

Thing = dict[str, Any]
CONFIG = "spec.conversion.webhookClientConfig"
FORM = "; desired format: https://host[/path]"
HTTPS = f"'https' is the only allowed URL scheme{FORM}"
NO_HOST = f'{CONFIG}.url: Invalid value: "": host must be specified{FORM}'
SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
NO_PEM = "unable to load root certificates: unable to parse bytes as PEM block"


def url(text: str, *problems: str) -> tuple[Thing, list[str]]:
    return {"url": text}, [each if each.startswith("spec.") else f"{CONFIG}.url: {each}" for each in problems]


def no_url(text: str, why: str) -> tuple[Thing, list[str]]:
    quoted = text.replace("\x01", r"\x01")
    return url(text, f'Required value: url must be a valid URL: parse "{quoted}": {why}{FORM}')


def service(*problems: str, **fields: Any) -> tuple[Thing, list[str]]:
    stated = {"name": "a", "namespace": "b", **fields}
    used = {key: value for key, value in stated.items() if value is not None}
    return {"service": used}, [f"{CONFIG}.service.{each}" for each in problems]


CONFIGS: dict[str, tuple[Thing, list[str]]] = {
    "http": url("http://x/y", f'Invalid value: "http": {HTTPS}'),
    "no-host": url("https:///y", NO_HOST),
    "password": url("https://a:b@x/y", 'Invalid value: "a:b": user information is not permitted in the URL'),
    "user": url("https://a@x/y", 'Invalid value: "a": user information is not permitted in the URL'),
    "fragment": url("https://x/y#z", 'Invalid value: "z": fragments are not permitted in the URL'),
    "query": url("https://x/y?z=1", 'Invalid value: "z=1": query parameters are not permitted in the URL'),
    "empty": url("", f'Invalid value: "": {HTTPS}', NO_HOST),
    "path-only": url("a/b", f'Invalid value: "": {HTTPS}', NO_HOST),
    "other-scheme": url("a:b/c", f'Invalid value: "a": {HTTPS}', NO_HOST),
    "colon": no_url(":", "missing protocol scheme"),
    "space": no_url("https://a b/c", 'invalid character " " in host name'),
    "control": no_url("https://a\x01b/c", "net/url: invalid control character in URL"),
    "port": no_url("https://a:b/c", 'invalid port ":b" after host'),
    "escape": no_url("https://a/%zz", 'invalid URL escape "%zz"'),
    "number-first": no_url("1a:b/c", "first path segment in URL cannot contain colon"),
    "bracket": no_url("https://[::1/x", "missing ']' in host"),
    "neither": ({}, [f"{CONFIG}: Required value: exactly one of url or service is required"]),
    # The server takes the one for the other here.
    "no-name": service("namespace: Required value", name=None),
    "no-namespace": service("name: Required value", namespace=None),
    "port-0": service("port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive", port=0),
    "relative": service(
        """path: Invalid value: "x": must start with a '/'""",
        'path: Invalid value: "x": segment[0] may not be empty',
        path="x",
    ),
    "two-slashes": service('path: Invalid value: "//": segment[0] may not be empty', path="//"),
    "empty-segment": service('path: Invalid value: "/a//b/": segment[1] may not be empty', path="/a//b/"),
    "bad-segment": service(f'path: Invalid value: "/A_b/c": segment[0]: {SUBDOMAIN}', path="/A_b/c"),
}


def definition(**conversion: Any) -> Thing:
    crd = links("linksz", ConversionWebhook())
    crd["spec"]["conversion"] |= conversion
    return crd


@pytest.mark.parametrize("name", CONFIGS)
async def test_a_webhook_must_be_somewhere(raw: Raw, name: str) -> None:
    config, problems = CONFIGS[name]
    hook = {"clientConfig": config, "conversionReviewVersions": ["v1"]}
    answer = await raw(f"POST {CRDS}?dryRun=All", definition(webhook=hook))
    listed = problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
    assert (answer.code, answer.json["message"].partition(" is invalid: ")[2]) == (422, listed)


async def test_the_port_of_a_service_has_a_default(raw: Raw) -> None:
    hook = {
        "clientConfig": {"service": {"name": "a", "namespace": "b", "path": ""}},
        "conversionReviewVersions": ["v1"],
    }
    made = await raw.ok(f"POST {CRDS}?dryRun=All", definition(webhook=hook))
    assert made["spec"]["conversion"]["webhook"]["clientConfig"]["service"]["port"] == 443


async def test_objects_of_unknown_fields_are_not_converted(raw: Raw) -> None:
    crd = definition()
    crd["spec"]["preserveUnknownFields"] = True
    answer = await raw(f"POST {CRDS}?dryRun=All", crd)
    why = 'spec.conversion.strategy: Invalid value: "Webhook": must be None if spec.preserveUnknownFields is true'
    assert why in answer.json["message"]


@pytest.mark.parametrize("strategy", ["None", "Foo"])
async def test_a_webhook_belongs_to_its_strategy(raw: Raw, strategy: str) -> None:
    answer = await raw(f"POST {CRDS}?dryRun=All", definition(strategy=strategy))
    why = "Forbidden: should not be set when strategy is not set to Webhook"
    assert f"{CONFIG}: {why}, spec.conversion.conversionReviewVersions: {why}]" in answer.json["message"]


async def test_certificates_that_are_none_keep_a_kind_from_being_served(raw: Raw) -> None:
    crd = links(f"links{raw.namespace.removeprefix('test-')}", ConversionWebhook())
    crd["spec"]["conversion"]["webhook"]["clientConfig"] = {"url": "https://x", "caBundle": "eA=="}
    await raw.ok(f"POST {CRDS}", crd)
    path = f"{CRDS}/{crd['metadata']['name']}"

    async def is_refused() -> bool:
        conditions = (await raw.ok(f"GET {path}")).get("status", {}).get("conditions") or ()
        found = {each["type"]: (each["status"], each["reason"], each["message"]) for each in conditions}
        refusal = ("False", "InvalidCABundle", "The conversion webhook CABundle is invalid")
        return found.get("Established") == refusal

    await until(is_refused)
    await raw.ok(
        f"PATCH {path}", {"spec": {"conversion": {"webhook": {"clientConfig": {"caBundle": None}}}}}, patch="merge"
    )

    async def is_served() -> bool:
        conditions = (await raw.ok(f"GET {path}"))["status"]["conditions"]
        return ("Established", "True") in [(each["type"], each["status"]) for each in conditions]

    await until(is_served)


async def test_good_certificates_are_not_replaced_by_none(raw: Raw) -> None:
    served = await serve_links(raw, ConversionWebhook())
    change = {"spec": {"conversion": {"webhook": {"clientConfig": {"caBundle": "eA=="}}}}}
    answer = await raw(f"PATCH {CRDS}/{served.crd['metadata']['name']}", change, patch="merge")
    told = f'{CONFIG}.caBundle: Invalid value: "eA==": {NO_PEM}'
    assert (answer.code, answer.json["message"].partition(" is invalid: ")[2]) == (422, told)
