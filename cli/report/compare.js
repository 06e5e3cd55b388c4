"use strict";
// The list of pods: filtered, a page at a time, with both tables of a pod's decisions on demand. Everything comes from the page's own data.
(() => {
  const PAGE = 50;
  const data = JSON.parse(document.getElementById("data").textContent);
  const text = (index) => data.strings[index];
  const find = (id) => document.getElementById(id);
  const rows = find("rows"), query = find("query"), outcome = find("outcome"), cause = find("cause"), told = find("told");
  const pods = data.pods.map(([pod, hosts, outcomes, causes, why, cycles]) => ({ pod, hosts, outcomes, causes, why, cycles }));
  let matching = pods, page = 0;

  const make = (tag, inside, className) => {
    const made = document.createElement(tag);
    if (className) made.className = className;
    for (const part of [].concat(inside ?? [])) made.append(part);
    return made;
  };
  const count = (number) => number.toLocaleString("en-US");

  function matches(pod, words) {
    if (outcome.value !== "" && !pod.outcomes.includes(Number(outcome.value))) return false;
    if (cause.value !== "" && !pod.causes.includes(Number(cause.value))) return false;
    if (!words.length) return true;
    const all = [pod.pod, ...pod.hosts, ...pod.why].map(text).join(" ").toLowerCase();
    return words.every((word) => all.includes(word));
  }

  function select() {
    const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
    matching = pods.filter((pod) => matches(pod, words));
    page = 0;
    show();
  }

  function tag(index) {
    const made = make("span", data.outcomes[index].name, "tag");
    made.style.setProperty("--k", data.outcomes[index].colour);
    return made;
  }

  function scores(nodes) {
    const table = make("table");
    const line = (name, values, className) => {
      const row = make("tr", make("td", name));
      values.forEach((value) => row.append(make("td", value, className)));
      table.append(row);
    };
    const rules = nodes.map(([, , place]) => (place < 0 ? [] : data.rules[place]));
    table.append(make("tr", [make("th", ""), ...nodes.map(([node]) => make("th", text(node), "n"))]));
    line("", nodes.map(([, state]) => text(state)), "n");
    for (const name of new Set(rules.flat().map(([rule]) => rule))) {
      line(text(name), nodes.map(([, , , values], which) => {
        const at = rules[which].findIndex(([rule]) => rule === name);
        if (at < 0) return "-";
        const weight = rules[which][at][1], score = values[at];
        return weight === 1 ? count(score) : `${score} × ${count(weight)} = ${count(score * weight)}`;
      }), "n");
    }
    if (rules.some((found) => found.length)) line("total", nodes.map(([, , , , total]) => (total === null ? "-" : count(total))), "n");
    return make("div", table, "scroll");
  }

  function decided([side, decision, error, victims, nodes]) {
    const dot = make("span", "", "dot");
    dot.style.setProperty("--k", `var(--c${side % 8})`);
    const evicting = victims.length ? `, evicting ${victims.map(text).join(", ")}` : "";
    const title = make("div", [dot, make("b", data.names[side]), `: ${text(decision)}${evicting}`]);
    return make("div", [title, ...(error < 0 ? [] : [make("div", text(error), "soft")]), ...(nodes.length ? [scores(nodes)] : [])]);
  }

  function details(pod) {
    const cell = make("td");
    cell.colSpan = data.names.length + 3;
    for (const [cycle, retry, why, judged] of pod.cycles.map((index) => data.cycles[index])) {
      cell.append(make("div", `Cycle ${count(cycle)}${retry ? ", tried again after making room" : ""}: ${why.map(text).join("; ")}`));
      cell.append(make("div", judged.map(decided), "pair"));
    }
    if (!pod.cycles.length) cell.append("All decided the same; it left its node later.");
    return make("tr", cell, "more");
  }

  function toggle(row, pod) {
    const open = row.classList.toggle("open");
    row.setAttribute("aria-expanded", String(open));
    if (open) row.after(details(pod));
    else row.nextElementSibling.remove();
  }

  function show() {
    const pages = Math.max(1, Math.ceil(matching.length / PAGE)), from = page * PAGE;
    rows.replaceChildren(...matching.slice(from, from + PAGE).map((pod) => {
      const row = make("tr", [
        make("td", text(pod.pod)), ...pod.hosts.map((host) => make("td", text(host))),
        make("td", pod.outcomes.map(tag)), make("td", pod.why.map((why) => make("div", text(why)))),
      ], "row");
      row.tabIndex = 0;
      row.setAttribute("aria-expanded", "false");
      row.addEventListener("click", () => toggle(row, pod));
      row.addEventListener("keydown", (event) => { if (event.key === "Enter") toggle(row, pod); });
      return row;
    }));
    const last = Math.min(from + PAGE, matching.length);
    const shown = matching.length ? `${count(from + 1)} to ${count(last)} of ${count(matching.length)}` : "None";
    told.textContent = shown + (matching.length === pods.length ? "" : ` that match, of ${count(pods.length)}`);
    find("first").disabled = find("before").disabled = page === 0;
    find("next").disabled = find("last").disabled = page >= pages - 1;
  }

  const turn = (to) => () => {
    page = to(Math.max(1, Math.ceil(matching.length / PAGE)) - 1);
    show();
  };
  find("first").addEventListener("click", turn(() => 0));
  find("before").addEventListener("click", turn(() => page - 1));
  find("next").addEventListener("click", turn(() => page + 1));
  find("last").addEventListener("click", turn((end) => end));
  query.addEventListener("input", select);
  outcome.addEventListener("change", select);
  cause.addEventListener("change", select);
  for (const button of document.querySelectorAll("button[data-cause]")) {
    button.addEventListener("click", () => {
      cause.value = button.dataset.cause;
      select();
      find("list").scrollIntoView({ behavior: "smooth" });
    });
  }
  show();
})();
