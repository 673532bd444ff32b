"""What a person sees in the live view of `windvane dev`, and what its keys do: a real cluster, and a real operator."""

import sys
import traceback
from pathlib import Path

import pytest

from integration.dev.live import LiveSession
from integration.dev.screen import Person, at_view
from integration.testing.sites import Site, site
from windvane import ObjectMeta
from windvane.api.resource import kind_of, owner_reference
from windvane.cli.dev.session import Described, State
from windvane.cli.dev.view.wording import Tone
from windvane.k8s import apps, core

READY = "✓ Ready: 2 of 2 copies are up"


async def blog(session: LiveSession, person: Person) -> None:
    """Have a site that is ready."""
    await session.admin.create(site("blog", copies=2), namespace="default")
    await person.sees(READY)


async def test_objects_are_a_tree_that_says_how_each_is(session: LiveSession) -> None:
    await session.admin.create(site("nowhere", copies=-1), namespace="default")
    await session.admin.create(site("wiki", secret="wiki-key"), namespace="default")
    async with at_view(session) as person:
        await blog(session, person)
        waits, failed = "◌ Waiting: there is no Secret wiki-key", "✗ Fatal: a site has no less than 0 copies"
        await person.sees(waits, failed, "sites  ● running   3 objects  ✓ 1 ready  ◌ 1 waiting  ✗ 1 failed")
        await person.sees(str(session.kubeconfig))
        tree = [line for line in person.lines if "Running 1/1" in line or "ready" in line or "Site/" in line][1:8]
        starts = [
            "Site/blog ",
            "└─ Deployment/blog ",
            "   └─ ReplicaSet/blog-",
            "      ├─ Pod/blog-",
            "      └─ Pod/blog-",
        ]
        assert [each.startswith(start) for each, start in zip(tree, starts, strict=False)] == [True] * 5, tree
        colours = {words: Tone.value.split()[-1] for words, Tone in ((READY, Tone.GOOD), (waits, Tone.WAITING))}
        colours[failed] = Tone.BAD.value.split()[-1]
        for words, colour in colours.items():
            style = person.style(words)
            assert style.color is not None
            assert style.color.triplet is not None
            assert style.color.triplet.hex == colour


async def test_passes_tell_why_they_ran_what_they_wrote_and_when_the_next_one_comes(session: LiveSession) -> None:
    async with at_view(session) as person:
        await person.sees("There is no Site yet")
        await session.admin.create(site("wiki", secret="wiki-key"), namespace="default")
        await blog(session, person)
        await person.sees("◌ waiting: there is no", "Deployment blog: status.", "apply sites/status", "✓ done")
        assert "in " in person.line("◌ waiting: there is no")[-8:]


async def test_a_filter_leaves_what_has_the_words_in_it(session: LiveSession) -> None:
    async with at_view(session) as person:
        await session.admin.create(site("wiki", secret="wiki-key"), namespace="default")
        await blog(session, person)
        await person.press("slash")
        await person.write("wiki")
        await person.sees_no("Site/blog")
        await person.sees("Site/wiki")
        await person.press("enter", "escape")
        await person.sees("Site/blog", "Site/wiki")
        await person.press("slash")
        await person.write("pod/blog")
        await person.sees_no("Site/wiki")
        assert "Site/blog" in person.screen, "what it belongs to stays"
        assert "No pass has ended yet" not in person.screen
        await person.write("-nothing")
        await person.sees("Nothing here has 'pod/blog-nothing' in it")


async def test_what_is_typed_in_one_go_after_the_slash_is_all_in_the_filter(session: LiveSession) -> None:
    async with at_view(session) as person:
        await blog(session, person)
        person.type("/pkd")
        await person.sees("Nothing here has 'pkd' in it")
        await person.press("escape")
        await person.sees(READY)
        assert session.asked == []
        assert await session.exists(Site, "blog")


async def test_an_object_that_is_opened_tells_its_history_and_its_yaml(session: LiveSession) -> None:
    async with at_view(session) as person:
        await blog(session, person)
        await person.goes_to("Site/blog")
        await person.press("enter")
        await person.sees("because  Deployment blog changed  by kube-controller-manager", "  status.availableReplicas")
        await person.sees(
            "wrote    apply sites.demo.windvane.dev/status blog", "copies: 2", "message: 2 of 2 copies are up"
        )
        await session.admin.patch(Site, "blog", {"spec": {"copies": 3}}, namespace="default")
        await person.sees("spec.copies 2 → 3", "copies: 3", "3 of 3 copies are up")
        await session.admin.delete(Site, "blog", namespace="default")
        await person.sees("it is gone: this is how it was")
        await person.press("escape")
        await person.sees("There is no Site yet")


async def test_in_a_narrow_terminal_history_and_yaml_take_turns(session: LiveSession) -> None:
    async with at_view(session, (80, 24)) as person:
        await blog(session, person)
        await person.goes_to("Site/blog")
        await person.press("enter")
        await person.sees("because")
        assert "apiVersion" not in person.screen
        await person.press("tab")
        await person.sees("apiVersion: demo.windvane.dev/v1")
        assert "because" not in person.screen


