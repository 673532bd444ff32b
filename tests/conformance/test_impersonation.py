"""Acting as somebody else takes a right to it: the old, wide one, or one of the newer, narrow ones."""

import pytest

from conformance.access import WHO_AM_I, Somebody, robot, robot_name, rule
from conformance.requests import Raw, Refused
from conformance.servers import Server

AUTHENTICATION = "authentication.k8s.io"
JANE = {"Impersonate-User": "jane"}


@pytest.mark.parametrize(
    ("user", "mode"),
    [
        ("jane", "user-info"),
        ("system:serviceaccount:a:b", "serviceaccount"),
        ("system:node:one", "arbitrary-node"),
        ("system:anonymous", "user-info"),
    ],
)
async def test_not_without_a_right(user: str, mode: str, server: Server, raw: Raw) -> None:
    async with robot(server, raw) as asker:
        answer = await asker("GET pods", headers={"Impersonate-User": user})
    message = (
        f'pods is forbidden: User "{robot_name(raw)}" cannot impersonate-on:{mode}:list resource "pods" '
        f'in API group "" in the namespace "{raw.namespace}"'
    )
    assert answer.refusal == Refused(403, "Forbidden", message, "pods")


async def test_not_without_a_right_to_a_path(server: Server, raw: Raw) -> None:
    async with robot(server, raw) as asker:
        answer = await asker("GET /version", headers=JANE)
    message = f'forbidden: User "{robot_name(raw)}" cannot impersonate-on:user-info:get path "/version"'
    assert answer.refusal == Refused(403, "Forbidden", message, "")


async def test_the_right_to_be_one_user(server: Server, raw: Raw) -> None:
    async with robot(server, raw) as asker:
        await Somebody(raw, robot_name(raw)).may_everywhere(rule("impersonate", "users", resourceNames=["jane"]))
        answer = await asker(WHO_AM_I, {}, headers=JANE)
        assert answer.json["status"]["userInfo"] == {"username": "jane", "groups": ["system:authenticated"]}
        # From now on the server tries this way first, and tells what is missing for it.
        for headers, resource, group, name in (
            ({"Impersonate-User": "joe"}, "users", "", "joe"),
            ({**JANE, "Impersonate-Group": "team"}, "groups", "", "team"),
            ({**JANE, "Impersonate-Uid": "u"}, "uids", AUTHENTICATION, "u"),
            ({**JANE, "Impersonate-Extra-Foo": "x"}, "userextras/foo", AUTHENTICATION, "x"),
        ):
            plural = resource.partition("/")[0]
            kind = f"{plural}.{group}" if group else plural
            message = (
                f'{kind} "{name}" is forbidden: User "{robot_name(raw)}" cannot impersonate resource "{resource}" '
                f'in API group "{group}" at the cluster scope'
            )
            answer = await asker("GET pods", headers=headers)
            assert answer.refusal == Refused(403, "Forbidden", message, f"{kind} {name}")


async def test_the_right_to_be_a_service_account_is_one_in_its_namespace(server: Server, raw: Raw) -> None:
    async with robot(server, raw) as asker:
        await Somebody(raw, robot_name(raw)).may(rule("impersonate", "serviceaccounts"))
        account = f"system:serviceaccount:{raw.namespace}:other"
        answer = await asker(WHO_AM_I, {}, headers={"Impersonate-User": account})
        assert answer.json["status"]["userInfo"] == {
            "username": account,
            "groups": ["system:serviceaccounts", f"system:serviceaccounts:{raw.namespace}", "system:authenticated"],
        }
        answer = await asker(WHO_AM_I, {}, headers={"Impersonate-User": "system:serviceaccount:default:other"})
        assert answer.refusal.message == (
            f'serviceaccounts "other" is forbidden: User "{robot_name(raw)}" cannot impersonate resource '
            '"serviceaccounts" in API group "" in the namespace "default"'
        )


async def test_the_right_to_some_groups_and_extras(server: Server, raw: Raw) -> None:
    async with robot(server, raw) as asker:
        await Somebody(raw, robot_name(raw)).may_everywhere(
            rule("impersonate", "users groups", resourceNames=["jane", "team"]),
            rule("impersonate", "uids userextras/foo", AUTHENTICATION),
        )
        headers = {**JANE, "Impersonate-Group": "team", "Impersonate-Uid": "u", "Impersonate-Extra-Foo": "x"}
        answer = await asker(WHO_AM_I, {}, headers=headers)
        assert answer.json["status"]["userInfo"] == {
            "username": "jane",
            "uid": "u",
            "groups": ["team", "system:authenticated"],
            "extra": {"foo": ["x"]},
        }
        assert (await asker(WHO_AM_I, {}, headers={**headers, "Impersonate-Extra-Bar": "x"})).code == 403


async def test_who_acts_as_somebody_may_what_they_may(server: Server, raw: Raw) -> None:
    async with robot(server, raw) as asker:
        await Somebody(raw, robot_name(raw)).may_everywhere(rule("impersonate", "users"), rule("list", "secrets"))
        message = (
            f'secrets is forbidden: User "jane" cannot list resource "secrets" in API group "" '
            f'in the namespace "{raw.namespace}"'
        )
        assert (await asker("GET secrets")).code == 200
        assert (await asker("GET secrets", headers=JANE)).refusal.message == message


async def test_a_narrow_right_is_to_do_one_thing_as_one_user(server: Server, raw: Raw) -> None:
    async with robot(server, raw) as asker:
        await Somebody(raw, robot_name(raw)).may_everywhere(
            rule("impersonate:user-info", "users", AUTHENTICATION, resourceNames=["jane"]),
            rule("impersonate-on:user-info:create", "selfsubjectreviews", AUTHENTICATION),
        )
        answer = await asker(WHO_AM_I, {}, headers=JANE)
        assert answer.json["status"]["userInfo"] == {"username": "jane", "groups": ["system:authenticated"]}
        for headers, message in (
            (
                {"Impersonate-User": "joe"},
                (
                    f'users.authentication.k8s.io "joe" is forbidden: User "{robot_name(raw)}" cannot '
                    'impersonate:user-info resource "users" in API group "authentication.k8s.io" at the cluster scope'
                ),
            ),
            (
                {**JANE, "Impersonate-Group": "system:masters"},
                (
                    f'groups.authentication.k8s.io "system:masters" is forbidden: User "{robot_name(raw)}" cannot '
                    'impersonate:user-info resource "groups" in API group "authentication.k8s.io" at the cluster '
                    "scope: impersonating the system:masters group is not allowed"
                ),
            ),
        ):
            assert (await asker(WHO_AM_I, {}, headers=headers)).refusal.message == message
        assert (await asker("GET pods", headers=JANE)).refusal.message == (
            f'pods is forbidden: User "{robot_name(raw)}" cannot impersonate-on:user-info:list resource "pods" '
            f'in API group "" in the namespace "{raw.namespace}"'
        )


async def test_a_narrow_right_to_a_node_gives_its_group(server: Server, raw: Raw) -> None:
    async with robot(server, raw) as asker:
        await Somebody(raw, robot_name(raw)).may_everywhere(
            rule("impersonate:arbitrary-node", "nodes", AUTHENTICATION),
            rule("impersonate-on:arbitrary-node:create", "selfsubjectreviews", AUTHENTICATION),
        )
        answer = await asker(WHO_AM_I, {}, headers={"Impersonate-User": "system:node:one"})
        assert answer.json["status"]["userInfo"] == {
            "username": "system:node:one",
            "groups": ["system:nodes", "system:authenticated"],
        }
