"""Forms that people have: archives, tables, Policies and profiles of other versions, wrong names. Each is
read, or names the right one."""

import gzip
import io
import json
import tarfile
import zipfile
from pathlib import Path

import pytest
import yaml

from kubeclassic.api.load import load
from kubeclassic.api.reading.formats import files
from kubeclassic.api.view import Column, Table, View, tables
from kubeclassic.cli.report.tables import view_lines
from kubeclassic.exceptions import ManifestError
from tests.conftest import CLUSTER
from tests.support.manifests import dumped, manifest, policy_of
from tests.support.program import ran
from tests.support.refusals import refusal_text

NODE = b"kind: Node\nmetadata: {name: 'n'}\n"
POD = b'{"kind": "Pod", "metadata": {"name": "p"}}'
TABLE = "NAME   STATUS   ROLES    AGE   VERSION\nn1     Ready    <none>   1d    v1.27.3\n"
TABLE_OF_ALL = "NAMESPACE     NAME      READY   STATUS    RESTARTS   AGE\nkube-system   dns-1     1/1     Running   0          1d\n"
DESCRIPTION = (
    "Name:               n1\nRoles:              <none>\nLabels:             a=b\n                    c=d\n"
)
NEWER_POLICY = yaml.safe_load("""
kind: Policy
apiVersion: kubescheduler.config.k8s.io/v1
predicates:
- {name: PodFitsResources}
""")
PROFILE = """\
apiVersion: kubescheduler.config.k8s.io/v1beta3
kind: KubeSchedulerConfiguration
profiles:
- plugins: {score: {enabled: [{name: NodeResourcesMostAllocated}]}}
"""
PODS = {"dump/default/pods.json.gz": gzip.compress(POD)}
MEMBERS = {"dump/nodes.yaml": NODE, **PODS, "dump/.hidden.yaml": b"kind: [", "dump/logs.txt": b"\0"}


def zipped(members):
    """A zip archive."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()


def in_tar(members, mode="w"):
    """A tar archive, with a link and a folder besides."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode=mode) as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        link = tarfile.TarInfo("dump/link.yaml")
        link.type = tarfile.SYMTYPE
        link.linkname = "/etc/passwd"
        archive.addfile(link)
    return stream.getvalue()


ARCHIVES = {
    "dump.tar": in_tar,
    "dump.tar.gz": lambda members: in_tar(members, "w:gz"),
    "dump.zip": zipped,
    "dump": zipped,
}


def refusal(name, content, tmp_path):
    """The error for a file of that name."""
    (tmp_path / name).write_bytes(content)
    return refusal_text(ManifestError, load, tmp_path / name).removeprefix(f"{tmp_path / name}: ")


def told(*arguments, status=2):
    """The standard error of a command line."""
    return ran(*arguments, status=status).err


# --- Archives -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ARCHIVES)
def test_an_archive_is_read_as_a_folder(name, tmp_path):
    """tar, tar.gz and zip of a dump hold what the folder holds; hidden files, links and other files are
    left out."""
    (tmp_path / name).write_bytes(ARCHIVES[name](MEMBERS))
    assert [(item.kind, item.name) for item in load(tmp_path / name).objects] == [("Pod", "p"), ("Node", "n")]


def test_errors_name_the_file_in_it(tmp_path):
    """Errors in an archive name its file."""
    assert refusal("d.zip", zipped({"a/b.json": b'{"kind": '}), tmp_path).startswith(
        "a/b.json, line 1, column 10: broken JSON: "
    )


@pytest.mark.parametrize("path", ["../up.yaml", "/etc/nodes.yaml", "a/../../b.yaml", "..\\up.yaml"])
@pytest.mark.parametrize("made", [zipped, in_tar])
def test_no_path_leads_out_of_it(made, path, tmp_path):
    """A path that leads out of the archive is refused, although nothing is written to a disk."""
    assert (
        refusal("d", made({path: NODE}), tmp_path)
        == f"expected a path that stays inside the archive, got {path!r}"
    )


def test_a_path_is_bounded(tmp_path):
    """A path of many thousand characters is refused, and shown in short."""
    says = refusal("d", in_tar({f"{'a' * 9000}.yaml": NODE}), tmp_path)
    assert says.startswith("expected paths of at most 4,096 characters without NUL, got ")
    assert len(says) < 200


def test_their_number_is_bounded(tmp_path, monkeypatch):
    """More files than any dump has are refused."""
    monkeypatch.setattr(files, "MOST_MEMBERS", 3)
    says = refusal("d", in_tar({f"{i}.yaml": b"" for i in range(5)}), tmp_path)
    assert says == "expected an archive of at most 3 files, got more"


