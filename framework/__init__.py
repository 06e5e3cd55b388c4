"""The scheduling framework of 1.17 to 1.36, the successor of predicates and priorities: plugins in profiles,
on the arrays and the engine of core.

The map:

* :mod:`.plugin`: what a plugin is, its answers, and its methods by extension point
* :mod:`.plugins`: the default plugins; :mod:`.registry`: the plugins that a profile may name
* :mod:`.config`: the component configuration, its defaults, gates and validation
* :mod:`.releases`: the cells of each release
* :mod:`.profile`: the constructed plugins of a profile; its Filter and Score as predicates and priorities
* :mod:`.cycle`: the steps of a cycle, from PreFilter to binding
* :mod:`.flow`: the steps in order, for :class:`~kubeclassic.core.engine.Engine`
* :mod:`.queue`: the scheduling queue and the events that move its pods
* :mod:`.schedulerspec`: from a configuration to an engine, for every release
* :mod:`.migrate`: from a Policy to a profile

A pod's way, in reading order: ``queue/queue``, ``flow``, ``cycle/feasible``, ``cycle/score``; if the pod fits
nowhere ``cycle/postfilter``, ``cycle/preemption``; at the end ``cycle/binding``.
"""
