// The three lists under the map: what changed, all pods, all nodes.
import { List } from "./list.js";
import { WORDS } from "./model.js";
const { format } = kubeclassic;

const amount = (resource, value) => (resource.unit === "bytes" ? format.bytes(value) : resource.unit === "millicores" ? format.cores(value) : format.count(value));

export class Lists {
  constructor(lab) {
    this.lab = lab;
    this.place = document.getElementById("list");
    this.tabs = ["pods", "changes", "nodes"].map((name) => document.getElementById(`tab-${name}`));
    this.tabs.forEach((tab, at) => {
      tab.addEventListener("click", () => this.open(at));
      tab.addEventListener("keydown", (event) => {
        const turn = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (turn) { this.open((at + turn + this.tabs.length) % this.tabs.length); this.tabs[this.now].focus(); }
      });
    });
    this.now = 0;
  }

  open(at) {
    this.now = at;
    this.tabs.forEach((tab, one) => { tab.setAttribute("aria-selected", String(one === at)); tab.tabIndex = one === at ? 0 : -1; });
    this.place.setAttribute("aria-labelledby", this.tabs[at].id);
    this.show();
  }

  /** Makes the lists for a plot; resources give columns. */
  make() {
    const { lab } = this, { plot } = lab.model, placement = () => lab.placement;
    if (this.plot === plot) return;
    this.plot = plot;
    const pod = (row) => plot.pods[row][0], shown = plot.resources.slice(0, 2);
    const host = (row) => { const at = placement().hosts[row]; return at < 0 ? "" : plot.nodes[at][0]; };
    const requests = shown.map((resource, which) => ({ title: resource.name, number: true, value: (row) => plot.pods[row][1][which], text: (row) => amount(resource, plot.pods[row][1][which]) }));
    const uses = [...plot.resources, { name: "pods" }].slice(0, 4).map((resource) => ({
      title: resource.name, number: true, value: (row) => placement().share(row, resource.name) ?? -1,
      text: (row) => { const share = placement().share(row, resource.name); return share === null ? "-" : format.share(share); },
    }));
    this.lists = [
      new List("Pods", [
        { title: "Pod", value: pod }, { title: "Node", value: host, text: (row) => host(row) || [WORDS.waits, placement().whys[row]].filter(Boolean).join(": ") }, ...requests,
        { title: "Priority", number: true, value: (row) => plot.pods[row][2] },
      ], (row) => lab.choosePod(pod(row))),
      new List("What changed", [
        { title: "Pod", value: (row) => row.pod }, { title: "What", value: (row) => row.word }, { title: "Was on", value: (row) => row.was || "-" },
        { title: "Is on", value: (row) => row.now || row.why || "-" },
      ], (row) => lab.choosePod(row.pod)),
      new List("Nodes", [
        { title: "Node", value: (row) => plot.nodes[row][0] }, ...uses,
        { title: "State", value: (row) => [plot.nodes[row][4] ? "cordoned" : "", ...plot.nodes[row][5]].filter(Boolean).join(", ") },
      ], (row) => lab.chooseNode(plot.nodes[row][0])),
    ];
  }

  show() {
    this.make();
    const { model } = this.lab, list = this.lists[this.now];
    if (this.place.firstChild !== list.root) this.place.replaceChildren(list.root);
    const at = (pod) => model.plot.podAt.get(pod);
    const changes = [...model.changed].map(([pod, { was, word }]) => ({ pod, was, word, now: at(pod) === undefined ? "" : model.hostName(at(pod)), why: at(pod) === undefined ? "" : model.placement.whys[at(pod)] }));
    const { hosts } = this.lab.placement, waits = [], placed = [];
    model.plot.pods.forEach((_, row) => (hosts[row] < 0 ? waits : placed).push(row));
    const rows = [[...waits, ...placed], changes, model.plot.nodes.map((_, row) => row)][this.now];
    const total = model.difference?.total ?? 0;
    list.show(rows, this.now === 1 && total > changes.length ? `${format.count(total)} changed in all` : "");
    this.tabs[0].textContent = `Pods (${format.count(model.plot.pods.length)})`;
    this.tabs[1].textContent = `What changed (${format.count(total)})`;
    this.tabs[2].textContent = `Nodes (${format.count(model.plot.nodes.length)})`;
  }
}
