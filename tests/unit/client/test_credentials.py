"""Credentials: what each kind sends, and when it looks for something newer."""

import asyncio
import base64
import json
import os
import select
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from io import TextIOWrapper
from pathlib import Path
from typing import Any

import pytest

from windvane import ambient
from windvane.client.credentials import Anonymous, BasicAuth, BearerToken, Credentials, CredentialsError, TokenFile
from windvane.client.exec_plugin import EXPIRY_MARGIN, ExecCommand, ExecEnv, ExecPlugin

V1 = "client.authentication.k8s.io/v1"


class Clock(ambient.Reality):
    """A world where time passes only when the test says so."""

    def __init__(self) -> None:
        self.passed = 0.0

    def now(self) -> datetime:
        return datetime(2030, 1, 1, tzinfo=UTC) + timedelta(seconds=self.passed)

    def monotonic(self) -> float:
        return self.passed


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(autouse=True)
def _virtual_time(clock: Clock) -> Iterator[None]:
    with ambient.use(clock):
        yield


async def token(credentials: Credentials) -> str:
    return (await credentials.headers())["Authorization"].removeprefix("Bearer ")


async def refusal(credentials: Credentials) -> str:
    with pytest.raises(CredentialsError) as caught:
        await credentials.headers()
    return str(caught.value)


# Those that never change.


@pytest.mark.parametrize(
    ("credentials", "headers"),
    [
        (Anonymous(), {}),
        (BearerToken(" t0p\n"), {"Authorization": "Bearer t0p"}),
        (BasicAuth("ada", "pässword"), {"Authorization": "Basic YWRhOnDDpHNzd29yZA=="}),
    ],
)
async def test_fixed_credentials_send_one_thing_and_a_401_is_final(
    credentials: Credentials, headers: dict[str, str]
) -> None:
    assert await credentials.headers() == headers
    assert not await credentials.invalidate()
    assert credentials.client_certificate() is None


@pytest.mark.parametrize("text", ["", "  \n", "a b", "a\r\nX-Evil: yes", "tökén"])
def test_what_cannot_be_a_token_is_refused_but_not_shown(text: str) -> None:
    with pytest.raises(CredentialsError) as caught:
        BearerToken(text)
    assert "Evil" not in str(caught.value)


# A token file.


async def test_a_token_file_is_read_again_after_ten_seconds(tmp_path: Path, clock: Clock) -> None:
    file = tmp_path / "token"
    file.write_text("one\n")
    credentials = TokenFile(file)
    assert await token(credentials) == "one"
    file.write_text("two\n")
    clock.passed = 9.9
    assert await token(credentials) == "one"
    clock.passed = 10
    assert await token(credentials) == "two"


async def test_a_token_file_is_read_at_once_after_a_401(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("one")
    credentials = TokenFile(file)
    await credentials.headers()
    file.write_text("two")
    assert await credentials.invalidate()
    assert await token(credentials) == "two"


async def test_a_token_file_that_vanishes_for_a_while_does_no_harm(
    tmp_path: Path, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "token"
    file.write_text("one")
    credentials = TokenFile(file)
    await credentials.headers()
    file.unlink()
    clock.passed = 10
    assert await token(credentials) == "one"
    assert f"Cannot read the token file {file}" in caplog.text


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "Cannot read the token file {}: No such file or directory"),
        (b"\xff", "Cannot read the token file {}: it is not text"),
        (b"\n", "The token file {} is empty"),
        (b"a\nb", "The token file {} holds more than one word"),
    ],
)
async def test_a_token_file_without_a_token_is_named(tmp_path: Path, content: bytes | None, problem: str) -> None:
    file = tmp_path / "Token"
    if content is not None:
        file.write_bytes(content)
    assert problem.format(file) in await refusal(TokenFile(file))


# Exec plugins.


class Login:
    """A real program that prints what the test wants printed, and counts its runs."""

    def __init__(self, directory: Path) -> None:
        self.runs_file = directory / "runs"
        self.answer_file = directory / "answer"
        self.program = directory / "login"
        self.program.write_text(
            f"#!{sys.executable}\n"
            f"with open({str(self.runs_file)!r}, 'a') as runs: runs.write('x')\n"
            f"print(open({str(self.answer_file)!r}).read())\n"
        )
        self.program.chmod(0o755)

    @property
    def runs(self) -> int:
        return len(self.runs_file.read_text()) if self.runs_file.exists() else 0

    def answers(self, **status: str | None) -> None:
        self.prints(json.dumps({"kind": "ExecCredential", "apiVersion": V1, "status": status}))

    def prints(self, text: str) -> None:
        self.answer_file.write_text(text)

    def plugin(self) -> ExecPlugin:
        return plugin(str(self.program))


