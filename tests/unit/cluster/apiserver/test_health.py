from windvane.cluster.apiserver import health
from windvane.cluster.apiserver.answer import Answer

WELL: dict[str, health.Check] = {"ping": lambda: None, "store": lambda: None}
ILL: dict[str, health.Check] = {"ping": lambda: None, "store": lambda: "the disk is full"}


def ask(path: str, *query: tuple[str, str], checks: dict[str, health.Check] = WELL) -> tuple[int, str]:
    answer = health.answer(path, query, checks)
    assert isinstance(answer, Answer)
    assert answer.content_type == "text/plain; charset=utf-8"
    return answer.code, answer.body.decode()


def test_a_healthy_server_says_ok() -> None:
    assert [ask(path) for path in ("/healthz", "/livez", "/readyz")] == [(200, "ok")] * 3


def test_verbose_lists_the_checks() -> None:
    assert ask("/readyz", ("verbose", "")) == (200, "[+]ping ok\n[+]store ok\nreadyz check passed\n")


def test_a_failed_check_is_listed_unasked_and_without_its_reason() -> None:
    report = "[+]ping ok\n[-]store failed: reason withheld\nlivez check failed\n"
    assert ask("/livez", checks=ILL) == (500, report)


def test_an_excluded_check_does_not_count() -> None:
    report = "[+]ping ok\n[+]store excluded: ok\nlivez check passed\n"
    assert ask("/livez", ("exclude", "store"), ("verbose", ""), checks=ILL) == (200, report)


def test_what_can_not_be_excluded_is_warned_of() -> None:
    warning = 'warn: some health checks cannot be excluded: no matches for "bad","nope"\n'
    code, report = ask("/livez", ("exclude", "nope"), ("exclude", "bad"), ("verbose", ""))
    assert code == 200
    assert warning in report


def test_one_check_can_be_asked_alone() -> None:
    assert ask("/livez/ping", checks=ILL) == (200, "ok")


def test_a_check_that_is_asked_alone_gives_its_reason() -> None:
    assert ask("/livez/store", checks=ILL) == (500, "internal server error: the disk is full\n")


def test_an_unknown_check_is_not_found() -> None:
    assert ask("/livez/nope") == (404, "404 page not found\n")
    assert ask("/livez/") == (404, "404 page not found\n")


def test_other_paths_are_not_answered() -> None:
    assert health.answer("/api", (), WELL) is None
    assert health.answer("/livezz", (), WELL) is None
