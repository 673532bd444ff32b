"""What Go calls the types of fields, read from its structs."""

from pathlib import Path

from generate.go_types import told
from generate.protobuf import Package
from windvane.cluster.apiserver.schema.shapes import ListOf, MapOf, Plain

PROTO = "message Bolt {}"
STRUCTS = """
type Bolt struct {
	metav1.TypeMeta `json:",inline"`
	// How it is held.
	Hold `json:",inline" protobuf:"bytes,1,opt,name=hold"`
	Sizes []Size `json:"sizes,omitempty" protobuf:"bytes,2,rep,name=sizes"`
	Names map[string]string `json:"names" protobuf:"bytes,3,rep,name=names"`
}

type Hold struct {
	Nut *string `json:"nut,omitempty" protobuf:"bytes,1,opt,name=nut"`
}
"""


def test_a_struct_has_fields_with_names_and_types(tmp_path: Path) -> None:
    (tmp_path / "types.go").write_text(STRUCTS)
    (tmp_path / "types_test.go").write_text(STRUCTS.replace("Bolt", "Other"))
    package = Package("k8s.io.api.acme.v1", tmp_path, PROTO)
    assert package.go == {
        "Bolt": [
            ("", "metav1.TypeMeta"),
            ("", "Hold"),
            ("sizes", "[]Size"),
            ("names", "map[string]string"),
        ],
        "Hold": [("nut", "*string")],
    }


def test_a_list_is_told_by_what_is_in_it() -> None:
    assert told(ListOf(Plain("text")), "v1.Size", "[]v1.Size") == "[]v1.Size"
    assert told(MapOf(ListOf(Plain("text"))), "string", "map[string][]string") == "map[string][]string"
