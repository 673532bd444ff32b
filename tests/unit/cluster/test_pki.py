"""Certificates, keys and tokens: made once, kept safe, renewed in time."""

import ssl
import stat
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key

from windvane import ambient
from windvane.certificates import Authority, Pair
from windvane.client.config import load_config
from windvane.cluster.pki import FILES, PKIError, open_pki, write_private


class Calendar(ambient.Reality):
    """A world where a test says what day it is."""

    def __init__(self) -> None:
        self.today = datetime(2030, 1, 1, tzinfo=UTC)

    def now(self) -> datetime:
        return self.today


@pytest.fixture
def calendar() -> Iterator[Calendar]:
    calendar = Calendar()
    with ambient.use(calendar):
        yield calendar


def contents(directory: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in directory.iterdir()}


def changed(before: dict[str, bytes], directory: Path) -> set[str]:
    return {name for name, content in contents(directory).items() if before.get(name) != content}


def certificate(directory: Path, name: str) -> x509.Certificate:
    return x509.load_pem_x509_certificate((directory / name).read_bytes())


def test_everything_is_there_and_only_the_owner_can_read_it(tmp_path: Path) -> None:
    directory = tmp_path / "deep" / "pki"
    open_pki(directory)
    assert {*FILES} < {file.name for file in directory.iterdir()}
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in directory.iterdir()} == {0o600}


def test_a_directory_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    open_pki(tmp_path)
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o700


def test_a_second_start_changes_nothing(tmp_path: Path) -> None:
    open_pki(tmp_path)
    before = contents(tmp_path)
    open_pki(tmp_path)
    assert contents(tmp_path) == before


def test_certificates_are_renewed_a_month_before_they_expire(tmp_path: Path, calendar: Calendar) -> None:
    open_pki(tmp_path)
    before = contents(tmp_path)
    calendar.today += timedelta(days=334)
    open_pki(tmp_path)
    assert contents(tmp_path) == before
    calendar.today += timedelta(days=1)
    open_pki(tmp_path)
    renewed = {"server.crt", "server.key", "admin.crt", "admin.key", "issued.json"}
    assert changed(before, tmp_path) == renewed
    assert certificate(tmp_path, "server.crt").not_valid_after_utc == calendar.today + timedelta(days=365)


def test_the_authority_is_renewed_before_it_expires(tmp_path: Path, calendar: Calendar) -> None:
    open_pki(tmp_path)
    before = contents(tmp_path)
    calendar.today += timedelta(days=3650 - 29)
    open_pki(tmp_path)
    assert {"ca.crt", "server.crt", "admin.crt"} < changed(before, tmp_path)
    assert not {"sa.key", "admin.token"} & changed(before, tmp_path)


def test_no_certificate_outlives_its_authority(tmp_path: Path, calendar: Calendar) -> None:
    open_pki(tmp_path)
    calendar.today += timedelta(days=3600)
    open_pki(tmp_path)
    expires = certificate(tmp_path, "ca.crt").not_valid_after_utc
    assert certificate(tmp_path, "server.crt").not_valid_after_utc == expires


def test_another_name_means_another_certificate(tmp_path: Path) -> None:
    open_pki(tmp_path)
    before = contents(tmp_path)
    open_pki(tmp_path, names=["127.0.0.1", "example.test"])
    assert "ca.crt" not in changed(before, tmp_path)
    names = certificate(tmp_path, "server.crt").extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["example.test"]
    assert [str(address) for address in names.get_values_for_type(x509.IPAddress)] == ["127.0.0.1"]


@pytest.mark.parametrize("missing", FILES)
def test_a_file_that_is_missing_is_made_again(tmp_path: Path, missing: str) -> None:
    open_pki(tmp_path)
    (tmp_path / missing).unlink()
    pki = open_pki(tmp_path)
    assert {*FILES} < contents(tmp_path).keys()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pki.server_certificate, pki.server_key)  # which fails if they don't belong together


def test_a_crash_on_the_way_means_that_all_is_made_again(tmp_path: Path) -> None:
    open_pki(tmp_path)
    (tmp_path / "issued.json").write_bytes(b'{"renew": "20')
    before = contents(tmp_path)
    open_pki(tmp_path)
    assert "server.crt" in changed(before, tmp_path)


def test_a_damaged_authority_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    open_pki(tmp_path)
    (tmp_path / "ca.key").write_bytes(b"not a key")
    (tmp_path / "issued.json").unlink()
    with pytest.raises(PKIError, match=r"ca\.crt and ca\.key in .* are damaged .* Remove that directory"):
        open_pki(tmp_path)


def test_an_authority_whose_key_is_anothers_is_damaged(tmp_path: Path) -> None:
    mine, other = Authority.new().pair, Authority.new().pair
    with pytest.raises(ValueError, match="is not for the key"):
        Authority.read(Pair(other.key, mine.public))


def test_a_directory_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(PKIError, match="can't be kept in"):
        open_pki(tmp_path / "file" / "pki")


def test_the_administrators_certificate_is_for_masters(tmp_path: Path) -> None:
    open_pki(tmp_path)
    assert certificate(tmp_path, "admin.crt").subject.rfc4514_string() == "CN=kubernetes-admin,O=system:masters"


def test_service_account_keys_belong_together(tmp_path: Path) -> None:
    pki = open_pki(tmp_path)
    private = load_pem_private_key(pki.service_account_key.read_bytes(), password=None)
    public = load_pem_public_key(pki.service_account_public_key.read_bytes())
    assert isinstance(private, ec.EllipticCurvePrivateKey)
    assert private.public_key() == public


def test_tokens_are_long_and_different(tmp_path: Path) -> None:
    one, two = open_pki(tmp_path / "1").admin_token, open_pki(tmp_path / "2").admin_token
    assert one != two
    assert len(one) == 43


def test_the_kubeconfig_has_all_that_a_client_needs(tmp_path: Path) -> None:
    pki = open_pki(tmp_path)
    file = tmp_path / "kubeconfig"
    file.write_text(pki.kubeconfig("https://127.0.0.1:6443", name='a "b": c'))
    config = load_config(kubeconfig=file)
    assert (config.server, config.namespace) == ("https://127.0.0.1:6443", "default")
    assert config.ca == pki.ca_certificate.read_bytes()
    assert config.client_cert == (tmp_path / "admin.crt").read_bytes()
    assert config.client_key == (tmp_path / "admin.key").read_bytes()
    assert 'context "a "b": c"' in config.source


def test_a_private_file_replaces_one_that_others_could_read(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"old")
    file.chmod(0o644)
    write_private(file, b"new")
    assert file.read_bytes() == b"new"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_a_private_file_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "directory" / "inside").mkdir(parents=True)
    with pytest.raises(OSError, match="directory"):
        write_private(tmp_path / "directory", b"new")
    assert [each.name for each in tmp_path.iterdir()] == ["directory"]
