"""What a CRD says about converting its objects: whether it is complete, and says where the webhook is.

Messages name the fields as an older form of CRDs did, in which the server still keeps them.
"""

from base64 import b64decode
from collections.abc import Mapping
from typing import Any

from windvane.api.names import service_name_problems
from windvane.api.status import StatusCause
from windvane.api.wording import forbidden, invalid, required, unsupported
from windvane.cluster.apiserver.outbound.certificates import BadBundle, trust
from windvane.cluster.apiserver.registry.admissionregistration.webhook_configuration import client_service, client_url
from windvane.cluster.apiserver.registry.validation.problems import Problems

Wire = Mapping[str, Any]
PATH = "spec.conversion"
CONFIG = f"{PATH}.webhookClientConfig"
REVIEWS = f"{PATH}.conversionReviewVersions"
STRATEGIES = ("None", "Webhook")
UNDERSTOOD = ("v1", "v1beta1")


def conversion_causes(spec: Wire, old: Wire | None) -> list[StatusCause]:
    """What is wrong with the conversion of a CRD that is new, or takes the place of `old`."""
    conversion = spec.get("conversion")
    if conversion is None:
        return []
    strategy = conversion.get("strategy") or ""
    found = []
    if strategy != "None" and spec.get("preserveUnknownFields") is True:
        why = "must be None if spec.preserveUnknownFields is true"
        found.append(invalid(f"{PATH}.strategy", strategy, why))
    if not strategy:
        found.append(required(f"{PATH}.strategy"))
    elif strategy not in STRATEGIES:
        found.append(unsupported(f"{PATH}.strategy", strategy, STRATEGIES))
    webhook = conversion.get("webhook") or {}
    config, reviews = webhook.get("clientConfig"), webhook.get("conversionReviewVersions") or []
    if strategy != "Webhook":
        why = "should not be set when strategy is not set to Webhook"
        found += [forbidden(CONFIG, why)] if config is not None else []
        return found + ([forbidden(REVIEWS, why)] if reviews else [])
    if config is None:
        found.append(required(CONFIG, "required when strategy is set to Webhook"))
    else:
        found += _config_causes(config, old)
    return found + _review_causes(reviews, old)


def has_bad_bundle(crd: Wire) -> bool:
    """Whether the CA bundle of a CRD's conversion webhook is invalid."""
    webhook = ((crd.get("spec") or {}).get("conversion") or {}).get("webhook") or {}
    return bool(_bundle_problem((webhook.get("clientConfig") or {}).get("caBundle") or ""))


def _bundle_problem(bundle: str) -> str:
    """What is wrong with the certificates, in base64, that a webhook's own is checked by."""
    if not bundle:
        return ""  # then the system's own are trusted; to read those takes longer than all else that is checked
    try:
        trust(b64decode(bundle))
    except BadBundle as error:
        return str(error)
    return ""


def _config_causes(config: Wire, old: Wire | None) -> list[StatusCause]:
    url, service = config.get("url"), config.get("service")
    problems = Problems()
    if (url is None) == (service is None):
        problems.required(CONFIG, "exactly one of url or service is required")
    elif url is not None:
        client_url(url, f"{CONFIG}.url", problems)
    elif service is not None:
        client_service({"port": 443, **service}, f"{CONFIG}.service", problems)
    bundle = config.get("caBundle") or ""
    if not _may_be_bad(old) and (problem := _bundle_problem(bundle)):
        problems.invalid(f"{CONFIG}.caBundle", bundle, problem)
    return list(problems)


def _may_be_bad(old: Wire | None) -> bool:
    """Whether certificates need not be any: the CRD is not established, or they were none before."""
    conditions = ((old or {}).get("status") or {}).get("conditions") or ()
    established = any(each.get("type") == "Established" and each.get("status") == "True" for each in conditions)
    return old is None or not established or has_bad_bundle(old)


def _review_causes(reviews: list[str], old: Wire | None) -> list[StatusCause]:
    if not reviews:
        return [required(REVIEWS)]
    found = []
    for index, version in enumerate(reviews):
        here = f"{REVIEWS}[{index}]"
        if version in reviews[:index]:
            found.append(invalid(here, version, "duplicate version"))
        else:
            found += [invalid(here, version, problem) for problem in service_name_problems(version)]
    webhook = (((old or {}).get("spec") or {}).get("conversion") or {}).get("webhook") or {}
    before = webhook.get("conversionReviewVersions") or UNDERSTOOD
    if not set(UNDERSTOOD) & set(reviews) and set(UNDERSTOOD) & set(before):
        found.append(invalid(REVIEWS, reviews, "must include at least one of v1, v1beta1"))
    return found
