"""What a CRD may say about converting its objects."""

from typing import Any

from conformance.conversion_server import ConversionWebhook, links, serve_links, until
from conformance.crds import CRDS
from conformance.requests import Raw

Thing = dict[str, Any]
CONFIG = "spec.conversion.webhookClientConfig"
NO_PEM = "unable to load root certificates: unable to parse bytes as PEM block"


def url(text: str, *problems: str) -> tuple[Thing, list[str]]:
    return {"url": text}, [each if each.startswith("spec.") else f"{CONFIG}.url: {each}" for each in problems]


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
