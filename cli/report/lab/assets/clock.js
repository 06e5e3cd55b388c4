// The scenario on its clock: a replay that was written down, played forward, back, to any time.
import { ask } from "./api.js";
import { Placement, indexed } from "./model.js";
const { make, format } = kubeclassic;

const LEAVES = new Set(["Finished", "Deleted", "Evicted", "Preempted", "NodeLost"]);
const SPEEDS = [["1", "1 event a second"], ["5", "5 events a second"], ["25", "25 events a second"], ["200", "200 events a second"]];

export class Clock {
  constructor(lab) {
    this.lab = lab;
    this.place = document.getElementById("clock");
    this.film = null;
    this.at = 0;
    this.start = make("button", { type: "button", onclick: () => this.open() }, "Replay it on its clock");
    this.fault = make("p", { class: "fault", "data-field": "clock", hidden: true });
    const button = (text, title, act) => make("button", { type: "button", title, "aria-label": title, onclick: act }, text);
    this.play = button("Play", "Play", () => this.toggle());
    this.range = make("input", { type: "range", min: 0, value: 0, "aria-label": "Event of the replay", oninput: () => this.go(Number(this.range.value)) });
    this.speed = make("select", { "aria-label": "Speed" }, SPEEDS.map(([value, text]) => make("option", { value }, text)));
    this.time = make("input", { type: "number", min: 0, step: "any", "aria-label": "Time in seconds", onchange: () => this.seek(Number(this.time.value)) });
    this.event = make("p", { class: "event", "aria-live": "polite" });
    this.ask = make("button", { type: "button", hidden: true, onclick: () => this.why() }, "Why?");
    this.panel = make("div", { hidden: true },
      make("div", { class: "line" }, button("First", "To the beginning", () => this.go(0)), button("Back", "One event back", () => this.go(this.at - 1)), this.play,
        button("Forward", "One event forward", () => this.go(this.at + 1)), button("Last", "To the end", () => this.go(this.film.events.length)),
        this.speed, make("label", {}, "Seconds ", this.time), button("Close", "Close the replay", () => this.close())),
      this.range, make("div", { class: "line" }, this.event, this.ask));
    this.place.append(make("h2", {}, "Clock"), make("p", { class: "soft" }, "What happens over time: arrivals, queue, back-off, preemption, pods that finish."), this.start, this.fault, this.panel);
  }

  async open() {
    this.start.disabled = true;
    this.start.textContent = "It is being replayed";
    const film = await this.lab.trying("clock", () => ask("clock", {}));
    this.start.disabled = false;
    this.start.textContent = "Replay it on its clock";
    if (!film) return;
    this.film = film;
    this.range.max = film.events.length;
    this.panel.hidden = false;
    this.start.hidden = true;
    this.prepare();
    this.go(0);
  }

  /** The plot with the pods and nodes that come later, and marks of placements every so many events, so that going back is quick. */
  prepare() {
    const plot = this.lab.model.plot, more = (found, made) => Object.entries(found).map(made);
    this.plot = indexed({ ...plot,
      pods: [...plot.pods, ...more(this.film.pods, ([key, requests]) => [key, requests, 0, -1])],
      nodes: [...plot.nodes, ...more(this.film.nodes, ([name, had]) => [name, plot.labels.map(() => null), had.slice(0, -1), had.at(-1) ?? 0, false, []])] });
    const first = new Int32Array(this.plot.pods.map((pod) => pod[3]));
    this.kept = [first];
  }

  hostsAt(at) {
    const EVERY = 500;
    let from = Math.min(Math.floor(at / EVERY), this.kept.length - 1), hosts = Int32Array.from(this.kept[from]);
    for (let index = from * EVERY; index < at; index += 1) {
      const [, event, pod, node] = this.film.events[index], which = this.plot.podAt.get(pod);
      if (which !== undefined && event === "Scheduled") hosts[which] = this.plot.nodeAt.get(node) ?? -1;
      else if (which !== undefined && LEAVES.has(event)) hosts[which] = -1;
      if ((index + 1) % EVERY === 0 && this.kept.length === (index + 1) / EVERY) this.kept.push(Int32Array.from(hosts));
    }
    return hosts;
  }

  go(wanted) {
    this.at = Math.min(Math.max(wanted, 0), this.film.events.length);
    const placement = new Placement(this.plot);
    placement.hosts = this.hostsAt(this.at);
    placement.count();
    this.placement = placement;
    const event = this.at ? this.film.events[this.at - 1] : null;
    this.range.value = this.at;
    if (document.activeElement !== this.time) this.time.value = event ? event[0] : 0;
    this.event.textContent = event ? `${this.at} of ${format.count(this.film.events.length)}: ${event[0]} s, ${event[1]} ${event[2]} ${event[3] ? `on ${event[3]}` : ""} ${event[4]}` : "Before the first event";
    this.ask.hidden = !event || !["Scheduled", "FailedScheduling"].includes(event[1]);
    const marks = new Map();
    if (event && event[3] && this.plot.nodeAt.has(event[3])) marks.set(this.plot.nodeAt.get(event[3]), event[1] === "Scheduled" ? { plus: 1, minus: 0 } : LEAVES.has(event[1]) ? { plus: 0, minus: 1 } : { plus: 0, minus: 0 });
    this.lab.showMoment(placement, marks);
    if (this.at === this.film.events.length) this.stop();
  }

  /** To the last event that has happened at a time. */
  seek(seconds) {
    const { events } = this.film;
    let low = 0, high = events.length;
    while (low < high) { const middle = (low + high) >> 1; if (events[middle][0] <= seconds) low = middle + 1; else high = middle; }
    this.go(low);
  }

  toggle() {
    if (this.timer) { this.stop(); return; }
    if (this.at === this.film.events.length) this.go(0);
    this.play.textContent = "Pause";
    const beat = () => {
      const speed = Number(this.speed.value), jump = Math.max(Math.round(speed / 25), 1);
      this.go(this.at + jump);
      if (this.timer) this.timer = setTimeout(beat, (1000 * jump) / speed);
    };
    this.timer = setTimeout(beat, 0);
  }

  stop() {
    clearTimeout(this.timer);
    this.timer = null;
    this.play.textContent = "Play";
  }

  close() {
    this.stop();
    this.film = this.placement = null;
    this.panel.hidden = true;
    this.start.hidden = false;
    this.lab.showMoment(null, null);
  }

  why() { this.lab.whyThen(this.film.number, this.at - 1, this.film.events[this.at - 1][2]); }
}
