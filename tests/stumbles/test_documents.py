"""Input that once ended in a traceback, in silence or never: each has an answer now, in one line."""

import gzip
import io
import json
import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from kubeclassic import Cluster
from kubeclassic.algorithmprovider.config import load_policy
from kubeclassic.api.load import load
from kubeclassic.api.meaning.durations import parse_duration
from kubeclassic.api.objects import Pod
from kubeclassic.api.objects.quantity import Quantity
from kubeclassic.api.reading.formats import files
from kubeclassic.exceptions import ManifestError, PolicyError, QuantityError
from kubeclassic.framework.config.configuration import load_configuration
from kubeclassic.questions.replay.inputs import read_inputs
from kubeclassic.simulation.conform import read_cases
from tests.support.refusals import refusal_text

POD = "kind: Pod\nmetadata: {name: p}\n"
NODE = "kind: Node\nmetadata: {name: 'n'}\n"


def read(text):
    """The result of standard input with this text."""
    stream = io.BytesIO(text if isinstance(text, bytes) else text.encode())
    return load("-", stdin=stream)


def warnings_of(text):
    return [notice.what for notice in read(text).warnings]


def refusal(text):
    """The error for a text, without its place."""
    told = refusal_text(ManifestError, read, text)
    return (
        told.removeprefix("standard input")
        .removeprefix(", document 1")
        .removeprefix(" (Pod p)")
        .removeprefix(": ")
    )


# --- Strictness ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "manifest, wanted",
    [
        (f"{POD}spec: {{nodeNam: a}}", 'spec.nodeNam: unknown field; did you mean "nodeName"?'),
        (
            f"{POD}spec: {{containers: [{{nam: a}}]}}",
            'spec.containers[0].nam: unknown field; did you mean "name"?',
        ),
        (
            f"{POD}spec: {{tolerations: [{{operator: Exists}}, {{operator: Exists, ky: a}}]}}",
            'spec.tolerations[1].ky: unknown field; did you mean "key"?',
        ),
        (
            f"{POD}spec: {{containers: [{{livenessProbe: {{httpGet: {{prt: 1}}}}}}]}}",
            'spec.containers[0].livenessProbe.httpGet.prt: unknown field; did you mean "port"?',
        ),
        (
            "kind: Deployment\nmetadata: {name: d}\nspec: {template: {spec: {zzz: 1}}}",
            "spec.template.spec.zzz: unknown field",
        ),
    ],
)
def test_unknown_fields_are_warned_of_with_the_nearest_name(manifest, wanted):
    """A field that the API does not have is a warning with its path and the nearest name, at every level,
    read here or not."""
    assert warnings_of(manifest) == [wanted]


def test_each_object_with_an_unknown_field_is_named():
    """Two pods with the same mistake give two warnings, though what they share is decoded once."""
    spec = "{tolerations: [{operator: Exists, ky: a}]}"
    pods = "\n---\n".join(f"kind: Pod\nmetadata: {{name: {name}}}\nspec: {spec}" for name in "ab")
    assert [notice.where.partition(" (")[2] for notice in read(pods).warnings] == ["Pod a)", "Pod b)"]


def test_fields_that_scheduling_does_not_read_are_known():
    """Fields of old and new releases that nothing here reads give no warning."""
    spec = "{hostPID: true, dnsConfig: {options: [{name: a}]}, os: {name: linux}, ephemeralContainers: [{targetContainerName: a}]}"
    assert warnings_of(f"{POD}  # here\nspec: {spec}\nstatus: {{hostIPs: [{{ip: a}}], qosClass: a}}") == []


def test_kinds_of_other_groups_are_not_judged():
    """A Service of another API group may have any fields."""
    assert (
        warnings_of(
            "apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: {name: s}\nspec: {template: {}}"
        )
        == []
    )


@pytest.mark.parametrize(
    "manifest", [POD + POD, '{"kind": "List", "items": [], "items": []}', f"{POD}spec: {{}}\nspec: {{}}"]
)
def test_a_missing_separator_is_an_error_always(manifest):
    """Two objects without a line --- between them are refused: the second would swallow the first."""
    assert refusal(manifest).endswith("given twice, expected once; put a line with --- between two objects")


def test_a_profile_with_a_field_twice_is_refused(tmp_path):
    """A KubeSchedulerConfiguration is decoded strictly by upstream, so a repeated field is an error."""
    path = tmp_path / "p.yaml"
    path.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nparallelism: 1\nparallelism: 2\n"
    )
    with pytest.raises(PolicyError, match='strict decoding error: duplicate field "parallelism"'):
        load_configuration(path)


