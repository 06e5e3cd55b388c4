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
      make("p", { class: "fault", "data-field": "node", hidden: true }),
      this.edits,
    );
  }

  async send() {
    const text = this.text.value.trim();
    if (!text) return;
    if (await this.lab.act({ do: "edit", text })) this.text.value = "";
  }

  show(session, plot) {
    if (this.plotNumber !== plot.number) {
      this.plotNumber = plot.number;
      const names = plot.nodes.map((node) => node[0]), now = this.like.value;
      this.like.replaceChildren(...names.map((name) => make("option", { value: name }, name)));
      if (names.includes(now)) this.like.value = now;
    }
    const act = (action) => () => this.lab.act(action);
    const lines = [
      ...session.edits.map((text, at) => ({ text, undo: { do: "unedit", at } })),
      ...session.copies.map(({ like, count }) => ({ text: `${count} more like ${like}`, undo: { do: "uncopy", node: like } })),
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
    const { lab } = this, { pod, node } = lab.chosen, made = [], key = JSON.stringify([pod, node, lab.model.session?.number]);
    if (key === this.shownKey) return;
    this.shownKey = key;
    const button = (text, act) => make("button", { type: "button", onclick: act }, text);
    if (node !== null) {
      const at = lab.model.plot.nodeAt.get(node), isCordoned = at !== undefined && lab.model.plot.nodes[at][4];
      made.push(make("div", { class: "line" }, make("b", { class: "name" }, node),
        button(isCordoned ? "Uncordon" : "Cordon", () => lab.act({ do: isCordoned ? "uncordon" : "cordon", node })),
        button("Drain", () => lab.act({ do: "drain", node })), button("Add one like it", () => lab.act({ do: "copy", node, count: 1 })), this.form("node", node)));
    }
    if (pod !== null) made.push(make("div", { class: "line" }, make("b", { class: "name" }, pod), this.form("pod", pod)));
    this.chosen.replaceChildren(...made);
  }
}
