"""What talks to others over HTTP: extenders, an API server, and those who ask us. Nothing in the rest of the package needs it.

The map:

* :mod:`.wire`: pods and nodes as JSON, field by field as the original writes them
* :mod:`.extenders`: HTTP extenders as a client calls them, recorded and replayed
* :mod:`.client`: kubeconfig, and requests to an API server
* :mod:`.informers`: list and watch, and the objects that result
* :mod:`.scheduler`: the live scheduler: cycles, bindings, conditions, events, leader election, metrics
* :mod:`.server`: a scheduler that others ask over HTTP: the extender server
"""
