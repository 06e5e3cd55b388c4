// Whole configurations by one click, and a link that holds the state.
const { make } = kubeclassic;

const FIT = { pack: "MostAllocated", spread: "LeastAllocated" };
const PRIORITY = { pack: ["MostRequestedPriority", "LeastRequestedPriority"], spread: ["LeastRequestedPriority", "MostRequestedPriority"] };

/** A profile whose NodeResourcesFit scores by *strategy*, as release *version* reads it; null where none says so. */
function profile(version, strategy) {
  const minor = Number(version.split(".")[1]), api = minor >= 25 ? "v1" : minor >= 23 ? "v1beta3" : minor >= 22 ? "v1beta2" : null;
  const args = { scoringStrategy: { type: strategy, resources: [{ name: "cpu", weight: 1 }, { name: "memory", weight: 1 }] } };
  return api && JSON.stringify({ apiVersion: `kubescheduler.config.k8s.io/${api}`, kind: "KubeSchedulerConfiguration",
    profiles: [{ schedulerName: "default-scheduler", pluginConfig: [{ name: "NodeResourcesFit", args }] }] });
}

export class Presets {
  constructor(lab) {
    this.lab = lab;
    const button = (text, title, act, moves = false) => make("button", { type: "button", title, "data-moves": moves ? title : null, onclick: act }, text);
    document.getElementById("source").append(make("div", { class: "line presets", role: "group", "aria-label": "Presets" },
      button("Pack", "Full nodes first", () => this.fill("pack"), true), button("Spread", "Empty nodes first", () => this.fill("spread"), true),
      button("1.16 against today", "The Policy of 1.16 as pin A, and the newest release's profile beside it", () => this.releases())));
    this.link = make("button", { type: "button", onclick: () => this.copy() }, "Copy a link");
    document.getElementById("saves").querySelector(".sheet").append(this.link);
  }

  async fill(how) {
    const { lab } = this, { release } = lab.state.scheduler;
    if (!lab.model.rules.profiles) {
      const [most, least] = PRIORITY[how];
      if (await lab.act({ do: "weight", rule: least, weight: 0 })) await lab.act({ do: "weight", rule: most, weight: 10 });
      return;
    }
    const text = profile(release, FIT[how]);
    if (text) await lab.act({ do: "load", name: how, text });
    else lab.fault({ message: `${how}: releases 1.17 to 1.21 have no scoring strategy; move the weights`, field: "source" });
  }

  async releases() {
    if (await this.lab.act({ do: "release", value: "1.16" })) {
      await this.lab.parts.pins.pin("A");
      await this.lab.act({ do: "release", value: this.lab.model.releases.at(-1) });
    }
  }

  // --- a link -----------------------------------------------------------------------------------------------------------

  async copy() {
    location.hash = `state=${encodeURIComponent(JSON.stringify(this.lab.state))}`;
    try { await navigator.clipboard.writeText(location.href); this.link.textContent = "The link is copied"; } catch { this.link.textContent = "The link is in the address bar"; }
    setTimeout(() => { this.link.textContent = "Copy a link"; }, 4000);
  }

  /** Goes to the state that the address holds, if it holds one. */
  async open() {
    const held = location.hash.match(/^#state=(.*)$/)?.[1];
    if (!held) return;
    let state = null;
    try { state = JSON.parse(decodeURIComponent(held)); } catch { this.lab.fault({ message: "the link holds no state: was it copied whole?", field: "" }); return; }
    await this.lab.act({ do: "restore", state });
  }
}