@pytest.mark.parametrize("made", [zipped, ARCHIVES["dump.tar.gz"]])
def test_their_size_is_bounded(made, tmp_path, monkeypatch):
    """Files that unpack to more than is allowed are refused, several small ones together too."""
    monkeypatch.setenv("KUBECLASSIC_MAX_UNPACKED", "30Ki")
    says = refusal("d", made({f"{i}.yaml": b" " * 9000 for i in range(5)}), tmp_path)
    assert "expected at most 30,720 bytes, got " in says
    assert "; set KUBECLASSIC_MAX_UNPACKED=" in says


@pytest.mark.parametrize("cut", [200, 20])
def test_broken_ones_are_refused(cut, tmp_path):
    """An archive that ends in the middle is one line."""
    for name, content in (
        ("d.zip", zipped(MEMBERS)[:-cut]),
        ("d.tar", in_tar({"n.yaml": NODE * 400})[:2000]),
    ):
        assert refusal(name, content, tmp_path).startswith("broken archive, or one that ends in the middle")


def test_one_without_manifests_is_refused(tmp_path):
    """An archive of other files names what is wanted."""
    assert refusal("d.zip", zipped({"README": b"x"}), tmp_path).endswith(
        "with .gz in it, got an archive without manifests"
    )


def test_other_archives_are_named(tmp_path):
    """The error for another archive names its form and what to do."""
    says = refusal("d.tar.xz", in_tar(MEMBERS, "w:xz"), tmp_path)
    assert says == "got xz data, which is not read: unpack it first, or pack it as gzip, tar or zip"


# --- Input --------------------------------------------------------------------------------------------------


ERRORS = (
    "Error from server (Forbidden): nodes is forbidden",
    "error: the server doesn't have a resource type",
    "Unable to connect to the server: dial tcp: no such host",
    "The connection to the server localhost:8080 was refused",
)


@pytest.mark.parametrize("name", ["nodes.txt", "nodes.yaml", "nodes.json"])
@pytest.mark.parametrize(
    "text, got",
    [
        (TABLE, "the table of kubectl get, which is for people: use kubectl get ... -o json"),
        (TABLE_OF_ALL, "the table of kubectl get, which is for people: use kubectl get ... -o json"),
        (DESCRIPTION, "the text of kubectl describe, which is for people: use kubectl get ... -o json"),
        *((f"{error}\n", f"kubectl's error: {error}") for error in ERRORS),
    ],
)
def test_words_of_kubectl(text, got, name, tmp_path):
    """For kubectl's output for people the error names the expected form, and kubectl's own error is shown as
    it is."""
    assert refusal(name, text.encode(), tmp_path) == f"expected objects, got {got}"


def test_an_error_in_place_of_objects(tmp_path):
    """An answer that the API server refused to give is no object that is left out."""
    status = b'{"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "Unauthorized"}'
    told = refusal("pods.json", status, tmp_path)
    assert told.endswith('expected objects, got an error of the API server: "Unauthorized"')


@pytest.mark.parametrize("end", [-1, -12, -30, -42])
def test_a_dump_that_was_cut_off(end, tmp_path):
    """Wherever JSON ends, it is said that it ends."""
    text = dumped([manifest("Node", "node-one", spec={"unschedulable": True})])
    assert "broken JSON: it ends in the middle (" in refusal("d.json", text[:end].encode(), tmp_path)


@pytest.mark.parametrize("comment", ["// mine", "/* mine */", "# mine"])
def test_comments_in_json(comment, tmp_path):
    """A Policy in JSON with a comment says that JSON has none."""
    says = refusal("p.json", f'{{"kind": "Policy",\n{comment}\n"apiVersion": "v1"}}'.encode(), tmp_path)
    assert says.endswith("broken JSON: got a comment, which JSON does not have")


def test_nothing_in_a_file(tmp_path):
    """A file without nodes is named."""
    (tmp_path / "empty.json").write_text("[]")
    says = told("simulate", str(tmp_path / "empty.json"))
    assert says == f"kubeclassic: {tmp_path}/empty.json: expected at least one Node, got none\n"


@pytest.mark.parametrize(
    "annotations, created, said",
    [({}, "2024-01-01T00:00:00Z", 1), ({}, None, 0), ({"pv.kubernetes.io/bind-completed": "yes"}, None, 0)],
)
def test_a_claim_whose_annotations_were_removed(annotations, created, said):
    """A claim of a cluster that says Bound and lacks the annotation that the scheduler reads is warned of; a
    new one is bound here."""
    metadata = {"name": "data", "annotations": annotations, "creationTimestamp": created}
    claim = {
        "kind": "PersistentVolumeClaim",
        "metadata": metadata,
        "spec": {"volumeName": "v"},
        "status": {"phase": "Bound"},
    }
    told = [
        str(one)
        for one in load("-", stdin=io.StringIO(json.dumps(claim))).warnings
        if "takes it as unbound" in str(one)
    ]
    assert len(told) == said


