"""Tables of one's own with a map of columns, and what is refused in all tables."""

import pytest

import kubeclassic
from kubeclassic.exceptions import ManifestError
from kubeclassic.questions.importing import rows, simkube
from tests.support.refusals import refusal_text
from tests.support.traceforms import CREATED, RUNS, requests, write

# --- Columns ------------------------------------------------------------------------------------------------


MAP = """
        kind: pods
        name: task
        namespace: team
        priority: prio
        count: 'n'
        created: start
        runs: took
        requests: {cpu: cores, memory: mem in GiB, nvidia.com/gpu: gpus}
        labels: {app: service}
        nodeSelector: {disk: disk}
    """
TABLE = "task,team,prio,n,start,took,cores,mem,gpus,service,disk\nT_1,Web,5,2,1.5,60,0.25,2,0,shop,ssd\n"


def test_the_map_says_what_is_what(tmp_path):
    """Columns become what the map says, in the units that it says; a count makes several pods of a row."""
    columns = rows.read_map(write(tmp_path, "m.yaml", MAP))
    first, second = rows.read_table(write(tmp_path, "t.csv", TABLE), columns).pods
    assert (first["metadata"]["name"], second["metadata"]["name"]) == ("t-1-0", "t-1-1")
    assert requests(first) == {"cpu": "250m", "memory": "2048Mi"}
    assert first["metadata"] == {
        "name": "t-1-0",
        "namespace": "web",
        "labels": {"app": "shop"},
        "annotations": {CREATED: "1.5", RUNS: "60"},
    }
    assert (first["spec"]["nodeSelector"], first["spec"]["priority"]) == ({"disk": "ssd"}, 5)


def test_nodes_are_made_too(tmp_path):
    """A table of nodes gives nodes, on which pods are scheduled."""
    names = write(
        tmp_path,
        "m.yaml",
        "kind: nodes\nname: host\nrequests: {cpu: c in millicores, memory: b}\nlabels: {zone: z}\n",
    )
    found = kubeclassic.traces.import_csv(write(tmp_path, "t.csv", "host,c,b,z\nH1,1500,1024,a\n"), names)
    (node,) = found.manifest["items"]
    assert node["status"]["allocatable"] == {"pods": "110", "cpu": "1500m", "memory": "1024"}
    assert node["metadata"]["labels"] == {"kubernetes.io/hostname": "h1", "zone": "a"}


@pytest.mark.parametrize(
    "text, words",
    [
        ("name: a\ncolor: b\n", 'priorities, got "color"'),
        ("kind: things\nname: a\n", 'kind: expected pods or nodes, got "things"'),
        ("kind: pods\n", "name: expected the column with the names, got nothing"),
        ("name: a\nrequests: {cpu: b in barrels}\n", 'GiB, pieces, got "b in barrels"'),
        ("name: a\nrequests: 3\n", "requests: expected names with columns, got 3"),
        (
            "name: a\npriorities: {high: 1}\n",
            "priorities: expected words of the column that priority names, with numbers of 32 bits, got an object",
        ),
        ("name: a\npriority: p\npriorities: {high: 3000000000}\n", "numbers of 32 bits, got an object"),
        ("name: a\nname: b\n", "expected name once, got it twice"),
        ("name: a\nlabels: {app: }\n", "labels.app: expected the name of a column, got nothing"),
        ("kind: nodes\nname: a\nnamespace: b\n", "namespace: expected it for pods alone, got it for nodes"),
        ("name: a\nlabels: {x: 3}\n", "labels.x: expected the name of a column, got 3"),
    ],
)
def test_a_wrong_map_is_told(tmp_path, text, words):
    """A map that says something else is refused with the place."""
    path = write(tmp_path, "m.yaml", text)
    told = refusal_text(ManifestError, rows.read_map, path)
    assert told.startswith(f"{path}: ")
    assert words in told


