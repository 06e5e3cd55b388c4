"""The engine of every release: the cluster as arrays, and the scheduling cycle. It gets its rules from
outside and imports none.

The map:

* :mod:`.release`: the cells of a release
* :mod:`.pods`: a pod as rules see it: template, requests, claims
* :mod:`.arrays`: the node table, its columns and changes, the census of pods and of affinity terms, batches,
  overlays, and the answer of a predicate
* :mod:`.binding`: the interface of the volume binder
* :mod:`.cluster`: the cache of nodes and pods, the visiting order, the snapshot, listings and nominations
* :mod:`.cycle`: predicates, priorities, and one scheduling cycle as they see it
* :mod:`.queue`: the scheduling queues of 1.12 to 1.16, the base of the framework's, and the clock
* :mod:`.matching`: selectors of nodes, pods and namespaces, owners, topology domains
* :mod:`.decision`: the steps of a cycle, and its decision
* :mod:`.incremental`: cached answers, boards and the quick path
* :mod:`.volumes`: the volume binder
* :mod:`.preemption`: the pods that have to leave
* :mod:`.equivalence`: the equivalence cache of 1.12 and 1.13
* :mod:`.bindingcycle`: the interface of the binding cycle
* :mod:`.engine`: one scheduler; its docstring and ``schedule`` are the best place to start
* :mod:`.run`, :mod:`.router`: objects in, and cycle after cycle; events to the engine and the queue
* :mod:`.classic`: the flow of 1.12 to 1.16; the framework's is in ``framework/flow.py``

Reading order: ``arrays/failures``, ``arrays/batch``, ``cycle``, then a pod's way: ``engine``, ``classic``,
``decision/verdict``, ``decision/score``, ``run``. Last ``incremental``, whose docstring explains how answers
are cached.

Imports: release, bindingcycle < pods < arrays < cluster, binding < cycle < queue < matching, decision <
incremental, volumes, preemption, equivalence < engine < run < router < classic.
"""
