"""What a real server takes of value types: what they can read, and nothing else; in the words of our own checks."""

from collections.abc import Iterator
from types import GenericAlias
from typing import Any

import pytest

from reference.controlplane import ReferenceControlPlane
from reference.test_validation_messages import CRDS, Server
from schema_cases import Json, as_tuples, definition
from value_cases import READABLE, UNREADABLE
from windvane.api.custom_resources.schema import schema
from windvane.api.openapi.validate import RULES_NOT_CHECKED, Validator

GROUP = "types.windvane.dev"
THINGS = f"/apis/{GROUP}/v1/namespaces/default/things?dryRun=All"
SPEC: Json = {
    "type": "object",
    "properties": {type_.__name__: schema(type_) for type_ in READABLE}
    # A list of any length: no rule that the server finds too expensive there may be among them.
    | {f"many{type_.__name__}": schema(GenericAlias(list, (type_,))) for type_ in READABLE},
}


def thing(**spec: Any) -> Json:
    return {"apiVersion": f"{GROUP}/v1", "kind": "Thing", "metadata": {"name": "x"}, "spec": spec}


@pytest.fixture(scope="module")
def server(reference: ReferenceControlPlane) -> Iterator[Server]:
    """The control plane, which serves a kind with a field of each type."""
    server = Server(reference)
    code, answer = server.ask("POST", CRDS, definition(SPEC, GROUP))
    assert code == 201, answer
    while server.ask("POST", THINGS, thing())[0] != 201:
        pass
    yield server
    while server.ask("DELETE", f"{CRDS}/things.{GROUP}")[0] != 404:
        pass
    server.close()


@pytest.mark.parametrize("type_", READABLE)
def test_the_server_takes_of_a_value_type_what_it_can_read_and_nothing_else(server: Server, type_: Any) -> None:
    validator = Validator({"type": "object", "properties": {"spec": SPEC}})
    for value in (*READABLE[type_], *UNREADABLE[type_]):
        theirs = server.causes("POST", THINGS, thing(**{type_.__name__: value}))
        assert theirs == sorted(as_tuples(validator.validate(thing(**{type_.__name__: value})).causes))
        assert (theirs == []) is (value in READABLE[type_]), value


@pytest.mark.parametrize("type_", READABLE)
def test_the_same_is_so_in_a_list(server: Server, type_: Any) -> None:
    name = f"many{type_.__name__}"
    assert server.causes("POST", THINGS, thing(**{name: READABLE[type_]})) == []
    assert server.causes("POST", THINGS, thing(**{name: [UNREADABLE[type_][-1]]})) != []


def test_what_is_not_checked_is_not_taken(server: Server) -> None:
    """A value that is too long stops the rules, and is refused for itself."""
    theirs = server.causes("POST", THINGS, thing(Quantity="1" * 101))
    assert [text for _, _, text in theirs if text != RULES_NOT_CHECKED.message] == [
        "Too long: may not be more than 40 bytes"
    ]