@pytest.mark.parametrize(
    "manifest, wanted",
    [
        (
            f"{POD}spec: {{containers: [{{resources: {{requests: {{memory: 20E}}}}}}]}}",
            'spec.containers[0].resources.requests[memory]: got "20E", which counts as 0: it does not fit into 64 bits',
        ),
        (
            f"{NODE}status: {{allocatable: {{memory: '18446744073709551617'}}}}",
            'status.allocatable[memory]: got "18446744073709551617", which counts as 1: it does not fit into 64 bits',
        ),
        (
            f"{NODE}status: {{allocatable: {{cpu: 10P}}}}",
            'status.allocatable[cpu]: got "10P", which counts as 0 thousandths: it does not fit into 64 bits',
        ),
    ],
)
def test_amounts_that_wrap_as_in_go_are_warned_of(manifest, wanted):
    """An amount beyond 64 bits counts as Go counts it, and a warning says as what."""
    assert warnings_of(manifest) == [wanted]


# --- Bounds -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, wanted",
    [
        ("[" * 30_000 + "]" * 30_000, "nested too deeply"),
        ("- " * 30_000 + "a", "nested too deeply"),
        ('{"kind": "Pod", "metadata": ' + "[" * 30_000 + "]" * 30_000 + "}", "nested too deeply"),
        (f"kind: Deployment\nmetadata: {{name: d}}\nx: {'[' * 900}{']' * 900}", "nested too deeply"),
        ('{"kind": "List", "items": [' * 400 + "]}" * 400, "nested too deeply"),
        ("&a [*a]", "a value that holds itself"),
        (f"{POD}spec: &s {{<<: *s}}", "a value that holds itself"),
        ("&a {kind: Pod, metadata: {name: p}, spec: *a}", "a value that holds itself"),
        (f"{POD}spec: {{priority: {'9' * 5000}}}", "expected a whole number, got"),
        (f'{{"kind": "Pod", "spec": {{"priority": {"9" * 5000}}}}}', "4,300 digits"),
    ],
    ids=lambda text: text[:20],
)
def test_what_is_out_of_bounds_is_refused(text, wanted):
    """Objects and lists thousands of levels deep, values that hold themselves by an alias and numbers of
    4,300 digits are errors."""
    assert wanted in refusal(text)


@pytest.mark.parametrize("number", [2**31, 2**63, -(2**31) - 1])
def test_integers_have_the_width_of_the_apis(number):
    """A priority beyond 32 bits is refused."""
    wanted = f"spec.priority: expected a whole number from {-(2**31)} to {2**31 - 1}, got {number}"
    assert refusal(f"{POD}spec: {{priority: {number}}}") == wanted


def test_gzip_bombs_are_refused(monkeypatch):
    """Little gzip data that holds very much is refused, unless the environment allows it; no more than
    that is unpacked."""
    packed = gzip.compress(b"#" * (70 << 20) + b"\n" + POD.encode())
    assert f"set {files.MAX_UNPACKED}=4Gi" in refusal(packed)
    monkeypatch.setenv(files.MAX_UNPACKED, "100Mi")
    assert len(read(packed).objects) == 1


def test_files_of_many_gigabytes_are_refused(tmp_path, monkeypatch):
    """A file, table or standard input of more than 4 GiB is refused before it is read, unless the
    environment allows it."""
    file = tmp_path / "cluster.yaml"
    with file.open("wb") as stream:
        stream.truncate(100 << 30)
    got = "expected at most 4,294,967,296 bytes, got 107,374,182,400"
    with pytest.raises(
        ManifestError,
        match=f"cluster.yaml: {got}; set {files.MAX_UNPACKED}=16Gi in the environment to allow more",
    ):
        Cluster.load(file)
    with file.open("rb") as stream, pytest.raises(ManifestError, match=f"standard input: {got}"):
        Cluster.load("-", stdin=stream)
    table = file.rename(tmp_path / "nodes.csv")
    with pytest.raises(ManifestError, match=got):
        read_inputs([table])
    monkeypatch.setenv(files.MAX_UNPACKED, "64Gi")
    with pytest.raises(
        ManifestError, match=f"expected at most 68,719,476,736 bytes, .*; set {files.MAX_UNPACKED}=256Gi"
    ):
        read_inputs([table])


def test_streams_of_unknown_length_are_bounded(tmp_path, monkeypatch):
    """A pipe that gives more than is allowed is refused as soon as it has."""
    monkeypatch.setenv(files.MAX_UNPACKED, "1Ki")
    with pytest.raises(ManifestError, match="standard input: expected at most 1,024 bytes, got more; set"):
        Cluster.load("-", stdin=io.StringIO("#" * 1025))
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as writer:
        writer.submit(pipe.write_bytes, b"#" * 1025)
        with pytest.raises(ManifestError, match="pipe: expected at most 1,024 bytes, got more"):
            Cluster.load(pipe)


