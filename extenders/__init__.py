"""HTTP extenders as a client calls them: over HTTP, recorded and replayed, or by a script.

* :mod:`.extender`: the calls, and what replies mean
* :mod:`.bodies`: the JSON that is sent
* :mod:`.overhttp`: how a request reaches an extender; with it, :mod:`.recorded` and :mod:`.scripted`
* :mod:`.choice`: from a configuration to its extenders
"""
