// Changes of the cluster: edits in words, new nodes, and what can be done to the chosen node or pod.
import { Form } from "./forms.js";
const { make } = kubeclassic;

export class Cluster {
  constructor(lab) {
    this.lab = lab;
    this.place = document.getElementById("cluster");
    this.text = make("textarea", { rows: 2, spellcheck: "false", placeholder: "pod web/* requests.cpu=500m", "aria-describedby": "edit-help",
      onkeydown: (event) => { if (event.key === "Enter" && !event.shiftKey) { event.preventDefault(); this.send(); } } });
    this.like = make("select", {});
    this.count = make("input", { type: "number", min: 1, max: 5000, value: 1, "aria-label": "How many" });
    this.fresh = { "cpu of a pod": make("input", { value: "500m" }), Memory: make("input", { value: "512Mi" }), "How many": make("input", { type: "number", min: 1, max: 5000, value: 1 }) };
    this.chosen = make("div", { class: "chosen" });
    this.edits = make("ul", { class: "edits" });
    this.place.append(
      this.chosen,
      make("label", {}, "Edit pods, nodes or workloads in words", this.text),
      make("p", { class: "fault", "data-field": "edit", hidden: true }),
      make("div", { class: "line" }, make("button", { type: "button", onclick: () => this.send() }, "Edit in words"),
        make("small", { id: "edit-help", class: "soft" }, "KIND SELECTOR CHANGE..., as --set takes it: 'node pool=a taints-=x', 'pod shop/web-0 priority=100'")),
      make("div", { class: "line" }, make("label", { class: "grow" }, "Add nodes like", this.like), this.count,
        make("button", { type: "button", onclick: () => lab.act({ do: "copy", node: this.like.value, count: Number(this.count.value) }) }, "Add")),
      make("p", { class: "fault", "data-field": "copy", hidden: true }),
      make("form", { class: "line", "aria-label": "Add pods", onsubmit: (event) => { event.preventDefault(); this.add(); } },
        Object.entries(this.fresh).map(([title, input]) => make("label", { class: "grow" }, title, input)), make("button", { type: "submit" }, "Add pods")),
      make("p", { class: "fault", "data-field": "add", hidden: true }),
      make("p", { class: "fault", "data-field": "node", hidden: true }),
      this.edits,
    );
  }

  /** Adds pods of a new workload. */
  async add() {
    const [cpu, memory, count] = Object.values(this.fresh).map((input) => input.value.trim()), { pods } = this.lab.state;
    const name = `added-${pods.length + 1}`, labels = { app: name };
    const spec = { containers: [{ name: "main", resources: { requests: { ...(cpu && { cpu }), ...(memory && { memory }) } } }] };
    await this.lab.act({ do: "add", manifest: { apiVersion: "apps/v1", kind: "Deployment", metadata: { name, namespace: "default" },
      spec: { replicas: Number(count), selector: { matchLabels: labels }, template: { metadata: { labels }, spec } } } });
  }

  async send() {
    const text = this.text.value.trim();
    if (!text) return;
    if (await this.lab.act({ do: "edit", text })) this.text.value = "";
  }

  show() {
    const { lab } = this, { plot } = lab.model, { edits, pods } = lab.state;
    if (this.plotNumber !== plot.number) {
      this.plotNumber = plot.number;
      const names = plot.nodes.map((node) => node[0]), now = this.like.value;
      this.like.replaceChildren(...names.map((name) => make("option", { value: name }, name)));
      if (names.includes(now)) this.like.value = now;
    }
    const act = (action) => () => lab.act(action);
    const lines = [
      ...edits.map((text, at) => ({ text, undo: { do: "unedit", at } })),
      ...pods.map(({ metadata, spec }, at) => ({ text: `${spec.replicas} of ${metadata.name}`, undo: { do: "unadd", at } })),
    ];
    this.edits.replaceChildren(...lines.map(({ text, undo }) => make("li", {}, make("code", {}, text),
      make("button", { type: "button", "aria-label": `Take back: ${text}`, onclick: act(undo) }, "×"))));
    document.getElementById("edited").textContent = lines.length ? `${lines.length} ${lines.length === 1 ? "change" : "changes"}` : "";
    this.showChosen();
  }

  /** The form of a pod or a node, folded until it is asked for. */
  form(kind, name) {
    const form = new Form(this.lab, kind, name), open = this.open?.has(kind) ?? false;
    const sheet = make("details", { class: "opener", open, ontoggle: () => {
      this.open = this.open ?? new Set();
      if (sheet.open) { this.open.add(kind); if (!form.found) form.load(); } else this.open.delete(kind);
    } }, make("summary", {}, `Edit this ${kind}`), form.root);
    return sheet;
  }

  showChosen() {
    const { lab } = this, { pod, node } = lab.chosen, made = [], key = JSON.stringify([pod, node, lab.states.now.number]);
    if (key === this.shownKey) return;
    this.shownKey = key;
    const button = (text, act) => make("button", { type: "button", onclick: act }, text);
    if (node !== null) {
      const at = lab.model.plot.nodeAt.get(node), isCordoned = at !== undefined && lab.model.plot.nodes[at][4];
      made.push(make("div", { class: "line" }, make("b", { class: "name" }, node),
        button(isCordoned ? "Uncordon" : "Cordon", () => lab.act({ do: isCordoned ? "uncordon" : "cordon", node })),
        button("Drain", () => lab.act({ do: "drain", node })), button("Add one like it", () => lab.act({ do: "copy", node, count: 1 })), this.form("node", node)));
    }
    if (pod !== null) made.push(make("div", { class: "line" }, make("b", { class: "name" }, pod), button("Delete", () => lab.act({ do: "delete", pod })), this.form("pod", pod)));
    this.chosen.replaceChildren(...made);
  }
}
