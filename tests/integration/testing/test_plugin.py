"""The pytest plugin, in projects of its own."""

from pathlib import Path

import pytest

from unit.test_docs import python_blocks

ROOT = Path(__file__).parents[3]
pytest_plugins = ["pytester"]

OPERATOR = """
import asyncio, time
from windvane import Context, Operator, Resource, ObjectMeta, Spec, Status

class NoteSpec(Spec):
    text: str = ""

class Note(Resource[NoteSpec, Status], group="demo.windvane.dev", version="v1"):
    pass

operator = Operator("notes")

@operator.controller(Note)
async def reconcile(note: Note, ctx: Context) -> None:
    ctx.wait("there is no ink")
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    """A project whose tests are run by pytest-asyncio, and nothing else."""
    pytester.makeini("[pytest]\nasyncio_mode = auto\nasyncio_default_fixture_loop_scope = function\n")
    pytester.makepyfile(notes=OPERATOR)
    return pytester


def test_a_test_with_a_cluster_has_virtual_time_and_others_have_their_own(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import asyncio, time
        from windvane.sim.time import VirtualLoop

        async def test_with(cluster):
            began = time.perf_counter()
            await asyncio.sleep(3600)
            assert time.perf_counter() - began < 60
            assert isinstance(asyncio.get_running_loop(), VirtualLoop)

        async def test_without():
            assert not isinstance(asyncio.get_running_loop(), VirtualLoop)
            assert time.time() < 1893456000  # which virtual time begins at

        def test_that_is_not_async():
            assert time.time() < 1893456000
        """
    )
    project.runpytest_inprocess("-p", "no:cacheprovider").assert_outcomes(passed=3)


def test_another_loop_that_the_project_has_chosen_stays_that_of_its_other_tests(project: pytest.Pytester) -> None:
    project.makeconftest(
        """
        import asyncio

        class Loop(asyncio.SelectorEventLoop): ...

        def pytest_asyncio_loop_factories(config, item):
            return {"theirs": Loop}
        """
    )
    project.makepyfile(
        """
        import asyncio

        async def test_without():
            assert type(asyncio.get_running_loop()).__name__ == "Loop"

        async def test_with(cluster):
            assert type(asyncio.get_running_loop()).__name__ != "Loop"
        """
    )
    project.runpytest_inprocess("-p", "no:cacheprovider").assert_outcomes(passed=2)


def test_fixtures_of_the_project_can_use_the_cluster(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import pytest
        from notes import Note, operator
        from windvane import ObjectMeta

        @pytest.fixture
        async def note(cluster):
            await cluster.run(operator)
            return await cluster.apply(Note(metadata=ObjectMeta(name="a")))

        async def test_it(cluster, note):
            await cluster.settled()
            assert (await cluster.get(Note, "a")).status.conditions[0].message == "there is no ink"
        """
    )
    project.runpytest_inprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)


def test_a_test_that_fails_shows_what_the_operators_did(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        from notes import Note, operator
        from windvane import ObjectMeta

        async def test_it(cluster):
            await cluster.run(operator)
            await cluster.apply(Note(metadata=ObjectMeta(name="a")))
            await cluster.settled()
            assert (await cluster.get(Note, "a")).status.conditions[0].status == "True"
        """
    )
    result = project.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*- what the operators did -*", "*notes: Note default/a  because Note a came  → waiting: there is no ink*"]
    )


def test_an_operator_that_fails_unseen_fails_the_test(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import asyncio
        from windvane import Client
        from notes import Note, operator

        @operator.lifespan
        async def queue(client: Client):
            async with asyncio.timeout(60):
                yield
                await asyncio.sleep(0)

        async def test_it(cluster):
            await cluster.run(operator)
            await asyncio.sleep(120)
        """
    )
    result = project.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*LifespanFailed: the lifespan queue failed while the operator worked: *"])


def test_a_test_that_does_not_wait_is_told_to(project: pytest.Pytester) -> None:
    project.makepyfile("async def test_one_that_does(cluster): ...\ndef test_it(cluster): ...")
    result = project.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*must be an `async def`*"])


def test_the_tests_of_the_manual_pass(project: pytest.Pytester) -> None:
    project.makepyfile(
        website_operator=(ROOT / "examples" / "website_operator.py").read_text(),
        test_manual="".join(python_blocks(ROOT / "docs" / "testing.md")),
    )
    project.runpytest_inprocess("-p", "no:cacheprovider").assert_outcomes(passed=10)
