"use strict";
// Long lists: what is looked at is in the page, in blocks of rows; the rest is data. The address holds what was asked for.
(() => {
  const { make, start, format, details } = kubeclassic;
  const BLOCK = 50, PRINTED = 50, CHARACTER = 7.6, SAMPLE = 1000, WIDEST = 980, SHORT = 14, LONGEST = 46;

  /** Pairs of a name and a text. */
  details.facts = (pairs) => make("table", { class: "facts-of" }, make("tbody", {}, pairs.map(([name, text]) => make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, text)))));

  class Table {
    constructor(root, data) {
      this.root = root;
      this.data = data;
      this.columns = this.data.columns.map((column) => ({ ...column, number: format.isNumber(column.kind), at: (row) => valueOf(column, row) }));
      this.open = new Set();
      this.first = this.data.sort ? this.sortOf(this.data.sort) : { column: null, down: false };
      this.state = { query: "", filters: new Map(), sort: this.first };
      this.all = Array.from({ length: this.data.count }, (_, row) => row);
      this.body = root.querySelector("table");
      this.box = root.querySelector(".scroll");
      this.told = root.querySelector(".count");
      this.watcher = new IntersectionObserver((seen) => this.fill(seen), { root: this.box, rootMargin: "800px" });
      this.setUpBar();
      this.setUpHead();
      this.measure();
      this.readAddress();
      this.show();
      addEventListener("hashchange", () => { if (this.readAddress()) { this.setUpFields(); this.show(); } });
      addEventListener("beforeprint", () => this.print());
      addEventListener("afterprint", () => { this.setUpHead(); this.show(); });
    }

    sortOf(text) {
      const down = text.startsWith("-"), title = down ? text.slice(1) : text;
      return { column: this.columns.find((column) => column.title === title || column.key === title) || null, down };
    }

    // --- search, filters, links ---------------------------------------------------------------------------------------

    setUpBar() {
      const bar = this.root.querySelector(".bar");
      this.query = make("input", { type: "search", oninput: () => this.ask({ query: this.query.value }) });
      bar.append(make("label", { class: "search" }, `Search ${this.data.several}`, this.query));
      this.selects = new Map();
      for (const column of this.columns.filter((one) => one.filter && this.differs(one))) {
        const select = make("select", { onchange: () => this.filter(column, select.value) });
        select.append(make("option", { value: "" }, "all"), ...this.choices(column));
        this.selects.set(column, select);
        bar.append(make("label", {}, column.title, select));
      }
      this.link = make("a", { class: "link", href: `#${this.root.id}` }, "Link to this view");
      this.clear = make("button", { type: "button", onclick: () => { this.ask({ query: "", filters: new Map(), sort: this.first }); this.setUpFields(); } }, "Show all");
      bar.append(make("span", { class: "spring" }), this.link, this.clear, make("button", { type: "button", onclick: () => this.save() }, "Save as CSV"));
      bar.hidden = false;
    }

    /** Whether there is anything to choose among. */
    differs(column) {
      return new Set(this.all.map((row) => String(column.at(row)))).size > 1;
    }

    choices(column) {
      const found = new Map();
      for (const row of this.all) for (const value of [column.at(row)].flat()) if (!format.empty(value)) found.set(value, (found.get(value) || 0) + 1);
      const ordered = [...found].sort((one, other) => other[1] - one[1]);
      return ordered.map(([value, rows]) => make("option", { value }, `${value} (${format.count(rows)})`));
    }

    filter(column, value) {
      const filters = new Map(this.state.filters);
      if (value) filters.set(column, value);
      else filters.delete(column);
      this.ask({ filters });
    }

    ask(change) {
      this.state = { ...this.state, ...change };
      this.writeAddress();
      this.show();
    }

    setUpFields() {
      this.query.value = this.state.query;
      for (const [column, select] of this.selects) select.value = this.state.filters.get(column) || "";
    }

    readAddress() {
      const [name, asked] = location.hash.slice(1).split("?");
      if (name !== this.root.id || asked === undefined) return false;
      const found = new URLSearchParams(asked), filters = new Map();
      for (const column of this.columns) if (column.filter && found.get(`is-${column.key}`)) filters.set(column, found.get(`is-${column.key}`));
      this.state = { query: found.get("q") || "", filters, sort: found.get("sort") ? this.sortOf(found.get("sort")) : this.first };
      this.setUpFields();
      this.link.href = location.hash;
      this.root.scrollIntoView();
      return true;
    }

    writeAddress() {
      const asked = new URLSearchParams();
      if (this.state.query) asked.set("q", this.state.query);
      for (const [column, value] of this.state.filters) asked.set(`is-${column.key}`, value);
      const { column, down } = this.state.sort;
      if (column && this.state.sort !== this.first) asked.set("sort", (down ? "-" : "") + column.key);
      const hash = `#${this.root.id}${asked.toString() ? `?${asked}` : ""}`;
      this.link.href = hash;
      try { history.replaceState(null, "", hash); } catch { /* a page within a page may not */ }
    }

    // --- which rows, in which order -----------------------------------------------------------------------------------

    matching() {
      const words = this.state.query.toLowerCase().split(/\s+/).filter(Boolean), filters = [...this.state.filters];
      const found = this.all.filter((row) => filters.every(([column, value]) => [column.at(row)].flat().includes(value)) && this.has(row, words));
      const { column, down } = this.state.sort;
      return column ? sorted(found, column, down) : found;
    }

    has(row, words) {
      if (!words.length) return true;
      this.texts ??= this.all.map((one) => this.columns.map((column) => format.text(column.kind, column.at(one))).join("\n").toLowerCase());
      return words.every((word) => this.texts[row].includes(word));
    }

    // --- showing ------------------------------------------------------------------------------------------------------

    setUpHead() {
      this.heads = [...this.root.querySelectorAll("thead th")];
      this.heads.forEach((head, at) => {
        const column = this.columns[at];
        const press = () => {
          const { column: now, down } = this.state.sort;
          this.ask({ sort: { column, down: now === column ? !down : column.number } });
        };
        head.replaceChildren(make("button", { type: "button", onclick: press }, column.title));
      });
    }

    /** Columns as wide as their longest texts want, so that they stay where they are while rows come and go. */
    measure() {
      const every = Math.ceil(this.all.length / SAMPLE), some = this.all.filter((row) => row % every === 0);
      const wanted = this.columns.map((column) => {
        const lengths = some.map((row) => format.text(column.kind, column.at(row)).length).filter(Boolean).sort((one, other) => one - other);
        const most = Math.min(lengths.length * 3 < some.length ? 24 : LONGEST, lengths[Math.floor((column.kind.startsWith("tag") ? 1 : 0.97) * (lengths.length - 1))] || 0);
        return Math.max(column.number ? Math.min(most, 24) : most, headOf(column)) + (column.kind.startsWith("tag") ? 6 : 3);
      });
      this.columns.forEach((column, at) => { if (column.kind.startsWith("name")) wanted[at] = Math.max(wanted[at], this.least(column, some)); });
      if (this.data.details) wanted[0] += 4;
      const total = (widths) => widths.reduce((one, other) => one + other, 0), room = Math.max(this.box.clientWidth, WIDEST) / CHARACTER;
      // Only what is long gives way, so that no short name or word is broken.
      const spares = this.columns.map((column, at) => Math.max(wanted[at] - this.least(column, some) - (at === 0 && this.data.details ? 4 : 0), 0));
      const part = Math.min(1, Math.max(total(wanted) - room, 0) / (total(spares) || 1)), widths = wanted.map((width, at) => width - part * spares[at]), sum = total(widths);
      this.body.prepend(make("colgroup", {}, widths.map((width) => make("col", { style: `width:${(100 * width) / sum}%` }))));
      this.body.style.minWidth = `${Math.round(sum * CHARACTER)}px`;
    }

    /** The width of a column that breaks no word. */
    least(column, rows) {
      if (column.number || column.kind.startsWith("tag")) return Infinity;
      const words = rows.flatMap((row) => format.text(column.kind, column.at(row)).split(" "));
      return Math.max(SHORT, headOf(column) + 3, Math.min(LONGEST, words.reduce((most, word) => Math.max(most, word.length), 0)) + 3);
    }

    show() {
      this.watcher.disconnect();
      for (const old of [...this.body.tBodies]) old.remove();
      this.rows = this.matching();
      const heights = this.height || 34;
      for (let at = 0; at < this.rows.length; at += BLOCK) {
        const block = make("tbody", {});
        block.rows_ = this.rows.slice(at, at + BLOCK);
        this.body.append(block);
        if (at === 0) this.write(block);
        else this.empty(block, heights * block.rows_.length);
        this.watcher.observe(block);
      }
      this.tell();
    }

    fill(seen) {
      for (const { target, isIntersecting } of seen) {
        if (isIntersecting && target.dataset.empty) this.write(target);
        else if (!isIntersecting && !target.dataset.empty && !target.contains(document.activeElement)) this.empty(target, target.offsetHeight);
      }
    }

    write(block) {
      delete block.dataset.empty;
      block.replaceChildren(...block.rows_.flatMap((row) => this.line(row)));
      if (!this.height && block.offsetHeight) this.height = block.offsetHeight / block.rows_.length;
    }

    empty(block, height) {
      block.dataset.empty = "yes";
      const cell = make("td", { colspan: this.columns.length, style: `height:${height}px` });
      block.replaceChildren(make("tr", { class: "spacer", "aria-hidden": "true" }, cell));
    }

    line(row) {
      const detail = this.data.details ? this.data.details[row] : null;
      const cells = this.columns.map((column, at) => {
        const value = column.at(row), inside = format.shown(column, value);
        if (at === 0 && this.data.details) inside.unshift(detail === null ? make("span", {}) : this.opener(row));
        return make("td", { class: column.number ? "n" : null, "data-label": column.title, "data-none": format.empty(value) }, at === 0 ? make("span", {}, inside) : inside.length > 1 ? make("span", {}, inside) : inside);
      });
      const made = make("tr", { class: `row${detail === null ? "" : " can"}` }, cells);
      if (detail !== null) made.addEventListener("click", (event) => { if (!event.target.closest("button, a") && !String(getSelection())) this.toggle(made, row); });
      return this.open.has(row) ? [this.mark(made, true), this.more(row)] : [made];
    }

    opener(row) {
      const press = (event) => this.toggle(event.target.closest("tr"), row);
      return make("button", { type: "button", class: "opener", "aria-expanded": String(this.open.has(row)), "aria-label": "Details", onclick: press }, this.open.has(row) ? "−" : "+");
    }

    toggle(line, row) {
      const opens = !this.open.has(row);
      if (opens) { this.open.add(row); line.after(this.more(row)); }
      else { this.open.delete(row); line.nextElementSibling.remove(); }
      this.mark(line, opens);
    }

    mark(line, opens) {
      line.classList.toggle("open", opens);
      const button = line.querySelector(".opener");
      button.setAttribute("aria-expanded", String(opens));
      button.textContent = opens ? "−" : "+";
      return line;
    }

    more(row) {
      const inside = details[this.data.shows](this.data.details[row], this.data.shared);
      return make("tr", { class: "more" }, make("td", { colspan: this.columns.length }, inside));
    }

    tell() {
      const every = `${format.count(this.data.count)} ${this.data.count === 1 ? this.data.noun : this.data.several}`;
      const whole = this.rows.length === this.data.count;
      this.told.textContent = whole ? every : `${format.count(this.rows.length)} of ${every}`;
      this.clear.disabled = !this.state.query && !this.state.filters.size && this.state.sort === this.first;
      this.heads.forEach((head, at) => {
        if (this.state.sort.column === this.columns[at]) head.setAttribute("aria-sort", this.state.sort.down ? "descending" : "ascending");
        else head.removeAttribute("aria-sort");
      });
    }

    // --- other forms --------------------------------------------------------------------------------------------------

    /** On paper there is no scrolling: the first rows, and a word on the rest. */
    print() {
      this.watcher.disconnect();
      this.heads.forEach((head, at) => head.replaceChildren(this.columns[at].title)); // a heading that comes again on each page shows no buttons
      for (const old of [...this.body.tBodies]) old.remove();
      this.body.append(make("tbody", {}, this.rows.slice(0, PRINTED).flatMap((row) => this.line(row))));
      const left = this.rows.length - PRINTED;
      if (left > 0) this.told.textContent += `. The first ${format.count(PRINTED)} are printed; the page and -o json have the other ${format.count(left)}.`;
    }

    save() {
      const cell = (value) => (/[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
      const plain = (value) => (value === null || value === undefined ? "" : Array.isArray(value) ? value.join("; ") : String(value));
      const lines = [this.columns.map((column) => column.title), ...this.rows.map((row) => this.columns.map((column) => plain(column.at(row))))];
      const text = lines.map((line) => line.map(cell).join(",")).join("\n") + "\n";
      const address = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
      make("a", { href: address, download: `${this.root.id}.csv` }).click();
      setTimeout(() => URL.revokeObjectURL(address), 10000);
    }
  }

  /** The characters that a heading wants, which is bold: its longest word, and up to 14 of all. */
  const headOf = ({ title }) => 1.15 * Math.max(Math.min(title.length, 14), ...title.split(" ").map((word) => word.length));

  const valueOf = (column, row) => (column.texts ? column.texts[column.values[row]] : column.values[row]);

  function sorted(rows, column, down) {
    const order = new Intl.Collator("en", { numeric: true }), way = down ? -1 : 1;
    const keyed = rows.map((row) => [row, column.number ? column.at(row) : format.text(column.kind, column.at(row))]);
    keyed.sort(([, one], [, other]) => {
      if (format.empty(one) || format.empty(other)) return format.empty(one) - format.empty(other);
      return way * (column.number ? one - other : order.compare(one, other));
    });
    return keyed.map(([row]) => row);
  }

  start("tables", "[data-part=table]", (root, data) => new Table(root, data));
})();
