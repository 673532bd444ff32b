"""Where the passes of an operator are kept if nothing is said."""

from pathlib import Path

from windvane.cli.history import file_for, files_of
from windvane.client.config import ClientConfig


def config(kubeconfig: Path | None) -> ClientConfig:
    return ClientConfig(server="https://127.0.0.1:1", kubeconfig=kubeconfig)


def test_they_are_beside_the_kubeconfig_of_an_embedded_cluster(tmp_path: Path) -> None:
    history = tmp_path / "history"
    history.mkdir()
    for name in ("cluster.jsonl", "cluster.jsonl.1", "another.jsonl"):
        (history / name).touch()
    embedded = config(tmp_path / "kubeconfig")
    assert file_for("website", embedded) == history / "website.jsonl"
    assert [each.name for each in files_of(embedded)] == ["cluster.jsonl", "another.jsonl"]


def test_on_any_other_cluster_they_are_not_kept(tmp_path: Path) -> None:
    (tmp_path / "history").mkdir()
    for other in (config(tmp_path / "kubeconfig"), config(None)):
        assert file_for("website", other) is None
        assert list(files_of(other)) == []
