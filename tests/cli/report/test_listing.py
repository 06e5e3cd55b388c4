"""Fields, sorting and columns of records, in kubectl's manner."""

import io
import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.api.words import rounded
from kubeclassic.cli.report.tables import Sorting, indented, write_csv, write_rows
from kubeclassic.exceptions import UnknownNameError

RECORDS = yaml.safe_load("""
- pod: b
  requests: {cpu: 20, nvidia.com/gpu: 1}
  victims: [x, y]
- pod: a
  requests: {}
  victims: []
- pod: c
  requests: {cpu: 100}
  victims: []
""")
COLUMNS = {"pod": ("pod",), "victims": ("victims",), "cpu": ("requests", "cpu")}


@pytest.mark.parametrize("key, pods", [("cpu", "bca"), ("-cpu", "cba"), ("pod", "abc"), ("victims", "acb")])
def test_sorting(key, pods):
    """Numbers are sorted as numbers, and what has no value comes last either way."""
    found = Sorting.parse(key, COLUMNS).sorted(RECORDS)
    assert "".join(record["pod"] for record in found) == pods


def test_an_unknown_column_is_refused():
    """The error names what there is."""
    with pytest.raises(
        UnknownNameError,
        match=r'^--sort-by: expected one of pod, victims, cpu, got "pot"; did you mean "pod"\?$',
    ):
        Sorting.parse("pot", COLUMNS)


def test_csv():
    """A column a field that any record has, fields of fields with dots; empty where there is none."""
    stream = io.StringIO()
    write_csv(RECORDS[:2], stream)
    assert stream.getvalue() == "pod,requests.cpu,requests.nvidia.com/gpu,victims\nb,20,1,x y\na,,,\n"
    stream = io.StringIO()
    write_csv([], stream)
    assert stream.getvalue() == ""


def test_columns_of_csv_stay_in_the_order_of_fields():
    """A resource that only a later record has stands beside the other resources, before the fields that come
    after them."""
    stream = io.StringIO()
    write_csv([RECORDS[2], RECORDS[0]], stream)
    assert stream.getvalue() == "pod,requests.cpu,requests.nvidia.com/gpu,victims\nc,100,,\nb,20,1,x y\n"


def test_an_empty_list_stays_in_its_line():
    """A document with an empty list is JSON too."""
    stream = io.StringIO()
    write_rows({"kind": "X", "pods": []}, stream)
    assert stream.getvalue() == '{\n  "kind": "X",\n  "pods": []\n}\n'


@pytest.mark.parametrize(
    "resource, number, text",
    [
        ("cpu", 0, "0"),
        ("cpu", 5, "0.005"),
        ("cpu", 1005, "1.005"),
        ("cpu", 76315442, "76,315.44"),
        ("memory", 0, "0"),
        ("memory", 1000, "1,000 B"),
        ("memory", 2**20 - 1, "1.0 MiB"),
        ("memory", -3 * 2**29, "-1.5 GiB"),
        ("hugepages-2Mi", 2**31, "2.0 GiB"),
        ("memory", 2**63, "8.0 EiB"),
        ("pods", 1210, "1,210"),
    ],
)
def test_units(resource, number, text):
    """Amounts are written with the unit that makes them short."""
    assert rounded(resource, number) == text


TEXTS = st.text(max_size=4) | st.text('\x00\x1f\x7f/<\\"\n', max_size=4)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), TEXTS)


@given(
    value=st.recursive(
        SCALARS,
        lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(max_size=3), inner),
        max_leaves=9,
    )
)
def test_indented_is_as_by_the_standard_library(value):
    """Whatever the value: the same characters as by json.dumps with an indent of two."""
    assert indented(value) == json.dumps(value, indent=2)