async def test_a_secret_is_not_shown(session: LiveSession) -> None:
    assert session.described is not None
    session.described = Described(
        name="sites",
        primaries=session.described.primaries,
        owned=[*session.described.owned, kind_of(core.Secret)],
        watched=[],
    )
    async with at_view(session) as person:
        await blog(session, person)
        owner = owner_reference(await session.admin.get(Site, "blog", namespace="default"))
        annotation = {"kubectl.kubernetes.io/last-applied-configuration": '{"stringData": {"word": "hunter2"}}'}
        meta = ObjectMeta(name="login", owner_references=[owner], annotations=annotation)
        await session.admin.create(core.Secret(metadata=meta, string_data={"word": "hunter2"}), namespace="default")
        await person.goes_to("Secret/login")
        await person.press("enter")
        await person.sees("word: (hidden)")
        assert "hunter2" not in person.screen
        assert "aHVudGVyMg" not in person.screen  # what it is in base64


async def test_an_object_is_deleted_if_that_is_meant(session: LiveSession) -> None:
    async with at_view(session) as person:
        await blog(session, person)
        await person.goes_to("Site/blog")
        await person.press("d")
        await person.sees("Delete Site/blog?", "What belongs to it goes, too: 4 objects.")
        await person.press("n")
        await person.sees_no("Delete Site/blog?")
        assert (await session.admin.get(Site, "blog", namespace="default")).metadata.deletion_timestamp is None
        await person.press("d", "y")
        await person.sees("There is no Site yet")
        assert not await session.exists(Site, "blog")


async def test_a_pod_that_is_killed_is_made_anew(session: LiveSession) -> None:
    async with at_view(session) as person:
        await blog(session, person)
        await person.goes_to("Deployment/blog")
        await person.press("k")
        await person.sees("Deployment/blog is no pod: select one.")
        await person.goes_to("Pod/blog")
        line = person.view.selected_line
        assert line is not None
        name = line.entry.name
        await person.press("k")
        await person.until(
            lambda: f"─ Pod/{name}" not in person.screen and person.screen.count("✓ Running 1/1") == 2,
            "another pod in its place",
        )
        assert not await session.exists(core.Pod, name)


async def test_a_child_that_is_deleted_comes_back_and_the_pass_says_why(session: LiveSession) -> None:
    async with at_view(session) as person:
        await blog(session, person)
        before = (await session.admin.get(apps.Deployment, "blog", namespace="default")).metadata.uid
        await person.goes_to("Deployment/blog")
        await person.press("d", "y")
        await person.sees("Deployment blog went")

        async def is_another() -> bool:
            found = await session.admin.list(apps.Deployment, namespace="default")
            return any(each.metadata.uid != before for each in found)

        await session.until(is_another)
        await person.sees("Deployment/blog", READY)


async def test_the_operator_is_paused_cut_off_restarted_and_killed(session: LiveSession) -> None:
    async with at_view(session) as person:
        await blog(session, person)
        await person.press("p")
        await person.sees("sites  ‖ paused")
        await session.admin.patch(Site, "blog", {"spec": {"copies": 3}}, namespace="default")
        await person.sees("Ready=True was said of an earlier spec")
        await person.press("p")
        await person.sees("sites  ● running", "3 of 3 copies are up")
        await person.press("w", "r")
        await person.sees("The operator is restarted")
        await person.press("K")
        await person.sees("The operator is killed", "Site blog was there")
        assert session.asked == ["pause", "resume", "drop watches", "restart", "kill"]


