"""The scheduler's cache and its snapshot, written down as plainly as they can be: every question by a search,
every snapshot a copy."""


class Refused(Exception):
    """A transition that is refused, with the words."""


class NaiveCache:
    """Pods by UID as (state, pod as told, deadline); nodes by name as [node, pods]."""

    def __init__(self, keeps_nodeless):
        self.keeps_nodeless = keeps_nodeless
        self.state = {}
        self.told = {}
        self.deadline = {}
        self.nodes = {}
        self.pods = {}
        self.snapshot = {}

    def put(self, pod):
        """A pod comes to its node."""
        self.nodes.setdefault(pod.spec.node_name, None)
        self.pods.setdefault(pod.spec.node_name, []).append(pod)

    def take(self, uid):
        """A pod leaves its node: the last one takes its place."""
        name = self.told[uid].spec.node_name
        lying = self.pods[name]
        i = [pod.uid for pod in lying].index(uid)
        last = lying.pop()
        if i < len(lying):
            lying[i] = last
        self.drop_empty(name)

    def drop_empty(self, name):
        """Forget a name with neither node nor pods."""
        if self.nodes[name] is None and not self.pods.get(name):
            del self.nodes[name]
            self.pods.pop(name, None)

    def know(self, pod, state):
        """Note what was told of a pod."""
        self.state[pod.uid], self.told[pod.uid] = state, pod
        self.deadline.pop(pod.uid, None)

    def lose(self, uid):
        """A pod is gone."""
        self.take(uid)
        del self.state[uid], self.told[uid]
        self.deadline.pop(uid, None)

    def assume(self, pod):
        """AssumePod."""
        if pod.uid in self.state:
            raise Refused(f"pod {pod.uid} is in the cache, so can't be assumed")
        self.put(pod)
        self.know(pod, "assumed")

    def finish(self, pod, now):
        """FinishBinding."""
        if self.state.get(pod.uid) == "assumed":
            self.deadline[pod.uid] = now + 30

    def forget(self, pod):
        """ForgetPod."""
        if pod.uid in self.told and self.told[pod.uid].spec.node_name != pod.spec.node_name:
            there = self.told[pod.uid].spec.node_name
            raise Refused(f"pod {pod.uid} was assumed on {pod.spec.node_name} but assigned to {there}")
        if self.state.get(pod.uid) != "assumed":
            raise Refused(f"pod {pod.uid} wasn't assumed so cannot be forgotten")
        self.lose(pod.uid)

    def add(self, pod):
        """AddPod."""
        state = self.state.get(pod.uid)
        if state == "added":
            raise Refused(f"pod {pod.uid} was already in added state")
        if state is None:
            self.put(pod)
        elif self.told[pod.uid].spec.node_name != pod.spec.node_name:
            self.take(pod.uid)
            self.put(pod)
        self.know(pod, "added")

    def update(self, pod):
        """UpdatePod."""
        if self.state.get(pod.uid) != "added":
            raise Refused(f"pod {pod.uid} is not added to scheduler cache, so cannot be updated")
        if self.told[pod.uid].spec.node_name != pod.spec.node_name:
            raise Refused(f"pod {pod.uid} updated on a different node than previously added to")
        self.take(pod.uid)
        self.put(pod)
        self.know(pod, "added")

    def remove(self, pod):
        """RemovePod."""
        if self.state.get(pod.uid) != "added":
            raise Refused(f"pod {pod.uid} is not found in scheduler cache, so cannot be removed from it")
        there = self.told[pod.uid].spec.node_name
        if there != pod.spec.node_name:
            raise Refused(f"pod {pod.uid} was assumed to be on {pod.spec.node_name} but got added to {there}")
        self.lose(pod.uid)

    def expire(self, now):
        """The sweep; who expired."""
        late = {uid for uid, deadline in self.deadline.items() if now > deadline}
        for uid in [uid for uid in self.state if uid in late]:
            self.lose(uid)
        return late

    def put_node(self, node):
        """AddNode and UpdateNode."""
        self.nodes[node.name] = node
        self.pods.setdefault(node.name, [])

    def remove_node(self, name):
        """RemoveNode."""
        if name not in self.nodes:
            raise Refused(f"node {name} is not found")
        self.nodes[name] = None
        self.drop_empty(name)

    def refresh(self):
        """Take a snapshot."""
        copies = {
            name: (node, list(self.pods[name]))
            for name, node in self.nodes.items()
            if self.keeps_nodeless or node is not None
        }
        if self.keeps_nodeless:
            self.snapshot = copies
            return
        self.snapshot |= copies
        if len(self.snapshot) > len(self.nodes):
            self.snapshot = {name: kept for name, kept in self.snapshot.items() if name in self.nodes}