def test_long_durations_and_quantities_take_no_time():
    """Long texts that almost are durations or quantities are refused at once."""
    assert parse_duration("1" * 1_000_000) is None
    for text in ("0" * 4_000 + "x", "1" * 1_000_000, "9" * 4_000 + "e4000"):
        with pytest.raises(QuantityError):
            Quantity.parse(text)


def test_a_billion_replicas_are_refused():
    """A workload may not make more pods than any cluster could have."""
    for kind in ("Deployment", "StatefulSet", "ReplicaSet"):
        workload = f"kind: {kind}\nmetadata: {{name: web}}\nspec: {{replicas: 1000000000, template: {{spec: {{containers: []}}}}}}"
        with pytest.raises(
            ManifestError, match=r"default/web.*: expected at most 500,000 pods in all, got 1,000,000,000 to"
        ):
            Cluster.load("-", stdin=io.StringIO(f"{NODE}---\n{workload}"))


def test_error_lines_are_short_and_have_no_control_characters():
    """Long names are shortened in the middle, control characters escaped."""
    long = refusal(json.dumps({"kind": "Pod", "metadata": {"labels": {"k" * 100_000: [1]}}}))
    assert len(long) <= 1000
    assert " ... " in long
    assert "\\x1b[31mx" in refusal('kind: Pod\nmetadata: {labels: {"\\e[31mx": [1]}}')


@pytest.mark.parametrize(
    "written",
    [
        "!!bool x",
        "!!int ''",
        "!!float x",
        "!!float .nan",
        "!!python/object:os.system x",
        "!!binary x",
        "!!set {}",
        "!!omap []",
        "!x y",
    ],
)
def test_what_json_does_not_have_is_an_error(written):
    """Tags that call for something else than a JSON value are an error with line and column."""
    assert refusal(f"{POD}spec: {{nodeName: {written}}}").startswith(
        ", line 3, column 18: broken YAML: expected "
    )


def test_half_characters_are_replaced():
    """A lone surrogate in JSON becomes U+FFFD, as in Go; in YAML it is an error."""
    (pod,) = read('{"kind": "Pod", "metadata": {"name": "a\\ud800b", "labels": {"\\udfff": "x"}}}').of(Pod)
    assert (pod.name, pod.labels) == ("a\ufffdb", {"\ufffd": "x"})
    assert "invalid Unicode character" in refusal('kind: Pod\nmetadata: {name: "\\ud800"}')


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(
    "text", ["kind: Pod\nmetadata: {name: é}\n", '{"kind": "Pod", "metadata": {"name": "é"}}']
)
def test_utf_16_is_read(text, encoding):
    """UTF-16 with its mark is read, as YAML allows it."""
    assert read(("\ufeff" + text).encode(encoding)).objects[0].name == "é"


# --- Files --------------------------------------------------------------------------------------------------


def test_paths_with_nul():
    """A NUL character in a path is an error."""
    with pytest.raises(ManifestError, match=r"^a\\x00b: expected a file, got a path with a NUL character"):
        load("a\0b")


def test_devices_are_refused():
    """A device that never ends is refused, /dev/null is an empty file."""
    assert load("/dev/null").objects == ()
    with pytest.raises(ManifestError, match="expected a file, got a device"):
        load("/dev/zero")


def test_empty_files_cost_nothing(tmp_path, monkeypatch):
    """No reader is asked about an empty file."""
    (tmp_path / "empty.yaml").touch()
    monkeypatch.setattr("kubeclassic.api.reading.documents._values", lambda *_: pytest.fail("it was read"))
    assert load(tmp_path).objects == ()


# --- Every reader -------------------------------------------------------------------------------------------


BOMB = '{"kind": "Policy", "a": ' + "[" * 30_000 + "]" * 30_000 + "}"


def test_policies_profiles_and_cases_are_bounded_too(tmp_path):
    """Policies, configurations, ConfigMaps and conformance cases are read by the same reader."""
    (tmp_path / "a.json").write_text(BOMB)
    config_map = {"kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"policy.cfg": BOMB}}
    (tmp_path / "map.json").write_text(json.dumps(config_map))
    for reading, name in ((load_policy, "a.json"), (load_policy, "map.json"), (load_configuration, "a.json")):
        with pytest.raises(PolicyError, match="nested too deeply"):
            reading(tmp_path / name)
    with pytest.raises(ManifestError, match="nested too deeply"):
        list(read_cases(tmp_path / "a.json"))