HOSTS = "host,c,b\na,8,96\n"
WRONG = {
    "a column is missing": ("host,cpus,b\n", "line 1: expected the columns c too, got "),
    "a name is missing": (HOSTS + ",8,9\n", "line 3: host: expected a name, got nothing"),
    "a name comes twice": (HOSTS + "a,8,9\n", 'line 3: host: expected each name once, got "a" again'),
    "a number is none": (HOSTS + "n,many,9\n", 'line 3: c: expected a number, got "many"'),
    "a number is negative": (HOSTS + "n,-3,9\n", 'line 3: c: expected a number of 0 or more, got "-3"'),
    "a number is too long": (HOSTS + "n,1e99,9\n", "expected a number of at most 15 digits"),
    "a column comes twice": ("host,c,c,b\n", "line 1: expected column c once, got host,c,c,b"),
    "a row is too long": (HOSTS + "n,8,3,x\n", "line 3: expected at most 3 values, got 4"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_tables_are_told(tmp_path, case):
    """A table that cannot be read is refused in one line with file, line and column."""
    text, *words = WRONG[case]
    columns = rows.read_map(
        write(tmp_path, "m.yaml", "kind: nodes\nname: host\nrequests: {cpu: c, memory: b}\n")
    )
    told = refusal_text(ManifestError, rows.read_table, write(tmp_path, "n.csv", text), columns)
    assert str(tmp_path / "n.csv") in told
    assert all(word in told for word in words)


def test_other_wrong_inputs_are_told(tmp_path):
    """Files of another kind, and missing files are refused with what was wanted."""
    nodes = write(tmp_path, "n.csv", HOSTS)
    tries = [
        (
            lambda: rows.read_table(
                tmp_path / "none.csv", rows.read_map(write(tmp_path, "m.yaml", "name: a"))
            ),
            "no such file",
        ),
        (lambda: simkube.read(nodes), "expected a trace of SimKube, got bytes that are no msgpack"),
    ]
    for tried, words in tries:
        text = refusal_text(ManifestError, tried)
        assert words in text
        assert "\n" not in text


@pytest.mark.parametrize(
    "lines, told",
    [
        ("a,\n", "line 2: n: expected a whole number, got nothing"),
        ("a,1\nA,1\n", 'line 3: task: expected each name once, got "a-0" again'),
        ("a,500001\n", 'line 2: n: expected 500,000 at most, got "500001"'),
    ],
)
def test_counts_and_names_of_rows_are_checked(tmp_path, lines, told):
    """A row without a count does not vanish, a huge count is no week of work, and no object replaces
    another."""
    columns = rows.read_map(write(tmp_path, "m.yaml", "name: task\ncount: 'n'\n"))
    with pytest.raises(ManifestError, match=told):
        rows.read_table(write(tmp_path, "t.csv", "task,n\n" + lines), columns)


@pytest.mark.parametrize(
    "values, told",
    [
        ("1.9,1", 'prio: expected a whole number of 32 bits, got "1.9"'),
        ("3000000000,1", 'prio: expected a whole number of 32 bits, got "3000000000"'),
        ("1,-5", 'took: expected a number of 0 or more, got "-5"'),
    ],
)
def test_numbers_of_pods_are_not_bent(tmp_path, values, told):
    """A priority is a whole number of 32 bits, and no time is negative."""
    columns = rows.read_map(write(tmp_path, "m.yaml", "name: task\npriority: prio\nruns: took\n"))
    with pytest.raises(ManifestError, match=told):
        rows.read_table(write(tmp_path, "t.csv", f"task,prio,took\na,{values}\n"), columns)


def test_rows_of_no_copies_are_told(tmp_path):
    """A count of 0 makes no pod, and is among what was dropped."""
    columns = rows.read_map(write(tmp_path, "m.yaml", "name: task\ncount: 'n'\n"))
    assert rows.read_table(write(tmp_path, "t.csv", "task,n\na,0\n"), columns).dropped == {
        "rows of no copies": 1
    }
