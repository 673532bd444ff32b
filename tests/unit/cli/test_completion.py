"""`windvane completion`: the script is asked by a real shell."""

import subprocess
import sys

import pytest

from windvane.cli import main


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("windvane cl", {"cluster"}),
        ("windvane cluster re", {"reset"}),
        ("windvane cluster start --mem", {"--memory"}),
        ("windvane completion z", {"zsh"}),
        ("windvane nonsense", set()),
    ],
)
def test_bash_completes_commands_flags_and_words(
    capsys: pytest.CaptureFixture[str], typed: str, offered: set[str]
) -> None:
    assert main(["completion", "bash"]) == 0
    script = capsys.readouterr().out
    words = typed.split()
    asks = f"\nCOMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}; _shtab_windvane; printf '%s\\n' ${{COMPREPLY[@]}}"
    said = subprocess.run(
        ["bash", "--norc", "-c", script + asks], capture_output=True, text=True, timeout=30, check=True
    )
    assert set(said.stdout.split()) == offered


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_have_scripts_of_their_own(capsys: pytest.CaptureFixture[str], shell: str) -> None:
    assert main(["completion", shell]) == 0
    assert "no-controllers" in capsys.readouterr().out


def test_without_shtab_it_says_what_to_install(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["completion", "bash"]) == 1
    assert capsys.readouterr().err == "windvane: completion needs shtab: pip install 'windvane[dev]'\n"
