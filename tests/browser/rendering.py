"""The pages that there are, and how each is made: once in a run of the tests, whichever process needs it
first."""

import contextlib
import fcntl
import json
import os
import shlex
from contextlib import contextmanager

import attrs

from kubeclassic.cli import run
from kubeclassic.questions.importing.rows import manifests
from tests.conftest import ROOT

OPENB = "OPENB"
"""In the arguments of a subject: the openb trace as manifests, 1,523 nodes and 8,152 pods."""
SOME = "SOME"
"""The cluster with its first pods only, for commands that decide often."""
FIRST = 2000


@attrs.frozen
class Subject:
    """A page: a command line without its form and its file.

    *parts*: what stands in it, by the names of the checks that look at it (``table``, ``map``, ``chart``).
    *status*: how the command ends.
    """

    name: str
    arguments: tuple
    parts: frozenset = attrs.field(converter=frozenset, default=())
    status: int = 0

    @property
    def needs_shared(self):
        """Whether it is about the larger data."""
        return bool({OPENB, SOME} & {*self.arguments})

    def __str__(self):
        return self.name


def _subject(name, line, parts, status=0):
    """The page of a command *line*, in which ``examples/...`` is a path of the repository."""
    words = (str(ROOT / word) if word.startswith("examples/") else word for word in shlex.split(line))
    return Subject(name, tuple(words), parts.split(), status)


EXAMPLES = (
    _subject("compare", "compare examples/cluster --a release=1.16 --b release=1.27", "table map", 1),
    _subject(
        "migrate",
        "policy migrate examples/policies/kubernetes-classic.json --release 1.16 --check examples/cluster",
        "table map",
        1,
    ),
    _subject("simulate", "simulate examples/cluster --details --release 1.27", "table map chart", 1),
    _subject("explain", "explain examples/cluster shop/storefront-bj5tsk7t55-3", "table map"),
    _subject(
        "explain-nowhere", "explain examples/cluster analytics/yearly-report --order input", "table map", 1
    ),
    _subject(
        "what-if", "explain examples/cluster analytics/yearly-report --what-if --release 1.27", "table map"
    ),
    _subject("upgrade", "upgrade examples/cluster --from 1.16 --to 1.27", "table", 1),
    _subject(
        "explain-node", "explain examples/cluster shop/orders-1 --node general-a1 --release 1.27", "", 1
    ),
    _subject("replay", "replay examples/day.yaml", "table map chart"),
    _subject("capacity", "capacity examples/cluster --pod examples/capacity/small-pod.yaml", "table map"),
    _subject("new-nodes", "capacity examples/cluster --add-node examples/capacity/big-node.yaml", "table"),
    _subject(
        "drain", "drain examples/cluster --auto --ignore-daemonsets --delete-emptydir-data", "table map"
    ),
    _subject("sweep", "sweep examples/sweep.yaml --jobs 1", "table"),
    _subject("policy-check", "policy check examples/policies/openshift-labels.json", ""),
)
LARGE = (
    _subject("compare-openb", f"compare {SOME} --a release=1.16 --b release=1.27", "table map", 1),
    _subject("explain-openb", f"explain {OPENB} openb/openb-pod-0100", "table map"),
    _subject("replay-openb", f"replay {SOME}", "table map chart", 1),
    _subject("simulate-openb", f"simulate {OPENB}", "table map chart", 1),
    _subject(
        "capacity-openb", f"capacity {OPENB} --pod examples/capacity/web.yaml --pending-first", "table map"
    ),
    _subject(
        "drain-openb",
        f"drain {OPENB} openb-node-0100 openb-node-0200 openb-node-0300 --recreate-bare --pending-first",
        "table map",
    ),
)
WITHOUT_FORM = ("replay", "policy")
"""Commands whose page is written beside their output alone."""
ALL = (*EXAMPLES, *LARGE)


@attrs.frozen
class Workshop:
    """Makes pages in a folder."""

    folder: object

    def page(self, subject, shared=None):
        """The HTML file of *subject*; *shared*: the folder of the larger data."""
        return self._made(subject, "html", shared)

    def record(self, subject, shared=None):
        """The output of the same command with ``-o json``."""
        return json.loads(self._made(subject, "json", shared).read_text())

    def _made(self, subject, form, shared):
        file = self.folder / f"{subject.name}.{form}"
        with self._alone():
            if not file.exists():
                given = (
                    {name: str(self._openb(shared, name)) for name in (OPENB, SOME)}
                    if shared is not None
                    else {}
                )
                words = [given.get(word, word) for word in subject.arguments]
                scratch = file.with_suffix(f".part.{form}")
                beside = ["--output", os.devnull, "--report", str(scratch)]
                with scratch.open("w") as stream, contextlib.redirect_stdout(stream):
                    status = run([*words, *(beside if words[0] in WITHOUT_FORM else ["-o", form])])
                assert status == subject.status, f"{' '.join(words)}: exit status {status}"
                scratch.rename(file)
        return file

    def _openb(self, shared, name):
        file = self.folder / f"{name.lower()}.json"
        data = shared / "data" / "openb"
        if not file.exists():
            found = manifests(data / "openb_node_list_all_node.csv", data / "openb_pod_list_gpuspec33.csv")
            pods = [item for item in found["items"] if item["kind"] == "Pod"]
            left_out = {item["metadata"]["name"] for item in pods[FIRST:]} if name == SOME else set()
            items = [item for item in found["items"] if item["metadata"]["name"] not in left_out]
            file.write_text(json.dumps({**found, "items": items}))
        return file

    @contextmanager
    def _alone(self):
        with open(self.folder / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
