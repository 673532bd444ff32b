"""What is taken out of a bug report, and what stays in it."""

import base64
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windvane.cli.redaction import GONE, outline, redact

PEM = "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIIr\n-----END EC PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"key: |\n{PEM}\nnext", f"key: |\n{GONE}\nnext"),
        ("-----BEGIN PRIVATE KEY-----\ncut off", GONE),
        ("Authorization: Bearer abc.def-123", f"Authorization: Bearer {GONE}"),
        ("said eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2ln to it", f"said {GONE} to it"),
        ("postgres://app:hunter2@db:5432/app", f"postgres://{GONE}@db:5432/app"),
        ("redis://:hunter2@db", f"redis://{GONE}@db"),
        ("PGPASSWORD=hunter2 psql", f"PGPASSWORD={GONE} psql"),
        ("password: 'a b c', user: x", f"password: {GONE}, user: x"),
        ('{"apiKey": "a b", "n": 1}', f'{{"apiKey": {GONE}, "n": 1}}'),
        (r"{\"token\": \"abc\"}", rf"{{\"token\": {GONE}}}"),
        ("run --token abc --verbose", f"run --token {GONE} --verbose"),
        ("password=12345", f"password={GONE}"),
        ("postgres://app:hun/ter@2@db:5432/app", f"postgres://{GONE}@db:5432/app"),
        ("GET https://store/x?sig=hunter2&n=1", f"GET https://store/x?sig={GONE}&n=1"),
        ("Cookie: session=hunter2; user=ada", f"Cookie: {GONE}"),
        ("curl -u ada:hunter2 https://db", f"curl -u {GONE} https://db"),
        ("host=db pwd=hunter2", f"host=db pwd={GONE}"),
        ("AccountKey=aGk=;EndpointSuffix=x", f"AccountKey={GONE};EndpointSuffix=x"),
        ("message: '{''password'': ''a b c'', ''n'': 1}'", f"message: '{{''password'': {GONE}, ''n'': 1}}'"),
        ("bad password: b'a b'", f"bad password: {GONE}"),
        ('{"auths": {"hub": {"auth": "YWRhOmI="}}}', f'{{"auths": {{"hub": {{"auth": {GONE}}}}}}}'),
        ("login failed with password hunter2", f"login failed with password {GONE}"),
        ("the password is `hunter2`", f"the password is `{GONE}"),
        ("token 0123-abcd-4567 has expired", f"token {GONE} has expired"),
        ("SG.0123456789abcdefgh.0123456789abcdefgh", GONE),
        ("ghp_0123456789abcdefABCD", GONE),
        ("AKIAABCDEFGHIJKLMNOP", GONE),
        ("0123456789abcdef0123456789abcdef", GONE),
        ("/home/ada/work and /home/ada", "~/work and ~"),
        # What a maintainer needs stays.
        ("apply deployments.apps default/blog-7f9c6d5b8c-x2x7k", None),
        ("uid 1b4e28ba-2fa1-11d2-883f-0016d3cca427", None),
        ("image sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", None),
        ("Secret default/blog was made; automountServiceAccountToken: false", None),
        ("password authentication failed for user ada; the token has expired; auth: none", None),
        ("no answer from http://127.0.0.1:6443/a?by=me@example.com", None),
        ("no answer from http://127.0.0.1:6443, says ada@example.com", None),
        ("https://127.0.0.1:6443/api/v1/namespaces/default/pods?watch=true", None),
        ("File /usr/lib/python3.11/site-packages/windvane/runtime/controller.py, line 12", None),
        ("spec.replicas 3 → 5, managed by kubectl-client-side-apply", None),
    ],
)
def test_what_looks_secret_goes_and_the_rest_stays(text: str, left: str | None) -> None:
    assert redact(text, {"/home/ada": "~"}) == (text if left is None else left)


@given(st.binary(min_size=36), st.sampled_from(["{}", "data {} more", '{{"key": "{}"}}', "a={}"]))
def test_a_random_key_goes_wherever_it_is(key: bytes, around: str) -> None:
    word = base64.urlsafe_b64encode(key).decode()
    mixed = any(map(str.isupper, word[:20])) and any(map(str.islower, word[:20])) and any(map(str.isdigit, word[:20]))
    if mixed and not set("-_") & set(word[:20]):
        assert word not in redact(around.format(word), {})


@pytest.mark.parametrize("piece", ["0f", "a.", "a-", "--a", "aB3", "token", "http://a:b"])
def test_a_long_word_is_looked_through_in_no_time(piece: str) -> None:
    """There is one in the data of many a ConfigMap, and it was looked through anew from each of its letters."""
    began = time.process_time()
    redact(piece * (40_000 // len(piece)), {})
    assert time.process_time() - began < 5


PIECES = [
    "password",
    "--token",
    "Bearer",
    "https://",
    "@",
    "=",
    ":",
    '"',
    "'",
    "\\",
    " ",
    "\n",
    ",",
    "abc",
    "true",
    GONE,
]


@given(st.lists(st.sampled_from(PIECES)).map("".join))
def test_what_was_removed_is_not_looked_for_again(text: str) -> None:
    once = redact(text, {})
    assert redact(once, {}).count(GONE) <= once.count(GONE)


def test_of_an_object_its_shape_stays() -> None:
    schema = {
        "properties": {
            "spec": {
                "properties": {
                    "mode": {"enum": ["Fast", "Safe"]},
                    "users": {"items": {"properties": {"role": {"enum": ["Admin"]}}}},
                    "sizes": {"additionalProperties": {"enum": ["Large"]}},
                }
            }
        }
    }
    wire = {
        "apiVersion": "example.com/v1",
        "kind": "Website",
        "metadata": {
            "name": "blog",
            "uid": "1",
            "annotations": {"note": "my secret"},
            "ownerReferences": [{"kind": "Team", "name": "a", "uid": "2", "controller": True}],
            "managedFields": [{"manager": "kubectl", "operation": "Apply", "fieldsV1": {"f:spec": {}}}],
        },
        "spec": {
            "mode": "Fast",
            "html": "<h1>",
            "replicas": 3,
            "on": True,
            "users": [{"name": "ada", "role": "Admin"}],
            "sizes": {"a": "Large", "b": "hidden"},
        },
        "status": {"url": "http://x", "conditions": [{"type": "Ready", "message": "waits for Deployment blog"}]},
    }
    assert outline(wire, schema) == {
        "metadata": {
            "name": "blog",
            "annotations": ["note"],
            "ownerReferences": [{"kind": "Team", "name": "a", "controller": True}],
            "managedFields": [{"manager": "kubectl", "operation": "Apply"}],
        },
        "spec": {
            "mode": "Fast",
            "html": "«4 characters»",
            "replicas": 3,
            "on": True,
            "users": [{"name": "«3 characters»", "role": "Admin"}],
            "sizes": {"a": "Large", "b": "«6 characters»"},
        },
        "status": {
            "url": "«8 characters»",
            "conditions": [{"type": "Ready", "message": "waits for Deployment blog"}],
        },
    }