def plugin(command: str, *args: str, **fields: Any) -> ExecPlugin:
    timeout = fields.pop("timeout", 60.0)
    fields = {"api_version": V1, "interactive_mode": "Never", **fields}
    return ExecPlugin(
        ExecCommand(command=command, args=list(args), **fields), source='user "ada" in /config', timeout=timeout
    )


def script(code: str, **fields: Any) -> ExecPlugin:
    """A plugin that is a few lines of Python."""
    return plugin(sys.executable, "-c", code, **fields)


def telling(expression: str, *args: str, **fields: Any) -> ExecPlugin:
    """A plugin whose token says what `expression` is inside it."""
    code = (
        "import base64, json, os, sys\n"
        "info = json.loads(os.environ['KUBERNETES_EXEC_INFO'])\n"
        f"token = base64.b64encode(json.dumps({expression}).encode()).decode()\n"
        "print(json.dumps({**info, 'status': {'token': token}}))\n"
    )
    return plugin(sys.executable, "-c", code, *args, **fields)


async def told(credentials: Credentials) -> object:
    return json.loads(base64.b64decode(await token(credentials)))


@pytest.fixture
def login(tmp_path: Path) -> Login:
    return Login(tmp_path)


def in_seconds(seconds: float) -> str:
    return (datetime(2030, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")


async def test_a_plugin_runs_once_for_many_requests(login: Login) -> None:
    login.answers(token="t0p")
    credentials = login.plugin()
    assert await asyncio.gather(*(token(credentials) for _ in range(10))) == ["t0p"] * 10
    assert await token(credentials) == "t0p"
    assert login.runs == 1


async def test_a_plugin_runs_again_shortly_before_its_token_expires(login: Login, clock: Clock) -> None:
    login.answers(token="one", expirationTimestamp=in_seconds(3600))
    credentials = login.plugin()
    await credentials.headers()
    login.answers(token="two", expirationTimestamp=in_seconds(7200))
    clock.passed = 3600 - EXPIRY_MARGIN.total_seconds() - 1
    assert await token(credentials) == "one"
    clock.passed += 1
    assert await token(credentials) == "two"
    assert login.runs == 2


async def test_a_token_that_is_almost_expired_is_still_used_once(login: Login) -> None:
    login.answers(token="short", expirationTimestamp=in_seconds(1))
    assert await token(login.plugin()) == "short"


async def test_a_plugin_runs_again_after_a_401(login: Login) -> None:
    login.answers(token="one")
    credentials = login.plugin()
    await credentials.headers()
    login.answers(token="two")
    assert await credentials.invalidate()
    assert await token(credentials) == "two"
    assert await token(credentials) == "two"
    assert login.runs == 2


async def test_many_401s_at_once_are_one_run(login: Login) -> None:
    login.answers(token="one")
    credentials = login.plugin()
    await credentials.headers()
    login.answers(token="two")

    async def refused_request() -> str:
        await credentials.invalidate()
        return await token(credentials)

    assert await asyncio.gather(*(refused_request() for _ in range(10))) == ["two"] * 10
    assert login.runs == 2


async def test_a_new_certificate_is_a_new_generation(login: Login) -> None:
    credentials = login.plugin()
    assert (credentials.generation, credentials.client_certificate()) == (0, None)
    login.answers(clientCertificateData="-----BEGIN 1", clientKeyData="-----BEGIN k")
    assert await credentials.headers() == {}
    assert (credentials.generation, credentials.client_certificate()) == (1, (b"-----BEGIN 1", b"-----BEGIN k"))

    login.answers(token="t", clientCertificateData="-----BEGIN 1", clientKeyData="-----BEGIN k")
    await credentials.invalidate()
    assert await token(credentials) == "t"
    assert credentials.generation == 1  # only the token is new: connections may stay

    login.answers(clientCertificateData="-----BEGIN 2", clientKeyData="-----BEGIN k")
    await credentials.invalidate()
    await credentials.headers()
    assert (credentials.generation, credentials.client_certificate()) == (2, (b"-----BEGIN 2", b"-----BEGIN k"))


async def test_a_plugin_gets_its_arguments_and_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUTER", "outer")
    monkeypatch.setenv("BOTH", "outer")
    seen = "[sys.argv[1:], os.environ['OUTER'], os.environ['BOTH']]"
    credentials = telling(seen, "get token", env=[ExecEnv("BOTH", "inner")])
    assert await told(credentials) == [["get token"], "outer", "inner"]


async def test_a_plugin_is_told_which_answer_is_expected() -> None:
    info = {"kind": "ExecCredential", "apiVersion": V1, "spec": {"interactive": False}}
    assert await told(telling("info")) == info


@pytest.fixture
def _waiting_input() -> Iterator[None]:
    """Standard input with something in it."""
    before = os.dup(0)
    source, target = os.pipe()
    os.write(target, b"typed")
    os.close(target)
    os.dup2(source, 0)
    yield
    os.dup2(before, 0)
    os.close(before)
    os.close(source)


@pytest.mark.usefixtures("_waiting_input")
async def test_an_unattended_plugin_leaves_standard_input_alone() -> None:
    assert await told(telling("sys.stdin.read()")) == ""


async def test_a_plugin_that_needs_a_terminal_is_not_run_without_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "isatty", lambda _: False)
    message = await refusal(plugin("/absent", interactive_mode="Always"))
    assert "standard input is not a terminal" in message


@pytest.mark.parametrize(("mode", "interactive"), [("Always", True), ("IfAvailable", True), ("Never", False)])
async def test_at_a_terminal_a_plugin_knows_whether_it_may_ask(
    monkeypatch: pytest.MonkeyPatch, mode: str, interactive: bool
) -> None:
    monkeypatch.setattr(os, "isatty", lambda _: True)
    assert await told(telling("info['spec']['interactive']", interactive_mode=mode)) == interactive


@pytest.mark.parametrize("terminal", [True, False])
async def test_only_a_plugin_that_may_ask_stays_with_the_terminal(
    monkeypatch: pytest.MonkeyPatch, terminal: bool
) -> None:
    monkeypatch.setattr(os, "isatty", lambda _: terminal)
    session = await told(telling("os.getsid(0)", interactive_mode="IfAvailable"))
    assert (session == os.getsid(0)) == terminal


async def test_a_missing_plugin_shows_how_to_install_it() -> None:
    message = await refusal(plugin("no-such-login", install_hint="Run \x1b[1mbrew install login\x1b[0m."))
    assert message == (
        'The exec plugin "no-such-login" of user "ada" in /config is not on the PATH.\nRun [1mbrew install login[0m.'
    )


async def test_a_plugin_that_is_not_executable_is_named(tmp_path: Path) -> None:
    file = tmp_path / "login"
    file.write_text("")
    assert f'"{file}" of user "ada" in /config does not exist or is not executable' in await refusal(plugin(str(file)))


async def test_a_plugin_with_a_missing_interpreter_is_named(tmp_path: Path) -> None:
    file = tmp_path / "login"
    file.write_text("#!/absent/interpreter\n")
    file.chmod(0o755)
    assert "could not be started: No such file or directory" in await refusal(plugin(str(file)))


async def test_a_failing_plugin_shows_the_end_of_what_it_said() -> None:
    code = "import sys; [print('line', n, file=sys.stderr) for n in range(100)]; sys.exit('\\033[31mplease log in')"
    message = await refusal(script(code))
    assert "failed with exit code 1:\n" in message
    assert message.endswith("line 98\nline 99\n[31mplease log in.")
    assert "line 50\n" not in message


async def test_a_silent_failure_says_so() -> None:
    assert "failed with exit code 3 and said nothing" in await refusal(script("raise SystemExit(3)"))


@pytest.mark.parametrize(
    ("printed", "problem"),
    [
        ("", "must print an ExecCredential as JSON"),
        ("Welcome s3cret! {}", "must print an ExecCredential as JSON"),
        ('{"kind": "Token"}', 'must print kind "ExecCredential", not "Token"'),
        (
            '{"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1beta1"}',
            f'printed apiVersion "client.authentication.k8s.io/v1beta1", but the kubeconfig says "{V1}"',
        ),
        (f'{{"kind": "ExecCredential", "apiVersion": "{V1}"}}', "neither a status.token nor a client certificate"),
    ],
)
async def test_an_answer_that_is_no_credential_is_refused(login: Login, printed: str, problem: str) -> None:
    login.prints(printed)
    message = await refusal(login.plugin())
    assert problem in message
    assert "s3cret" not in message


@pytest.mark.parametrize(
    ("status", "problem"),
    [
        ({"token": ""}, "neither a status.token nor a client certificate"),
        ({"clientCertificateData": "-----BEGIN "}, "printed only one of"),
        ({"clientKeyData": "-----BEGIN "}, "printed only one of"),
        ({"clientCertificateData": "-----BEGIN ", "clientKeyData": "key"}, "is not PEM"),
        ({"token": "a b"}, 'The token of the exec plugin "'),
        ({"token": "t", "expirationTimestamp": "tomorrow"}, "expirationTimestamp"),
    ],
)
async def test_an_incomplete_credential_is_refused(login: Login, status: dict[str, str], problem: str) -> None:
    login.answers(**status)
    assert problem in await refusal(login.plugin())


async def test_an_answer_may_say_null(login: Login) -> None:
    login.answers(token="t0p", clientCertificateData=None, clientKeyData=None, expirationTimestamp=None)
    assert await token(login.plugin()) == "t0p"


async def test_a_failed_run_is_not_remembered(login: Login) -> None:
    login.prints("")
    credentials = login.plugin()
    await refusal(credentials)
    login.answers(token="t0p")
    assert await token(credentials) == "t0p"


async def test_a_plugin_that_hangs_is_stopped() -> None:
    message = await refusal(script("import signal; signal.pause()", timeout=0.1))
    assert "did not finish within 0.1 seconds" in message


async def holding(pipe: Path, request: asyncio.Task[Any]) -> TextIOWrapper:
    """Our end of a pipe whose other end a plugin holds, once it runs."""
    reader = await asyncio.to_thread(pipe.open)
    assert await asyncio.to_thread(reader.readline) == "here\n"
    assert not request.done()
    return reader


async def is_gone(reader: TextIOWrapper) -> bool:
    """Whether every process is gone that held the other end of the pipe: then the pipe ends."""
    readable, _, _ = await asyncio.to_thread(select.select, [reader], [], [], 60)
    return bool(readable) and reader.read() == ""


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


def hanging(pipe: Path) -> str:
    here = f"pipe = open({str(pipe)!r}, 'w'); print('here', file=pipe, flush=True)"
    return f"import signal; signal.alarm(120); {here}; signal.pause()"  # it is gone in the end, whatever is wrong


@pytest.mark.parametrize("terminal", [True, False])
async def test_a_cancelled_request_stops_the_plugin(
    pipe: Path, monkeypatch: pytest.MonkeyPatch, terminal: bool
) -> None:
    monkeypatch.setattr(os, "isatty", lambda _: terminal)
    request = asyncio.create_task(script(hanging(pipe), interactive_mode="IfAvailable").headers())
    with await holding(pipe, request) as reader:
        request.cancel()
        with pytest.raises(asyncio.CancelledError):
            await request
        assert await is_gone(reader)


def wrapped(pipe: Path) -> ExecPlugin:
    """A plugin that is a shell script around the program that hangs."""
    return plugin("sh", "-c", '"$@"; true', "sh", sys.executable, "-c", hanging(pipe))


async def test_a_cancelled_request_stops_what_the_plugin_started(pipe: Path) -> None:
    request = asyncio.create_task(wrapped(pipe).headers())
    with await holding(pipe, request) as reader:
        request.cancel()
        with pytest.raises(asyncio.CancelledError):
            await request
        assert await is_gone(reader)


async def test_a_request_that_is_cancelled_while_the_plugin_starts_stops_what_that_started(
    pipe: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forked = asyncio.Event()

    class Popen(subprocess.Popen[bytes]):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            forked.set()

    monkeypatch.setattr(subprocess, "Popen", Popen)
    request = asyncio.create_task(wrapped(pipe).headers())
    await forked.wait()
    with opened(pipe) as reader:  # meanwhile the loop stands still: it has not yet heard that the plugin runs
        request.cancel()
        await asyncio.wait([request], timeout=60)
        assert request.cancelled()
        assert await is_gone(reader)


def opened(pipe: Path) -> TextIOWrapper:
    """Our end of the pipe, once a plugin holds the other one."""
    reader = pipe.open()
    assert reader.readline() == "here\n"
    return reader
