"""A small API server in process, for tests. It judges nothing: it stores objects and answers as the recorded
servers do.

The map:

* :mod:`.store`: requests in, answers out; pure and synchronous; what the verbs do
* :mod:`.storage`: the objects, their revisions, what changed, and those who follow
* :mod:`.forms`: what happens to objects: defaults, refusals, patches
* :mod:`.resources`: which resources a version has, and in what the versions differ
* :mod:`.transport`: the server as a transport of ``kubeclassic.live``, with faults; :mod:`.app`: over HTTP
* :mod:`.cluster`: nodes, pods, and what kubelets would do
* :mod:`.watcher`: an independent count of pods bound twice, lost, or over capacity
"""

from .answers import Answer
from .app import make_app, serving, serving_store
from .cluster import Kubelets, Refused, User, node_manifest, pod_manifest
from .resources import FLAVOURS, NEW_SERVER, NEWEST_SERVER, OLD, OLD_SERVER
from .storage import Change, Storage, Watch, event
from .store import Store
from .transport import NO_FAULT, Fault, StoreTransport, refused, timed_out
from .watcher import Load, Watcher, amounts, requests

__all__ = [
    "FLAVOURS",
    "NEWEST_SERVER",
    "NEW_SERVER",
    "NO_FAULT",
    "OLD",
    "OLD_SERVER",
    "Answer",
    "Change",
    "Fault",
    "Kubelets",
    "Load",
    "Refused",
    "Storage",
    "Store",
    "StoreTransport",
    "User",
    "Watch",
    "Watcher",
    "amounts",
    "event",
    "make_app",
    "node_manifest",
    "pod_manifest",
    "refused",
    "requests",
    "serving",
    "serving_store",
    "timed_out",
]
