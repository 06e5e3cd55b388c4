"""Traffic over HTTP: with an API server, and with callers. Nothing in the rest of the package needs it.

The map:

* :mod:`.client`: kubeconfig, and requests to an API server
* :mod:`.informers`: list and watch, and the objects that result
* :mod:`.scheduler`: the live scheduler: cycles, bindings, conditions, preemption; leader election, events,
  flags and configuration; and a shadow, which writes nothing
* :mod:`.snapshot`, :mod:`.renaming`: a live cluster as a file, and with other names
* :mod:`.process`: all of it together, from the start to the end of a process; metrics and log lines
* :mod:`.settings`: the table of flags
* :mod:`.server`: a scheduler that others ask over HTTP: the extender server
"""