def test_counts_of_a_table_are_written_alike():
    """A count of thousands has its comma beside an amount that has one."""
    table = Table("nodes", (Column("pods", "count"), Column("cpu", "cores")), [[9747, 11_471_000]])
    (_, line) = view_lines(View(title="t", verdict="v", sections=tables(table)), "table", None)
    assert line.split() == ["9,747", "11,471"]


@pytest.fixture
def configurations(workdir):
    """A folder with a Policy of 1.17 and a profile of 1.23 that names a plugin of 1.22."""
    (workdir / "policy.json").write_text(json.dumps(NEWER_POLICY))
    (workdir / "profile.yaml").write_text(PROFILE)
    return workdir


@pytest.mark.usefixtures("configurations")
class TestConfigurations:
    READ = "apiVersion kubescheduler.config.k8s.io/v1 came with 1.17: write apiVersion: v1, or take --release 1.17 to 1.22"
    CARRIED = "plugin NodeResourcesMostAllocated is one of 1.17 to 1.22; NodeResourcesFit with the scoringStrategy MostAllocated takes its place"

    @pytest.mark.parametrize(
        "command, status",
        [(["simulate", CLUSTER, "--policy"], 2), (["policy", "check"], 1), (["policy", "migrate"], 2)],
    )
    def test_the_usual_version_of_1_17(self, command, status):
        """A Policy of 1.17 to 1.22 on 1.16 says what to write, or which release to take."""
        assert self.READ in told(*command, "policy.json", status=status)

    @pytest.mark.parametrize(
        "command, status",
        [(["simulate", CLUSTER, "--release", "1.27", "--profile"], 2), (["policy", "check"], 1)],
    )
    def test_a_plugin_of_an_older_version(self, command, status):
        """A plugin that was in tree is not said to be unknown: what takes its place is named."""
        says = told(*command, "profile.yaml", status=status)
        assert self.CARRIED in says
        assert "--rules" not in says

    def test_a_policy_is_no_profile(self):
        """--profile with a Policy names --policy."""
        assert "this is a Policy: --policy takes it" in told("simulate", CLUSTER, "--profile", "policy.json")

    def test_a_profile_is_no_policy(self):
        """--policy with a profile names --profile."""
        says = told("simulate", CLUSTER, "--policy", "profile.yaml")
        assert (
            "profile.yaml: expected one Policy or one ConfigMap, got a KubeSchedulerConfiguration, which --profile takes"
            in says
        )

    @pytest.mark.parametrize("release", ["1.16", "1.20"])
    def test_a_check_lists_every_fault(self, release):
        """policy check names the file, the entry and what it got, of all that is wrong, in text and in
        JSON."""
        extenders = [
            {"urlPrefix": "x", "prioritizeVerb": "p", "weight": 0},
            *({"urlPrefix": one, "bindVerb": "b"} for one in "yz"),
        ]
        priorities = yaml.safe_load("[{name: LeastRequestedPriority, weight: -3}, {name: Huh, weight: 1}]")
        predicates = yaml.safe_load("[{name: Nope}, {name: PodFitsResources}, {name: Nope2}]")
        rules = {"predicates": predicates, "priorities": priorities, "extenders": extenders}
        Path("bad.json").write_text(json.dumps(policy_of(**rules)))
        lines = told("policy", "check", "bad.json", "--release", release, status=1).splitlines()
        assert lines[0].startswith(f"refused by {release}: bad.json: ")
        whole, *each = [line.removeprefix("  ") for line in lines if line.startswith("  ")]
        places = [line.partition(": ")[0] for line in each]
        assert "extender" in whole
        assert places == ["predicates[0]", "predicates[2]", "priorities[0]", "priorities[1]", "extenders[0]"]
        assert each[2].endswith(
            "should have a positive weight applied to it or it has overflown, got weight -3"
        )
        said = ran("policy", "check", "bad.json", "--release", release, "-o", "json", status=1).out
        assert [one["where"] for one in json.loads(said)["faults"]] == ["", *places]


def test_namespaces():
    """A namespace without pods names those that have some, and says nothing of -l, which was not given."""
    says = told("simulate", CLUSTER, "-n", "shp", status=1)
    wanted = 'no pod to show: -n: got shp, but those that were tried are in kube-system, shop, analytics; did you mean "shop"?\n'
    assert wanted in says


def test_pods_and_fields_of_edits():
    """--set with a misspelled pod or field names the near one."""
    says = told("simulate", CLUSTER, "--set", "pod analytics/yearly-reprt requests.memory=1Gi")
    assert 'did you mean "analytics/yearly-report"' in says
    says = told("simulate", CLUSTER, "--set", "pod analytics/* request.memory=1Gi")
    assert says.endswith(
        'expected a field that there is, got "request.memory"; did you mean "requests.memory"?\n'
    )
