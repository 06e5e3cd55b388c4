"""A dump like kubectl's of a real cluster: node pools, zones, ten pods per node, and pending pods of
applications in turn.

    python tests/bench/realdump.py --nodes 1000 dump.json

Objects have the fields that admission, controllers and kubelets add. Each is written from the text of its
template, which is made once, so that a dump of gigabytes takes seconds and no memory. The same size gives the
same dump.
"""

import copy
import hashlib
import json
import random
import sys
from functools import cached_property
from itertools import accumulate
from pathlib import Path

import attrs
import click
import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.support.admitted import admitted, letters

ZONES = ("europe-a", "europe-b", "europe-c")
PODS_A_NODE = 10
NAME = "@NAME@"
UID = "@UID@"
NODE = "@NODE@"
LETTERS = "@LETTERS@"
NUMBER = "@NUMBER@"
HIGH = "@HIGH@"
LOW = "@LOW@"
"""The marks in a template's text that each object replaces by its own values."""
TEMPLATES = Path(__file__).with_suffix(".yaml").read_text().split("---\n")
"""The templates of a node, a pod, its ReplicaSet and Service, and of some pods' further demands."""
TABLES = yaml.safe_load(TEMPLATES[5])
"""The sizes of pods, the pools of nodes, and ``wishes``: number below which (and not below the one before) an
application's number is, modulo 100 -> the demand of its pods."""


@attrs.frozen
class Pool:
    """Nodes of one kind."""

    number: int
    cores: int
    gibibytes: int
    share: int
    """The number of its nodes in a hundred."""

    @property
    def name(self):
        """The name in nodes' labels."""
        return f"pool-{self.number:02}"


POOLS = tuple(Pool(number, *kind) for number, kind in enumerate(TABLES["pools"]))
SPOT = POOLS[9]
GPU = POOLS[10]
TAINTS = {SPOT: TABLES["taints"]["spot"], GPU: TABLES["taints"]["gpu"]}


def made(number, words):
    """The template *number* with *words* in place of their marks."""
    text = TEMPLATES[number]
    for word, value in words.items():
        text = text.replace(f"@{word}@", str(value))
    return yaml.safe_load(text)


def node(pool, zone):
    """The template of the nodes of *pool* in *zone*."""
    memory = pool.gibibytes << 20
    amounts = {
        "CPU": f"{pool.cores * 1000 - 80}m",
        "CAPACITY": f"{memory - 400_000}Ki",
        "ALLOCATABLE": f"{memory - 1_800_000}Ki",
    }
    found = made(0, {"ZONE": zone, "POOL": pool.name, "CORES": pool.cores, **amounts})
    if pool in TAINTS:
        found["spec"]["taints"] = [TAINTS[pool]]
    if pool is GPU:
        for amounts_of in ("capacity", "allocatable"):
            found["status"][amounts_of]["nvidia.com/gpu"] = "8"
    lots = random.Random(pool.number)
    found["status"]["images"] = [_node_image(lots.randrange(400)) for _ in range(25)]
    return found


def _node_image(number):
    digest = hashlib.sha256(str(number).encode()).hexdigest()
    name = f"registry.example.com/team-{number % 17}/app-{number}@sha256:{digest}"
    return {"names": [name, _image(number)], "sizeBytes": 20_000_000 + number * 3_000_000}


def _image(number):
    return f"registry.example.com/team-{number % 17}/app-{number}:v1.{number % 30}.0"


@attrs.frozen(slots=False)
class App:
    """An application: a ReplicaSet, pods that are all alike, and for every second application a Service."""

    number: int
    waits: bool
    """Whether its pods have no nodes."""

    @cached_property
    def words(self):
        """Mark -> the value in its objects."""
        name = f"{'waiting' if self.waits else 'bound'}-app-{self.number:05}"
        code = f"{self.number * 7919 % 10**9:09}"
        lots = random.Random(name)
        owner = f"{name}-{code}"
        (cpu, memory), image = lots.choice(TABLES["sizes"]), lots.randrange(400)
        return {
            "APP": name,
            "HASH": code,
            "OWNER": owner,
            "NAMESPACE": f"team-{self.number % 60:02}",
            "SYSTEM": f"system-{self.number % 40}",
            "TIER": ("front", "back", "batch")[self.number % 3],
            "OWNER_UID": hashlib.sha256(owner.encode()).hexdigest()[:32],
            "CHECKSUM": hashlib.sha256(name.encode()).hexdigest(),
            "CPU": cpu,
            "MEMORY": memory,
            "IMAGE": _image(image),
        }

    @property
    def key(self):
        """Its namespace and its ReplicaSet, with which the keys of its pods begin."""
        return f"{self.words['NAMESPACE']}/{self.words['OWNER']}"

    @property
    def wish(self):
        """The name of its pods' further demand."""
        return next(wish for most, wish in TABLES["wishes"].items() if self.number % 100 < most)

    @cached_property
    def written(self):
        """The template of its pods, before admission."""
        found = made(1, self.words)
        found["spec"] |= made(4, self.words)[self.wish]
        return found

    def pod(self):
        """The template of its pods."""
        found = copy.deepcopy(self.written)
        if self.waits:
            del found["spec"]["nodeName"]
            found["status"] = {}
        return admitted(found, LETTERS, managed=False)

    def workload(self, replicas):
        """Its ReplicaSet and Service."""
        found = made(2, self.words)
        spec = {key: value for key, value in self.written["spec"].items() if key != "nodeName"}
        found["metadata"]["labels"] = labels = self.written["metadata"]["labels"]
        found["spec"] |= {"replicas": replicas, "template": {"metadata": {"labels": labels}, "spec": spec}}
        found["status"] = {"replicas": replicas}
        yield found
        if self.number % 2 == 0:
            yield made(3, self.words)


