"""Transcripts are read as they are meant: values in few words, and words for what differs from run to run."""

from conformance.flow import flow, lines, parse
from conformance.transcript import read
from conformance.volatile import Words
from windvane import ambient

OLD, NEW = "0e6f2c1e-8d0a-4d3b-9a55-0c7f1f6b2a10", "7b1de5c2-55aa-4c39-8a3d-9d9e1f0a4c11"


def thing(uid: str, version: str, **rest: object) -> dict[str, object]:
    return {"metadata": {"uid": uid, "resourceVersion": version, **rest}}


def test_a_word_in_a_body_is_what_it_is_in_json() -> None:
    assert parse("{a: yes, b: 2020-01-01, c: 1:30, d: 1.0, e: null, f: true}") == {
        "a": "yes",
        "b": "2020-01-01",
        "c": "1:30",
        "d": 1.0,
        "e": None,
        "f": True,
    }


def test_an_object_that_is_known_is_changed_at_some_paths() -> None:
    made = parse("!pod {spec.containers.0.image: x, metadata.name: ABSENT}")
    assert made == {"metadata": {}, "spec": {"containers": [{"name": "main", "image": "x"}]}}
    assert parse("!answer {data.k: w}", {"data": {"k": "v", "l": "v"}}) == {"data": {"k": "w", "l": "v"}}
    assert parse("!long 3") == "xxx"


def test_what_is_written_is_read_as_the_same() -> None:
    value = {
        "a": ["", "1", "- x", "a: b", "# c", "*", "x\ny", "{", "~", "ABSENT", "null"],
        "b": {"c d": 1.5, "e/f": None},
    }
    assert parse(flow(value)) == value
    assert parse("\n".join(lines(value, 10))) == value


def test_a_uid_and_a_version_show_whether_they_are_still_the_same() -> None:
    words = Words("test-x", "")
    assert words.value(thing(OLD, "7")) == thing("UID", "VERSION")
    assert words.value(thing(OLD, "9")) == thing("UID", "VERSION-2")
    assert words.value(thing(NEW, "9")) == thing("UID-2", "VERSION-2")
    assert words.text(f"{OLD} in test-x") == "UID in NS"


def test_a_time_of_now_is_a_word_and_one_that_was_sent_is_not() -> None:
    words = Words("test-x", "")
    assert words.text(ambient.now().strftime("at %Y-%m-%dT%H:%M:%SZ")) == "at TIME"
    assert words.text("at 2020-01-01T00:00:00Z") == "at 2020-01-01T00:00:00Z"


def test_a_name_that_the_server_made_up_is_a_word() -> None:
    assert Words("test-x", "POST pods {metadata: {generateName: web-}}").text("web-b4f7k, web-abcde") == (
        "web-RANDOM, web-abcde"
    )


def test_a_step_keeps_its_lines_and_its_answer() -> None:
    text = "About.\n\n## one\ngiven POST a\n    {b: c}\n$ kubectl get\n  d\n$ GET e\n200\n\n## two\n$ GET f\n404\n"
    transcript = read(text, "area")
    (one, two) = transcript.scenarios
    assert [(step.line, step.answer) for step in one.steps] == [
        ("POST a\n    {b: c}", None),
        ("kubectl get", "  d"),
        ("GET e", "200"),
    ]
    assert two.says == "two"
    assert transcript.text == text
