"""In what two releases of the framework differ, beside the cells that all releases have. See :mod:`kubeclassic.core.release.release`.

The values are in ``framework/releases.py``. A cell that a release does not name is as in 1.27. A cell says what it means in words that
``releases`` shows: a statement where it is yes or no, else a subject of which the value says how it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

import attrs

T = TypeVar("T")


def cell(words: str, default: T) -> T:
    """A field of a class of cells: what it means in *words*, and its value in 1.27."""
    field: T = attrs.field(default=default, metadata={"words": words})
    return field


def words_of(cells: Any) -> Iterator[tuple[str, str]]:
    """The name and the words of each cell of the class or value *cells*."""
    return ((field.name, field.metadata["words"]) for field in attrs.fields(cells if isinstance(cells, type) else type(cells)))


@attrs.frozen(kw_only=True, repr=False)
class FrameworkCells:
    """How a release of the framework decides."""

    # --- the search -------------------------------------------------------------------------------------------------
    outside_text: str | None = cell(
        "the reason of a node outside those that a PreFilter plugin names (none: it has no status)",
        "node is filtered out by the prefilter result",
    )
    counts_outside: bool = cell(
        "nodes outside those of a PreFilter plugin count where the next search starts; nodes without a status may be preempted on", True
    )
    index_of_all_nodes: bool = cell("the next search starts at a place among all nodes (no: among those of PreFilter)", False)
    narrowing_rejects: bool = cell("a plugin whose PreFilter leaves out nodes is among those that reject the pod", False)
    rejection_ends_pre_filter: bool = cell(
        "PreFilter ends with the first plugin that rejects the pod (no: only if removing pods cannot help; else the last one counts)", True
    )
    disjoint_is_unresolvable: bool = cell("removing pods cannot help where PreFilter plugins together leave no node", False)
    disjoint_sorts_plugins: bool = cell("the message then names the plugins in ascending order (no: in running order)", False)
    one_is_enough: bool = cell("without score plugins and extenders a search ends at the first node that fits", False)
    extender_replaces_reasons: bool = cell("a node that an extender rejects has the extender's reason alone", False)
    post_filter_full_stop: bool = cell("a full stop is added after the message of PostFilter, even if it has one", True)
    fit_errors_after: frozenset[str] = cell(
        "the steps after a decision at which a rejection reads like that of a cluster of one node", frozenset()
    )
    # --- scores -----------------------------------------------------------------------------------------------------
    skips_scoring: frozenset[str] = cell("the plugins that give no score where each node would get the same", frozenset())
    counts_images_late: bool = cell(
        "nodes that have an image are counted whenever a node's snapshot is taken (no: when the node was added or updated)", False
    )
    init_images_count: bool = cell("images of init containers count, as do those containers where sizes are scaled", False)
    points_lacked: frozenset[tuple[str, str]] = cell(
        "the extension points at which a plugin does not run, though later it does",
        frozenset(
            [
                ("VolumeBinding", "preScore"),
                *((f"{kind}Limits", "preFilter") for kind in ("AzureDisk", "Cinder", "EBS", "GCEPD", "NodeVolume")),
            ]
        ),
    )
    # --- requests ---------------------------------------------------------------------------------------------------
    rejects_sidecars: str = cell("where NodeResourcesFit rejects pods with sidecars without gate SidecarContainers", "")
    sidecars_have_ports: bool = cell("host ports of sidecars count (no: only those of containers)", False)
    fit_checks_requested: bool = cell(
        "NodeResourcesFit looks at what the pod requests alone (no: if it requests anything, at all native resources)", False
    )
    too_small_is_unresolvable: bool = cell("removing pods cannot help on a node that is too small even when it is empty", False)
    fit_scores_containers: bool = cell(
        "NodeResourcesFit scores a pod by its containers' requests in the spec (no: also by its status, and those of the pod as a whole)",
        False,
    )
    keeps_namespace_selectors: bool = cell(
        "a namespaceSelector of the incoming pod that a namespace without labels matches takes in every namespace", False
    )
    constraints_text: str = cell("the beginning of PodTopologySpread's error for a pod with an invalid selector", "")
    counts_apart: bool = cell("topology spread constraints of one key each count their own pods (no: their counts are added up)", False)
    # --- preemption -------------------------------------------------------------------------------------------------
    sorts_victims_again: bool = cell(
        "victims are sorted by importance at the end (no: those that violate a disruption budget come first)", False
    )
    waits_for_preempted_alone: bool = cell(
        "a pod waits for one that leaves its nominated node only if that was preempted (no: with gate PodDisruptionConditions)", False
    )
    leaving_victims_keep_nominations: bool = cell(
        "with gate SchedulerAsyncPreemption lower nominations of a node stay where all victims are being deleted already", False
    )
    # --- volumes ----------------------------------------------------------------------------------------------------
    narrows_to_local_volumes: bool = cell("VolumeBinding leaves only the nodes that local volumes name (no: it looks at every node)", True)
    volume_node_text: str = cell(
        "the reason of a node from which a bound volume cannot be reached", "node(s) had volume node affinity conflict"
    )
    zone_labels_match: bool = cell("VolumeZone reads the newer zone label of a node that lacks the beta label of the volume", False)
    idle_restrictions_skip: bool = cell(
        "VolumeRestrictions does not count nominated pods where no pod on a node uses a ReadWriteOncePod claim of the pod", False
    )
    sole_user_text: str = cell(
        "the reason of a node while another pod uses the pod's ReadWriteOncePod claim",
        "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode",
    )
    # --- texts ------------------------------------------------------------------------------------------------------
    faults_list_operators: bool = cell("the fault of an unknown operator of node affinity lists the known ones", False)
    faults_as_json: bool = cell("lists in faults of fields are shown as JSON (no: as Go writes them)", False)