# --- the dump -----------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True, slots=False)
class RealDump:
    """The size of a dump."""

    nodes: int = 1000
    waiting: int = 10_000
    templates: int = 200
    """The number of pending pods' templates, which take turns."""
    packed: bool = False
    """Whether the dump is without kubectl's spaces."""

    def write(self, path):
        """Write the dump to *path*."""
        between, ends = (",", ("", "")) if self.packed else (",\n", ("\n", "\n    "))
        with path.open("w", buffering=1 << 22) as file:
            file.write(
                f'{{"apiVersion": "v1", "kind": "List", "metadata": {{"resourceVersion": ""}}, "items": [{ends[0]}'
            )
            for number, text in enumerate(self._texts()):
                file.write(between + text if number else text)
            file.write(f"{ends[1]}]}}\n")

    @cached_property
    def pools(self):
        """The pool of each node."""
        return random.Random(7).choices(POOLS, [pool.share for pool in POOLS], k=self.nodes)

    def node_name(self, number):
        """The name of node *number*."""
        return f"prod-{self.pools[number].name}-{letters(number * 7919)}"

    @property
    def last_pod(self):
        """The key of the last pending pod."""
        app = App((self.waiting - 1) % self.templates, waits=True)
        return f"{app.key}-{_pod_letters(self.waiting - 1)}"

    def _texts(self):
        """The texts of all objects."""
        apps = [App(number, waits=False) for number in range(max(200, self.nodes // 10 * PODS_A_NODE // 10))]
        waiting = [App(number, waits=True) for number in range(self.templates)]
        yield from self._node_texts()
        for group, pods in ((apps, self.nodes * PODS_A_NODE), (waiting, self.waiting)):
            for app in group:
                yield from map(self._text, app.workload(pods // len(group)))
        yield from self._pod_texts(apps, self.nodes * PODS_A_NODE, self._hosts())
        yield from self._pod_texts(waiting, self.waiting, None)

    def _node_texts(self):
        zoned = {(pool, zone): self._text(node(pool, zone)) for pool in POOLS for zone in ZONES}
        for number, pool in enumerate(self.pools):
            yield _filled(zoned[pool, ZONES[number % len(ZONES)]], number, {NAME: self.node_name(number)})

    def _pod_texts(self, apps, count, hosts):
        texts = [self._text(app.pod()) for app in apps]
        for number in range(count):
            app = apps[number % len(apps)]
            words = {LETTERS: _pod_letters(number)}
            if hosts is not None:
                plain, spot = next(hosts)
                words[NODE] = spot if app.wish == "on spot" else plain
            yield _filled(texts[number % len(apps)], number + 10**8 * (1 + app.waits), words)

    def _hosts(self):
        """For each bound pod in turn: a node without taints, and a spot node, both drawn with their cores as
        weights."""
        lots = random.Random(11)
        numbers = range(self.nodes)
        plain = [number for number in numbers if self.pools[number] not in TAINTS]
        spot = [number for number in numbers if self.pools[number] is SPOT] or plain
        sums = [list(accumulate(self.pools[number].cores for number in among)) for among in (plain, spot)]
        while True:
            one, other = (
                lots.choices(among, cum_weights=cores)[0]
                for among, cores in zip((plain, spot), sums, strict=True)
            )
            yield self.node_name(one), self.node_name(other)

    def _text(self, item):
        if self.packed:
            return json.dumps(item, separators=(",", ":"))
        return " " * 8 + json.dumps(item, indent=4, sort_keys=True).replace("\n", "\n" + " " * 8)


def _pod_letters(number):
    return letters(number * 104_729)


def _filled(text, number, words):
    """The text of a template with the values of its object *number*."""
    uid = f"{number:08x}-0000-4000-8000-{number * 2654435761 % 2**48:012x}"
    own = {
        **words,
        UID: uid,
        NUMBER: str(10**7 + number),
        HIGH: str(number >> 8 & 255),
        LOW: str(number & 255),
    }
    for mark, value in own.items():
        text = text.replace(mark, value)
    return text


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--nodes", default=RealDump().nodes, show_default=True)
@click.option("--waiting", default=RealDump().waiting, show_default=True, help="Pods that wait.")
@click.option("--templates", default=RealDump().templates, show_default=True, help="Of the pods that wait.")
@click.option("--packed", is_flag=True, help="Without kubectl's spaces.")
def main(path, **size):
    """Write a dump to PATH."""
    RealDump(**size).write(path)


if __name__ == "__main__":
    main()
