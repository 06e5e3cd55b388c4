"""The faults of new workloads that their fields have together: selector and labels, and how pods restart.

Upstream: pkg/apis/{apps,batch,core}/validation
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from ...exceptions import ManifestError
from ..meaning import SelectorError, compile_selector
from ..objects import JsonObject, LabelSelector
from ..reading import shown
from .ownership import Workload, read_workload

_WITHOUT_DEFAULT = ("apps/v1", "apps/v1beta2")
"""Versions of the API that ask for a selector."""


def workload_faults(document: JsonObject) -> Iterator[str]:
    """The faults of the new workload in *document*, each with its path; parts that cannot be read have none.

    Without an apiVersion it may leave out what only some versions ask for.
    """
    with suppress(ManifestError, SelectorError):
        inner = document
        path = "spec"
        if document.get("kind") == "CronJob":
            path = "spec.jobTemplate.spec"
            inner = {
                "kind": "Job",
                "spec": (read_workload(document).spec.job_template or {}).get("spec") or {},
            }
        workload = read_workload(inner)
        version = document.get("apiVersion")
        if workload.kind == "Job":
            yield from _of_job(workload, inner, path)
        elif not workload.selector and version in _WITHOUT_DEFAULT:
            yield f"{path}.selector: expected one, got nothing"
        elif workload.selector == LabelSelector() and workload.kind != "ReplicationController":
            yield f"{path}.selector: expected one that some pods lack, got an empty one"
        if workload.spec.template is not None:
            yield from _of_template(workload, workload.spec.template, bool(version), f"{path}.template")


def _of_job(job: Workload, document: JsonObject, path: str) -> Iterator[str]:
    if job.selector and not document["spec"].get("manualSelector"):
        yield f"{path}.selector: expected none without manualSelector, got one"
    # A Job that says neither has one completion, but not one of a CronJob.
    has_default = job.spec.parallelism is None and "metadata" in document
    if job.spec.completion_mode == "Indexed" and job.spec.completions is None and not has_default:
        yield f"{path}.completions: expected a number of a Job that is Indexed, got nothing"


def _of_template(workload: Workload, template: JsonObject, has_version: bool, path: str) -> Iterator[str]:
    kind = workload.kind
    labels = workload.pod(strict=False).labels
    if workload.selector and not compile_selector(workload.selector)(labels):
        got = ", ".join(f"{key}={value}" for key, value in labels.items()) or "none"
        yield f"{path}.metadata.labels: expected some that the selector matches, got {got}"
    policy = (template.get("spec") or {}).get("restartPolicy")
    allowed = ("OnFailure", "Never") if kind == "Job" else ("Always",)
    if policy not in allowed and (policy or (kind == "Job" and has_version)):
        got = shown(policy) if policy else "nothing"
        yield f"{path}.spec.restartPolicy: expected {' or '.join(allowed)}, got {got}"
