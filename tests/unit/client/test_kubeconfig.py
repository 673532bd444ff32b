"""Kubeconfig files: read and merged as kubectl does, and every mistake named with its file and entry."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windvane.client.kubeconfig import MAX_BYTES, ConfigError, Kubeconfig, KubeconfigContext, NamedEntry, merge, read

PLAIN = """
apiVersion: v1
kind: Config
current-context: dev
contexts:
- name: dev
  context: {cluster: kind, user: ada, namespace: shop}
clusters:
- name: kind
  cluster: {server: "https://127.0.0.1:6443", tls-server-name: kind.local}
users:
- name: ada
  user: {token: t0p, tokenFile: token, as: root, as-groups: [system:masters], as-user-extra: {scope: [a, b]}}
"""


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def refusal(path: Path, text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        read(written(path, text))
    assert str(path) in str(caught.value)
    return str(caught.value)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config"


def test_a_context_comes_with_its_cluster_and_user(file: Path) -> None:
    context, cluster, user = read(written(file, PLAIN)).choose(None)
    assert context.value == KubeconfigContext(cluster="kind", user="ada", namespace="shop")
    assert (cluster.value.server, cluster.value.tls_server_name) == ("https://127.0.0.1:6443", "kind.local")
    assert user is not None
    assert (user.value.token, user.value.token_file, user.value.as_) == ("t0p", "token", "root")
    assert (user.value.as_groups, user.value.as_user_extra) == (["system:masters"], {"scope": ["a", "b"]})


def test_a_context_without_a_user_is_anonymous(file: Path) -> None:
    assert read(written(file, PLAIN.replace("user: ada, ", ""))).choose("dev")[2] is None


def test_null_counts_as_absent_because_kubectl_writes_it(file: Path) -> None:
    text = "{current-context: a, users: null, clusters: null, contexts: [{name: a, context: {namespace: null}}]}"
    kubeconfig = read(written(file, text))
    assert kubeconfig.users == {}
    assert kubeconfig.contexts["a"].value == KubeconfigContext()


def test_an_empty_file_has_no_entries(file: Path) -> None:
    assert read(written(file, "")).contexts == {}


def test_json_is_a_kubeconfig_too(file: Path) -> None:
    assert read(written(file, '{"kind": "Config", "current-context": "x"}')).current_context == "x"


def test_aliases_and_merge_keys_work_as_in_kubectl(file: Path) -> None:
    text = """
    clusters:
    - {name: a, cluster: &a {server: "https://a", proxy-url: "http://p"}}
    - {name: b, cluster: {<<: *a, server: "https://b"}}
    """
    cluster = read(written(file, text)).clusters["b"].value
    assert (cluster.server, cluster.proxy_url) == ("https://b", "http://p")


def test_a_date_is_a_name_like_any_other(file: Path) -> None:
    text = "contexts: [{name: 2024-01-31, context: {namespace: 2024-13-99}}]"
    assert read(written(file, text)).contexts["2024-01-31"].value.namespace == "2024-13-99"


def test_a_missing_file_is_left_to_the_caller(file: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read(file)


def test_a_directory_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"Cannot read the kubeconfig .*: Is a directory"):
        read(tmp_path)


def test_broken_yaml_is_refused_with_its_line_but_without_its_text(file: Path) -> None:
    message = refusal(file, "users:\n- name: x\n  user: {token: s3cret: ]\n")
    assert "line 3, column" in message
    assert "s3cret" not in message


def test_python_objects_are_refused(file: Path) -> None:
    assert "is not valid YAML" in refusal(file, "!!python/object/apply:os.getcwd []")


def test_bytes_that_are_not_text_are_refused(file: Path) -> None:
    file.write_bytes(b"users: \xff\xfe\x00")
    with pytest.raises(ConfigError, match="is not valid YAML"):
        read(file)


def test_aliases_that_explode_are_refused(file: Path) -> None:
    levels = "\n".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, 12))
    assert "too large" in refusal(file, f"l0: &l0 [lol]\n{levels}\n")


def test_merge_keys_that_explode_are_refused(file: Path) -> None:
    levels = "\n".join(f"l{n}: &l{n} {{<<: [*l{n - 1}, *l{n - 1}]}}" for n in range(1, 40))
    assert "too large" in refusal(file, f"l0: &l0 {{a: b}}\n{levels}\n")


def test_an_alias_inside_itself_is_refused(file: Path) -> None:
    assert "the alias *a" in refusal(file, "extensions: &a [*a]")


def test_absurd_nesting_is_refused(file: Path) -> None:
    assert "nested too deeply" in refusal(file, "[" * 100_000)


def test_a_huge_file_is_refused(file: Path) -> None:
    assert "more than 16 MiB" in refusal(file, "#" * (MAX_BYTES + 1))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("just words", "Expected `object`, got `str`"),
        ("kind: Pod", 'its kind is "Pod", not "Config"'),
        ("contexts: {dev: {}}", "contexts: Expected `array`, got `object`"),
        ("clusters: [{cluster: {}}]", "clusters[0] needs a name"),
        ("users: [{name: 7, user: {}}]", "users[0] needs a name"),
        ("users: [{name: a}, {name: a}]", 'two users with the name "a"'),
        (
            "contexts: [{name: a, context: {namespace: 123}}]",
            "namespace: Expected `str`, got `int`: put the value in quotes",
        ),
        ("users: [{name: a, user: {exec: {args: [x, 8080]}}}]", "exec.args[1]: Expected `str`, got `int`"),
        (
            "clusters: [{name: a, cluster: {insecure-skip-tls-verify: sure}}]",
            "insecure-skip-tls-verify: Expected `bool`",
        ),
    ],
)
def test_a_wrong_shape_is_named(file: Path, text: str, problem: str) -> None:
    assert problem in refusal(file, text)


def test_a_wrong_value_is_reported_with_its_entry(file: Path) -> None:
    assert f'user "ada" in {file}: token' in refusal(file, "users: [{name: ada, user: {token: 1}}]")


def test_an_unknown_context_lists_those_that_exist(file: Path) -> None:
    kubeconfig = read(written(file, PLAIN))
    with pytest.raises(ConfigError) as caught:
        kubeconfig.choose("prod")
    assert str(caught.value) == f'No context "prod" in {file}. The contexts that exist: "dev".'


def test_a_current_context_that_is_gone_is_called_so(file: Path) -> None:
    kubeconfig = read(written(file, "current-context: gone"))
    with pytest.raises(ConfigError, match=r'No context "gone" \(the current-context\) .* There are no contexts at all'):
        kubeconfig.choose(None)


def test_without_a_current_context_one_must_be_chosen(file: Path) -> None:
    kubeconfig = read(written(file, PLAIN.replace("current-context: dev", "")))
    with pytest.raises(ConfigError, match=r'current-context is not set.*context=.*"dev"'):
        kubeconfig.choose(None)


@pytest.mark.parametrize(
    ("was", "becomes", "problem"),
    [
        ("cluster: kind, ", "", r'context "dev" in .* names no cluster. The clusters that exist: "kind"'),
        ("cluster: kind", "cluster: k", r'context "dev" in .* names the cluster "k", .* "kind"'),
        ("user: ada", "user: bob", r'context "dev" in .* names the user "bob", .* "ada"'),
    ],
)
def test_a_dangling_name_lists_those_that_exist(file: Path, was: str, becomes: str, problem: str) -> None:
    kubeconfig = read(written(file, PLAIN.replace(was, becomes)))
    with pytest.raises(ConfigError, match=problem):
        kubeconfig.choose(None)


def test_files_that_an_entry_names_are_beside_the_kubeconfig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "home").mkdir()
    written(tmp_path / "home" / "ca.crt", "-----BEGIN CERTIFICATE-----\n")
    text = "clusters: [{name: a, cluster: {certificate-authority: ca.crt}}]"
    written(tmp_path / "home" / "config", text)
    monkeypatch.chdir(tmp_path)
    cluster = read(Path("home/config")).clusters["a"]
    monkeypatch.chdir("/")
    assert cluster.pem("certificate-authority", data="", path="ca.crt") == b"-----BEGIN CERTIFICATE-----\n"


def test_inline_data_may_be_folded_over_lines(file: Path) -> None:
    entry = NamedEntry("cluster", "a", None, file)
    assert entry.pem("ca", data="LS0tLS1C\n  RUdJTiBY\n", path="") == b"-----BEGIN X"


@pytest.mark.parametrize(
    ("data", "path", "problem"),
    [
        ("LS0t", "ca.crt", "has both ca and ca-data: remove one"),
        ("%%%", "", "ca-data is not base64"),
        ("bm8=", "", "ca-data holds no PEM"),
        ("", "absent.crt", "absent.crt: No such file or directory. Correct the path"),
    ],
)
def test_unusable_certificates_are_named(file: Path, data: str, path: str, problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        NamedEntry("cluster", "a", None, file).pem("ca", data=data, path=path)
    assert f'cluster "a" in {file}' in str(caught.value)
    assert problem in str(caught.value)


def kubeconfig_with(number: int, current_context: str, names: set[str]) -> Kubeconfig:
    file = Path(f"/{number}")
    contexts = {name: NamedEntry("context", name, KubeconfigContext(namespace=f"n{number}"), file) for name in names}
    return Kubeconfig((file,), current_context, contexts, {}, {})


@given(st.lists(st.tuples(st.sampled_from(["", "a", "b"]), st.sets(st.sampled_from("abcd"))), max_size=5))
def test_of_merged_files_the_first_wins_for_each_name(files: list[tuple[str, set[str]]]) -> None:
    merged = merge([kubeconfig_with(number, current, names) for number, (current, names) in enumerate(files)])
    assert merged.current_context == next((current for current, _ in files if current), "")
    for name in "abcd":
        holders = [number for number, (_, names) in enumerate(files) if name in names]
        found = merged.contexts.get(name)
        assert (found.value.namespace if found else None) == (f"n{holders[0]}" if holders else None)


def test_merged_entries_are_never_mixed(tmp_path: Path) -> None:
    first = written(tmp_path / "1", "users: [{name: red, user: {username: a}}]")
    second = written(tmp_path / "2", "users: [{name: red, user: {password: b}}]")
    user = merge([read(first), read(second)]).users["red"]
    assert (user.value.username, user.value.password, user.file) == ("a", "", first)
