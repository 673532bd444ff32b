"""Reading histories: which operators run is known where they write, and not of a file that was brought from there."""

from pathlib import Path

from unit.cli.why.notes import ran, saw
from windvane.cli.why.histories import read_histories
from windvane.client.config import ClientConfig
from windvane.runtime.observability.journal import Journal

CONFIG = ClientConfig(server="https://nowhere.invalid")


def test_whether_an_operator_runs_is_known_where_it_writes_and_not_of_a_copy(tmp_path: Path) -> None:
    here, copy = tmp_path / "here.jsonl", tmp_path / "copy.jsonl"
    done = ran(0, "website", "Website blog", [saw("Website blog came", 10)]).done
    assert done is not None
    journal = Journal(here, "website")
    journal.write(done)
    journal.flush()
    copy.write_bytes(here.read_bytes())
    assert read_histories(CONFIG, [here]).running == {"website": True}
    assert read_histories(CONFIG, [copy]).running == {}
    assert read_histories(CONFIG, [copy, here]).running == {"website": True}
    journal.close()
    copy.write_bytes(here.read_bytes())
    for file in (here, copy):
        found = read_histories(CONFIG, [file])
        assert found.running == {"website": False}
        assert [each.done is not None for each in found.entries] == [False, True, False]


def test_a_cluster_notes_for_all_of_its_controllers(tmp_path: Path) -> None:
    done = ran(0, "default-scheduler", "Pod web", [saw("Pod web came", 10)]).done
    assert done is not None
    journal = Journal(tmp_path / "cluster.jsonl", "cluster")
    journal.write(done, operator="default-scheduler")
    journal.flush()
    running = read_histories(CONFIG, [tmp_path / "cluster.jsonl"]).running
    assert running == {"cluster": True, "default-scheduler": True}
    journal.close()