async def test_what_cannot_be_done_is_said(session: LiveSession, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fails() -> None:
        raise ProcessLookupError("there is no such process")

    monkeypatch.setattr(session, "kill", fails)
    async with at_view(session) as person:
        await person.press("K")
        await person.sees("there is no such process")


@pytest.mark.parametrize("size", [(140, 40), (80, 24)])
async def test_a_module_that_is_broken_is_shown_with_its_line(
    session: LiveSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    async with at_view(session, size) as person:
        await blog(session, person)
        (tmp_path / "broken_sites.py").write_text("a = 1\nb = a +\n")
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.chdir(tmp_path)
        try:
            __import__("broken_sites")
        except SyntaxError:
            session.problem = traceback.format_exc()
        session.state = State.BROKEN
        await person.sees("✗ broken", "✗ broken_sites.py:2  SyntaxError: invalid syntax", "b = a +")
        await person.sees("What was loaded before goes on", READY)
        await session.end()  # it was just being started, say, and has read the file as well
        await person.sees("No operator runs. Save a file to try again")
        await person.press("e")
        await person.sees("Traceback (most recent call last)")
        await person.press("escape")
        session.state, session.problem = State.RUNNING, ""
        await person.sees_no("SyntaxError")
        sys.modules.pop("broken_sites", None)


async def test_a_lost_api_server_is_shown_and_what_happened_meanwhile_is_seen_when_it_is_back(
    session: LiveSession,
) -> None:
    async with at_view(session) as person:
        await blog(session, person)
        session.weather.fall()
        await person.sees("✗ The API server can't be reached")
        assert READY in person.screen, "what was seen last stays"
        await session.admin.patch(Site, "blog", {"spec": {"copies": 1}}, namespace="default")
        session.weather.clear()
        await person.sees_no("can't be reached")
        await person.sees("✓ Ready: 1 of 1 copies are up")


async def test_code_that_was_never_loaded_does_not_go_on(session: LiveSession) -> None:
    await session.end()
    session.described, session.state, session.problem = None, State.BROKEN, "SyntaxError: invalid syntax"
    async with at_view(session) as person:
        await person.sees("SyntaxError", "No operator runs. Save a file to try again")


async def test_a_problem_that_was_noted_is_seen_from_each_tab_until_it_was_read(session: LiveSession) -> None:
    async with at_view(session) as person:
        session.note("site.yaml:1: it is refused", problem=True)
        await person.sees("4 notes ✗ site.yaml:1: it is refused")
        await person.press("4")
        await person.sees_no("4 notes ✗")
        await person.press("1")
        await person.sees("There are no Events.")
        assert "is refused" not in "".join(person.lines)


async def test_events_logs_and_notes_have_tabs(session: LiveSession) -> None:
    session.note("CRD sites.demo.windvane.dev is installed")
    session.note("sites.py could not be loaded", "Traceback:\n  in line 3", problem=True)
    async with at_view(session) as person:
        await blog(session, person)
        await person.sees("ScalingReplicaSet", "Scaled up replica set")
        await person.press("2")
        await person.sees("INFO windvane.runtime.controller: Site default/blog: done")
        await person.press("3")
        await person.sees("windvane simulates it")
        await person.press("4")
        await person.sees("CRD sites.demo.windvane.dev is installed", "⏎ for more")
        await person.press("enter")
        await person.sees("in line 3")


async def test_a_long_line_is_opened_in_full(session: LiveSession) -> None:
    session.note(f"a line {'that goes on ' * 20}to-its-end", problem=True)
    async with at_view(session, (80, 24)) as person:
        await person.press("4")
        await person.sees("a line that goes on")
        await person.press("enter")
        await person.sees("to-its-end")
        await person.press("escape", "question_mark")
        await person.sees("the pod's log, notes", "quit; Ctrl-C as well")


async def test_the_log_of_a_pod_goes_on_after_a_restart(tmp_path: Path) -> None:
    says = "echo begun with $0; while [ ! -e /tmp/go ]; do sleep 0.05; done; rm /tmp/go; echo goes down; exit 3"
    async with LiveSession(tmp_path, mode="process") as session, at_view(session) as person:
        session.described = Described(name="pods", primaries=[kind_of(core.Pod)], owned=[], watched=[])
        containers = [
            core.Container(name=name, image="python:3", command=["/bin/sh", "-c", says, name])
            for name in ("one", "two")
        ]
        pod = core.Pod(metadata=ObjectMeta(name="web"), spec=core.PodSpec(containers=containers))
        await session.admin.create(pod, namespace="default")
        await person.sees("✓ Running 2/2")
        await person.press("3")
        await person.sees("one│ begun with one", "two│ begun with two")
        await session.admin.pod("web", namespace="default").run(["touch", "/tmp/go"], container="one")
        await person.sees("one│ goes down", "✓ Running 2/2  1 restart")
        await person.until(lambda: person.screen.count("one│ begun with one") == 2, "what it says after its restart")
        assert person.screen.count("two│ begun with two") == 1
        await person.press("k")
        await person.sees("(the pod is gone)")


@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_all_panes_and_the_keys_fit(session: LiveSession, size: tuple[int, int]) -> None:
    async with at_view(session, size) as person:
        await blog(session, person)
        await person.sees("OBJECTS", "age conditions", "PASSES", "because", "result", "next", "EVENTS", "message")
        await person.sees("1 Events  2 operator's log  3 pod log  4 notes", "q quit", "? keys")
        await person.press("question_mark")
        await person.sees("pause the operator (SIGSTOP); again, and it goes on")
        await person.press("escape", "tab", "z")
        await person.sees_no("EVENTS")
        assert len([line for line in person.lines if "Site/blog" in line]) >= 3
        await person.press("z")
        await person.sees("EVENTS")


async def test_what_is_folded_says_how_much_it_hides(session: LiveSession) -> None:
    async with at_view(session) as person:
        await blog(session, person)
        await person.goes_to("ReplicaSet/blog")
        await person.press("left")
        await person.sees("+2")
        assert "─ Pod/blog" not in person.screen
        await person.press("left", "left", "left", "left")
        await person.sees("Site/blog +1")
        await person.press("right")
        await person.sees("ReplicaSet/blog")


async def test_an_operator_that_declares_other_kinds_has_those_shown(session: LiveSession) -> None:
    described, session.described = session.described, None
    assert described is not None
    async with at_view(session) as person:
        await person.sees("No operator is loaded yet.", "no operator yet")
        session.described = described
        await blog(session, person)
        session.described = Described(name="deployments", primaries=[kind_of(apps.Deployment)], owned=[], watched=[])
        await person.sees("deployments  ● running")
        await person.until(lambda: any(line.startswith("Deployment/blog") for line in person.lines), "a new root")
