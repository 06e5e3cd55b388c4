"""``kubeclassic explain --what-if`` and ``--want``: text, forms, exit statuses, and what is refused."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Ran, tried
from tests.conftest import ROOT
from tests.support.schemas import faults
from tests.support.whatifbuild import node, pod, taint

EXAMPLE = str(ROOT / "examples" / "cluster")
REPORT = "analytics/yearly-report"


@pytest.fixture
def told() -> Ran:
    """Runs explain; exit status, standard output, standard error."""
    return lambda *words: tried("explain", *words)


def written(folder: Path, *items: Any) -> str:
    """A file with these objects."""
    path = folder / "cluster.json"
    path.write_text(json.dumps(items))
    return str(path)


class TestText:
    def test_what_helps(self, told: Ran) -> None:
        """Groups of changes, numbered, each with its edit as a shell takes it."""
        status, out, _ = told(EXAMPLE, REPORT, "--what-if", "--order", "priority")
        lines = out.splitlines()
        assert (status, lines[0]) == (0, f"{REPORT}: <none>")
        assert lines[3:6] == [
            "Change the pod:",
            "  1. Lower the request of memory from 40Gi to 28544Mi -> gpu-b1",
            f"     --set 'pod {REPORT} requests.memory=28544Mi'",
        ]
        assert "Change a node:" in lines
        assert any(line.startswith("(each was tried, as the cluster is when it is the pod's turn; ") for line in lines)
        assert lines[-1] == "3 pods are judged without their sidecars: 1.16 does not know them."

    def test_who_takes_its_place(self, told: Ran) -> None:
        """A change after which the pod has to leave again says so."""
        assert "-> gpu-b1, until kube-system/node-agent-gpu-b1 takes its place" in told(EXAMPLE, REPORT, "--what-if")[1]

    def test_who_has_to_leave(self, told: Ran, tmp_path: Path) -> None:
        """A higher priority says whom it evicts."""
        path = written(tmp_path, node("a"), pod("other", 900, nodeName="a"), pod("asked", 900))
        status, out, _ = told(path, "asked", "--what-if")
        assert (status, "Raise the priority from 0 to 1 -> a; default/other would have to leave" in out) == (0, True)

    def test_nothing_to_change(self, told: Ran) -> None:
        """A pod that gets a node needs no change, and one that gets the wanted node neither."""
        status, out, _ = told(EXAMPLE, "shop/orders-1", "--what-if")
        assert (status, out.splitlines()[:2]) == (
            0, ["shop/orders-1: database-c1", "It gets database-c1 as it is, so nothing has to change."]
        )  # fmt: skip
        assert told(EXAMPLE, "shop/orders-1", "--want", "database-c1")[0] == 0

    def test_nothing_helps(self, told: Ran) -> None:
        """Where no single change helps it says so, with exit status 1."""
        status, out, _ = told(EXAMPLE, "shop/orders-1", "--want", "general-a1")
        assert status == 1
        assert "No change helps, nor do two together: " in out
        assert "general-a1 does not fit: " in out
        assert "more would do (needs 4, free " in out

    def test_what_keeps_it_from_a_node(self, told: Ran, tmp_path: Path) -> None:
        """A node that fits has lost by a rule, has lost the draw, or was not reached."""
        out = told(EXAMPLE, "shop/cache-wkw9cj5hqm-0", "--want", "general-c1")[1]
        assert "general-c1 fits, but general-b1 is better by: LeastRequested, 6 against 7." in out
        out = told(EXAMPLE, "shop/orders-1", "--want", "database-a1")[1]
        assert "database-a1 fits and is as good as database-c1, which was taken of the best." in out
        path = written(tmp_path, *(node(f"n{number:03}") for number in range(120)), pod("asked"))
        out = told(path, "asked", "--want", "n119", "--percentage-of-nodes-to-score", "10")[1]
        assert "n119 fits, but the search had found enough nodes before it came there." in out

    def test_all_about_the_node(self, told: Ran) -> None:
        """-o wide has every rule's verdict on the wanted node."""
        out = told(EXAMPLE, "deploy/storefront", "--want", "gpu-b1", "-o", "wide")[1]
        assert "PREDICATE" in out
        assert "Tolerate the taint nvidia.com/gpu=present:NoSchedule, and select gpu-b1 by its hostname -> gpu-b1" in out

    def test_a_pod_that_is_passed_over(self, told: Ran, tmp_path: Path) -> None:
        """A pod that no scheduler looks at is told why; nothing is tried."""
        path = written(tmp_path, node("a"), {**pod("asked"), "status": {"phase": "Succeeded"}})
        status, out, _ = told(path, "asked", "--what-if")
        assert status == 1
        assert out == "default/asked: <none>\nNot scheduled: it has finished (phase Succeeded), so no scheduler looks at it any more.\n"

    def test_edits_come_first(self, told: Ran) -> None:
        """What --what-if prints can be given back with --set."""
        status, out, _ = told(EXAMPLE, REPORT, "--what-if", "--order", "priority", "--set", f"pod {REPORT} requests.memory=28544Mi")
        assert (status, out.splitlines()[0]) == (0, f"{REPORT}: gpu-b1")


class TestForms:
    @pytest.mark.parametrize("release", ["1.12", "1.16", "1.27"])
    @pytest.mark.parametrize(
        "words",
        [
            (REPORT, "--what-if"), ("shop/orders-1", "--what-if"), ("shop/orders-1", "--want", "general-a1"),
            ("shop/cache-wkw9cj5hqm-0", "--want", "general-c1", "--all"), ("deploy/storefront", "--want", "gpu-b1"),
        ],
    )  # fmt: skip
    def test_json_is_as_the_schema_says(self, told: Ran, release: str, words: tuple[str, ...]) -> None:
        """The document has the fields of the schema, no others, and at least those that scripts go by."""
        _, out, _ = told(EXAMPLE, *words, "--release", release, "-o", "json")
        found = json.loads(out)
        assert faults("what-if", found) == []
        for one in found["suggestions"]:
            assert {"change", "patch", "host"} <= set(one)

    def test_csv(self, told: Ran) -> None:
        """CSV has one line a suggestion."""
        document = json.loads(told(EXAMPLE, REPORT, "--what-if", "-o", "json")[1])
        rows = list(csv.DictReader(io.StringIO(told(EXAMPLE, REPORT, "--what-if", "-o", "csv")[1])))
        assert [row["change"] for row in rows] == [one["change"] for one in document["suggestions"]]
        assert rows[0]["evictedBy"] == "kube-system/node-agent-gpu-b1"

    def test_all_that_helps(self, told: Ran, tmp_path: Path) -> None:
        """Three of a kind, or with --all every one."""
        nodes = [node(f"n{number}", taints=[taint(("k", str(number), "NoSchedule"))]) for number in range(5)]
        path = written(tmp_path, *nodes, pod("asked"))
        some, every = (json.loads(told(path, "asked", "--what-if", "-o", "json", *more)[1])["suggestions"] for more in ((), ("--all",)))
        assert [sum(one["kind"] == "taint" for one in found) for found in (some, every)] == [3, 5]
