"""Reviews as an API server sends them."""

import json
from collections.abc import Callable
from typing import Any

import pytest

Wire = dict[str, Any]


def admission_review(
    operation: str = "CREATE",
    thing: Wire | None = None,
    old: Wire | None = None,
    *,
    resource: tuple[str, str, str] = ("demo.windvane.dev", "v1", "websites"),
    version: str = "v1",
    **more: Any,
) -> bytes:
    group, of, plural = resource
    request = {
        "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
        "kind": {"group": group, "version": of, "kind": "Website"},
        "resource": {"group": group, "version": of, "resource": plural},
        "requestKind": {"group": group, "version": of, "kind": "Website"},
        "requestResource": {"group": group, "version": of, "resource": plural},
        "name": "blog",
        "namespace": "web",
        "operation": operation,
        "userInfo": {"username": "jane", "uid": "7", "groups": ["system:authenticated"], "extra": {"scopes": ["a"]}},
        "object": thing,
        "oldObject": old,
        "dryRun": False,
        "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
        **more,
    }
    return json.dumps(
        {"kind": "AdmissionReview", "apiVersion": f"admission.k8s.io/{version}", "request": request}
    ).encode()


@pytest.fixture
def review() -> Callable[..., bytes]:
    return admission_review
