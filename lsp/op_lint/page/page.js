"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const ROW = 28;
  const FINDING = 50;
  const STATES = {
    kernel: "a kernel",
    composite: "a composite kernel",
    alias: "an autograd kernel of all backends",
    fallback: "PyTorch's fallback",
    fallthrough: "a fallthrough",
    missing: "nothing",
    ambiguous: "an ambiguity",
  };
  const WORDS = {
    kernel: "kernel",
    composite: "composite kernel",
    alias: "Autograd kernel",
    fallback: "fallback",
    fallthrough: "fallthrough, skipped",
    missing: "missing, raises",
    ambiguous: "ambiguous, raises",
    none: "nothing written",
  };
  const SEVERITIES = ["error", "warning", "hint"];

  /* Values -> elements. Everything from the data goes in as text. */
  const make = (tag, properties = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (name === "class") element.className = value;
      else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (value !== null && value !== undefined) element.setAttribute(name, value);
    }
    element.append(...children.filter((child) => child !== null));
    return element;
  };
  const mark = (state) => make("i", { class: `mark mark-${state || "none"}`, "aria-hidden": "true" });
  /* A message, with what stands between backticks as code. */
  const prose = (text) => text.split("`").map((part, at) => (at % 2 ? make("code", {}, part) : part));
  const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
  const shown = ([path, line]) => `${data.paths[path]}:${line}`;
  const isOwn = ([path]) => data.own[path];

  const copy = async (button, text) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = make("textarea", { class: "unseen" });
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
      button.focus();
    }
    button.classList.add("copied");
    setTimeout(() => button.classList.remove("copied"), 1200);
  };
  const place = (at) => {
    const text = shown(at);
    if (data.link && isOwn(at)) {
      const path = data.paths[at[0]].split("/").map(encodeURIComponent).join("/");
      return make("a", { class: "place", href: data.link.replace("{path}", path).replace("{line}", at[1]) }, text);
    }
    const button = make("button", { class: "place", type: "button", title: "copy", onclick: () => copy(button, text) }, text);
    return button;
  };

  /* What is searched: an operator's own words and those of its kernels and places, in lower case. */
  const operators = data.operators.map((operator, index) => {
    const [namespace, local] = operator.name.split("::");
    const severity = SEVERITIES.find((each) => operator.findings.some((found) => data.findings[found].severity === each));
    const words = [operator.name, operator.schema || ""];
    for (const at of operator.definitions) words.push(data.paths[at[0]]);
    for (const kernel of operator.kernels) words.push(kernel.key, kernel.kernel, data.paths[kernel.place[0]]);
    return { ...operator, index, namespace, local, severity, text: words.join("\n").toLowerCase() };
  });
  const findings = data.findings.map((finding, index) => ({
    ...finding,
    index,
    rank: SEVERITIES.indexOf(finding.severity),
    text: [finding.code, finding.name, finding.message, data.paths[finding.place[0]], ...finding.notes].join("\n").toLowerCase(),
  }));
  const worstFirst = [...findings].sort((one, other) => one.rank - other.rank || one.index - other.index);
  const cellOf = (operator, column) => data.cells[operator.cells[column]];
  const stateOf = (operator, column) => cellOf(operator, column).state || "none";

  /* The state of the page, which is also its address. */
  const view = { tab: "matrix", q: "", namespace: "", key: "", state: "", flawed: "", severity: "", rule: "", op: "", column: "", finding: "" };
  const readAddress = () => {
    const given = new URLSearchParams(location.hash.slice(1));
    for (const name of Object.keys(view)) view[name] = given.get(name) || (name === "tab" ? "matrix" : "");
    if (!$(`tab-${view.tab}`)) view.tab = "matrix";
  };
  const writeAddress = () => {
    const said = Object.entries(view).filter(([name, value]) => value && !(name === "tab" && value === "matrix"));
    const hash = new URLSearchParams(said).toString();
    history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
  };

  /* A list of which only the rows in sight are in the document. */
  class Rows {
    constructor(box, height, top, draw) {
      Object.assign(this, { box, height, top, draw, items: [], drawn: new Map(), isWhole: false });
      this.body = box.querySelector(".rows");
      box.addEventListener("scroll", () => this.show(), { passive: true });
      new ResizeObserver(() => this.show()).observe(box);
    }
    set(items) {
      this.items = items;
      this.body.style.height = `${items.length * this.height}px`;
      this.redraw();
    }
    /* Every row, for paper, or those in sight again. */
    whole(isWhole) {
      this.isWhole = isWhole;
      this.redraw();
    }
    redraw() {
      for (const row of this.drawn.values()) row.remove();
      this.drawn.clear();
      this.show();
    }
    show() {
      const first = this.isWhole ? 0 : Math.max(0, Math.floor((this.box.scrollTop - this.top) / this.height) - 5);
      const seen = Math.ceil((this.box.scrollTop + this.box.clientHeight) / this.height) + 5;
      const last = this.isWhole ? this.items.length : Math.min(this.items.length, seen);
      for (const [index, row] of this.drawn) {
        if (index < first || index >= last) {
          row.remove();
          this.drawn.delete(index);
        }
      }
      for (let index = first; index < last; index++) {
        if (this.drawn.has(index)) continue;
        const row = this.draw(this.items[index], index);
        row.style.top = `${index * this.height}px`;
        this.drawn.set(index, row);
        this.body.append(row);
      }
    }
    reveal(index) {
      const above = index * this.height;
      const bottom = this.box.getBoundingClientRect().bottom;
      const details = $("details").getBoundingClientRect(); // on a narrow screen it lies over the rows
      const covered = details.height && details.left < 1 ? Math.max(0, bottom - details.top) : 0;
      this.body.style.marginBottom = `${covered}px`; // so that the last row, too, can be moved out from under it
      const room = Math.max(this.height, this.box.clientHeight - this.top - covered);
      if (above < this.box.scrollTop) this.box.scrollTop = above;
      else if (above + this.height > this.box.scrollTop + room) this.box.scrollTop = above + this.height - room;
    }
  }

  /* The matrix. */
  const chosen = { row: -1, column: -1 };
  const grid = new Rows($("grid"), ROW, 118, (operator, index) => {
    const isChosen = index === chosen.row;
    const name = make(
      "div",
      { class: "name", role: "rowheader", title: operator.schema || operator.name },
      make("i", { class: `dot ${operator.severity || ""}`, "aria-hidden": "true" }),
      make("span", { class: "text" }, make("span", { class: "space" }, `${operator.namespace}::`), make("span", { class: "local" }, operator.local)),
      operator.definitions.length ? null : make("span", { class: "tag" }, "no def"),
    );
    const cells = data.keys.map((key, column) => {
      const cell = cellOf(operator, column);
      const where = cell.place ? `, ${shown(cell.place)}` : "";
      return make(
        "div",
        {
          class: `cell${column === data.backends ? " first-other" : ""}${isChosen && column === chosen.column ? " chosen" : ""}`,
          role: "gridcell",
          id: `cell-${index}-${column}`,
          "aria-colindex": column + 2,
          "aria-label": `${key}: ${WORDS[cell.state || "none"]}`,
          title: `${key}: ${WORDS[cell.state || "none"]}${cell.kernel ? ` (${cell.kernel}${where})` : ""}`,
          onclick: () => choose(index, column),
        },
        mark(cell.state),
      );
    });
    const schema = make("div", { class: "said", "aria-hidden": "true" }, operator.schema ? operator.schema.slice(operator.schema.indexOf("(")) : "");
    const row = make("div", { class: `row${isChosen ? " chosen" : ""}`, role: "row", "aria-rowindex": index + 2 }, name, ...cells, schema);
    for (const part of [name, schema]) part.addEventListener("click", () => choose(index, chosen.column));
    return row;
  });
  const choose = (row, column) => {
    chosen.row = row;
    chosen.column = column;
    const operator = grid.items[row];
    view.op = operator ? operator.name : "";
    view.column = column >= 0 ? data.keys[column] : "";
    showDetails(); // it may take room from the grid
    grid.reveal(row);
    grid.redraw();
    const id = column >= 0 ? `cell-${row}-${column}` : null;
    if (id && $(id)) $("grid").setAttribute("aria-activedescendant", id);
    else $("grid").removeAttribute("aria-activedescendant");
    writeAddress();
  };
  const matching = () => {
    const words = view.q.toLowerCase().split(/\s+/).filter(Boolean);
    return operators.filter(
      (operator) => (!view.namespace || operator.namespace === view.namespace) && words.every((word) => operator.text.includes(word)),
    );
  };
  /* A sentence in the place of rows, where there are none. */
  const sayInstead = (rows, sentence, text) => {
    $(rows).hidden = Boolean(text);
    $(sentence).hidden = !text;
    $(sentence).textContent = text;
  };
  const showMatrix = () => {
    const found = matching();
    showCoverage(found);
    const column = data.keys.indexOf(view.key);
    const kept = found.filter(
      (operator) =>
        (!view.flawed || operator.findings.length) &&
        (!view.state || (column >= 0 ? stateOf(operator, column) === view.state : operator.cells.some((_, at) => stateOf(operator, at) === view.state))),
    );
    $("count").textContent = kept.length === operators.length ? plural(kept.length, "operator") : `${kept.length.toLocaleString("en")} of ${plural(operators.length, "operator")}`;
    $("reset").disabled = kept.length === operators.length && !view.q;
    sayInstead("grid", "no-operator", kept.length ? "" : operators.length ? "No operator is like that. “Show all” takes the filters and the search away." : "These sources register no operator.");
    $("grid").setAttribute("aria-rowcount", kept.length + 1);
    chosen.row = kept.findIndex((operator) => operator.name === view.op);
    chosen.column = data.keys.indexOf(view.column);
    grid.set(kept);
    if (chosen.row >= 0) {
      grid.reveal(chosen.row);
      grid.redraw();
    }
    count("matrix", kept.length);
  };
  const showCoverage = (found) => {
    const bars = data.keys.map((key, column) => {
      const counts = new Map();
      for (const operator of found) {
        const state = stateOf(operator, column);
        counts.set(state, (counts.get(state) || 0) + 1);
      }
      const order = [...Object.keys(STATES), "none"].filter((state) => counts.has(state));
      const served = ["kernel", "composite", "alias"].reduce((sum, state) => sum + (counts.get(state) || 0), 0);
      const segments = order
        .filter((state) => state !== "none")
        .map((state) =>
          make("button", {
            type: "button",
            class: `fill-${state}`,
            style: `flex: ${counts.get(state)} 1 0`,
            title: `${key}: ${plural(counts.get(state), "operator")} with ${STATES[state]}`,
            "aria-label": `${key}: show the ${plural(counts.get(state), "operator")} with ${STATES[state]}`,
            onclick: () => {
              Object.assign(view, { tab: "matrix", key, state });
              show();
            },
          }),
        );
      return make(
        "div",
        { class: "bar" },
        make("div", { class: "label" }, make("b", {}, key), make("span", {}, `${served.toLocaleString("en")} / ${found.length.toLocaleString("en")}`)),
        make("div", { class: "track" }, ...segments),
      );
    });
    $("coverage").replaceChildren(...bars);
  };

  /* The findings. */
  const list = new Rows($("list"), FINDING, 0, (finding, index) =>
    make(
      "div",
      {
        class: `finding${String(finding.index) === view.finding ? " chosen" : ""}`,
        role: "option",
        id: `finding-${index}`,
        "aria-selected": String(finding.index) === view.finding,
        onclick: () => chooseFinding(index),
      },
      make("p", {}, make("span", { class: `severity ${finding.severity}` }, finding.severity), " ", ...prose(finding.message)),
      make("p", { class: "where" }, `${finding.code} ${finding.name}  ·  ${shown(finding.place)}`),
    ),
  );
  const chooseFinding = (index) => {
    view.finding = String(list.items[index].index);
    showDetails();
    list.reveal(index);
    list.redraw();
    $("list").setAttribute("aria-activedescendant", `finding-${index}`);
    writeAddress();
  };
  const showFindings = () => {
    const words = view.q.toLowerCase().split(/\s+/).filter(Boolean);
    const kept = worstFirst.filter(
      (finding) =>
        (!view.severity || finding.severity === view.severity) &&
        (!view.rule || finding.code === view.rule) &&
        words.every((word) => finding.text.includes(word)),
    );
    $("found").textContent = kept.length === findings.length ? plural(kept.length, "finding") : `${kept.length.toLocaleString("en")} of ${plural(findings.length, "finding")}`;
    sayInstead("list", "no-finding", kept.length ? "" : findings.length ? "No finding is like that." : "Nothing was found.");
    list.set(kept);
    const at = kept.findIndex((finding) => String(finding.index) === view.finding);
    if (at >= 0) list.reveal(at);
    count("findings", kept.length);
  };

  /* Units, targets, and what was not understood. */
  const table = (heads, rows) =>
    make(
      "table",
      {},
      make("thead", {}, make("tr", {}, ...heads.map((head) => make("th", head.startsWith("#") ? { class: "number" } : {}, head.replace("#", ""))))),
      make("tbody", {}, ...rows.map((cells) => make("tr", {}, ...cells.map((cell, at) => make("td", heads[at].startsWith("#") ? { class: "number" } : {}, cell ?? ""))))),
    );
  const MOST = 1000;
  const clipped = (rows, draw) => {
    const said = rows.length > MOST ? make("p", { class: "faint" }, `The first ${MOST} of ${rows.length.toLocaleString("en")}; search to see others.`) : null;
    return [draw(rows.slice(0, MOST)), said].filter(Boolean);
  };
  const mono = (text) => make("code", {}, text);
  const speaksOf = (...texts) => {
    const words = view.q.toLowerCase().split(/\s+/).filter(Boolean);
    const text = texts.join("\n").toLowerCase();
    return words.every((word) => text.includes(word));
  };
  const unitWord = (unit) => {
    const words = [unit.namespace || "_", unit.key].filter(Boolean).join(", ");
    return make("span", {}, mono(unit.macro), make("div", {}, mono(words)));
  };
  const showUnits = () => {
    const units = data.units.filter((unit) => speaksOf(unit.macro, unit.namespace, unit.key, shown(unit.place), ...unit.targets));
    const targets = data.targets.filter((target) => speaksOf(target.name, target.kind, target.system, shown(target.place)));
    count("units", units.length);
    if ($("units").hidden) return;
    const parts = [];
    if (data.targets.length) {
      parts.push(make("h2", {}, "Targets that compile registrations"));
      parts.push(...clipped(targets, (rows) => table(["Target", "Makes", "Build system", "Declared", "#Units"], rows.map((target) => [mono(target.name), target.kind, target.system, place(target.place), String(target.units)]))));
    } else {
      parts.push(make("p", { class: "faint" }, "No build file names a source with registrations."));
    }
    parts.push(make("h2", {}, "Registration units"));
    parts.push(
      ...clipped(units, (rows) =>
        table(
          ["Unit", "Where", "Only if", "Compiled into", "#Registrations"],
          rows.map((unit) => [unitWord(unit), place(unit.place), unit.condition ? mono(unit.condition) : "", unit.targets.join(", "), String(unit.registrations)]),
        ),
      ),
    );
    $("units").replaceChildren(...parts);
  };
  const showNotes = () => {
    const notes = data.notes.filter(([at, text]) => speaksOf(shown(at), text));
    count("notes", notes.length);
    if ($("notes").hidden) return;
    const parts = notes.length
      ? clipped(notes, (rows) => table(["Where", "What"], rows.map(([at, text]) => [place(at), make("span", {}, ...prose(text))])))
      : [make("p", { class: "faint" }, data.notes.length ? "None of these match." : "Everything was understood.")];
    $("notes").replaceChildren(...parts);
  };

  /* The panel beside. */
  const heading = (text) => make("h3", {}, text);
  const aboutFinding = (finding) =>
    make(
      "div",
      { class: `about-finding ${finding.severity}` },
      make("div", {}, make("span", { class: `severity ${finding.severity}` }, finding.severity), ` ${finding.code} ${finding.name}`),
      make("div", {}, ...prose(finding.message)),
      place(finding.place),
      ...finding.related.map(([at, text]) => make("div", { class: "note" }, place(at), " ", ...prose(text))),
      ...finding.notes.map((note) => make("div", { class: "note" }, ...prose(note))),
    );
  const command = (text) => {
    const button = make("button", { class: "command", type: "button", title: "copy", onclick: () => copy(button, text) }, text);
    return button;
  };
  const close = make("button", { class: "close", type: "button", "aria-label": "Close details", onclick: () => closeDetails() }, "×");
  const closeDetails = () => {
    view.op = view.column = view.finding = "";
    chosen.row = chosen.column = -1;
    writeAddress();
    grid.redraw();
    list.redraw();
    showDetails();
    (view.tab === "findings" ? $("list") : $("grid")).focus();
  };
  const showDetails = () => {
    const operator = view.tab === "matrix" ? operators.find((each) => each.name === view.op) : null;
    const finding = view.tab === "findings" && view.finding ? findings[Number(view.finding)] : null;
    const parts = operator ? operatorDetails(operator) : finding ? findingDetails(finding) : [];
    $("details").replaceChildren(...parts.filter((part) => part !== null));
    $("details").scrollTop = 0;
  };
  const operatorDetails = (operator) => {
    const found = data.keys.flatMap((key, column) => {
      const cell = cellOf(operator, column);
      const described = cell.state === null ? WORDS.none : cell.state === "missing" || cell.state === "ambiguous" || cell.state === "fallthrough" ? WORDS[cell.state] : cell.reason;
      return [
        make("dt", { class: key === view.column ? "now" : "" }, mark(cell.state), key),
        make("dd", {}, described, cell.kernel && !["fallthrough", "fallback"].includes(cell.state) ? make("span", {}, " ", mono(cell.kernel)) : null, cell.place && cell.state !== "fallback" ? make("div", {}, place(cell.place)) : null),
      ];
    });
    return [
      close,
      make("h2", {}, operator.name),
      make("p", { class: operator.schema ? "schema" : "note" }, operator.schema || "no schema is written"),
      heading("Defined"),
      ...(operator.definitions.length ? operator.definitions.map((at) => make("div", {}, place(at))) : [make("p", { class: "note" }, "nowhere in these sources")]),
      heading("Kernels in the sources"),
      operator.kernels.length
        ? make("dl", {}, ...operator.kernels.flatMap((kernel) => [
            make("dt", {}, kernel.key),
            make("dd", {}, mono(kernel.kernel), kernel.kind === "kernel" ? null : ` ${kernel.kind}`, make("div", {}, place(kernel.place)), kernel.condition ? make("div", { class: "note" }, "only if ", mono(kernel.condition)) : null),
          ]))
        : make("p", { class: "note" }, "none"),
      heading("What a call finds"),
      make("dl", {}, ...found),
      operator.findings.length ? heading("Findings") : null,
      ...operator.findings.map((index) => aboutFinding(findings[index])),
      heading("See more"),
      command(`op-lint table ${operator.name}`),
      command(`op-lint why ${operator.name} --device ${view.column.includes("CUDA") ? "cuda" : "cpu"} --requires-grad`),
    ];
  };
  const aboutOperators = (found) =>
    found.length ? [heading(found.length === 1 ? "Operator" : "Operators"), ...found.slice(0, 20).map((operator) => make("div", {}, toOperator(operator)))] : [];
  const toOperator = (operator) => {
    const open = () => {
      Object.assign(view, { tab: "matrix", q: "", namespace: "", key: "", state: "", flawed: "", op: operator.name, column: "" });
      show();
      $("grid").focus();
    };
    return make("button", { class: "place", type: "button", title: "show it in the matrix", onclick: open }, operator.name);
  };
  const findingDetails = (finding) => [
    close,
    make("h2", {}, `${finding.code} ${finding.name}`),
    make("p", { class: "note" }, ...prose(data.rules[finding.code] || "")),
    heading("Here"),
    aboutFinding(finding),
    ...aboutOperators(operators.filter((operator) => operator.findings.includes(finding.index))),
    heading("See more"),
    command(`op-lint rule ${finding.code}`),
  ];

  /* Controls. */
  const count = (tab, number) => {
    const tabs = $(`tab-${tab}`);
    tabs.querySelector("span").textContent = number.toLocaleString("en");
  };
  const options = (select, pairs) => select.replaceChildren(...pairs.map(([value, text]) => make("option", { value }, text)));
  const fillControls = () => {
    const namespaces = [...new Set(operators.map((operator) => operator.namespace))].sort();
    options($("namespace"), [["", "all"], ...namespaces.map((name) => [name, name])]);
    options($("key"), [["", "any key"], ...data.keys.map((key) => [key, key])]);
    const states = Object.keys(STATES).filter((state) => data.cells.some((cell) => cell.state === state));
    options($("state"), [["", "anything"], ...states.map((state) => [state, STATES[state]])]);
    const counts = new Map();
    for (const finding of findings) counts.set(finding.code, (counts.get(finding.code) || 0) + 1);
    options($("severity"), [["", "all"], ...SEVERITIES.map((severity) => [severity, severity])]);
    options($("rule"), [["", "all"], ...[...counts].sort().map(([code, number]) => [code, `${code} ${findings.find((each) => each.code === code).name} (${number})`])]);
    $("legend").replaceChildren(...states.map((state) => make("li", {}, mark(state), WORDS[state])));
    const longest = Math.max(12, ...operators.map((operator) => operator.name.length + (operator.definitions.length ? 0 : 6)));
    $("grid").style.setProperty("--first", `${Math.min(420, 60 + longest * 7.7)}px`);
    $("heads").replaceChildren(
      make("div", { class: "corner", role: "columnheader" }, "operator"),
      ...data.keys.map((key, column) => make("div", { class: `key${column === data.backends ? " first-other" : ""}`, role: "columnheader", title: key }, make("span", {}, key))),
    );
    $("grid").setAttribute("aria-colcount", data.keys.length + 1);
    for (const tab of document.querySelectorAll("[role=tab]")) {
      tab.append(make("span", {}));
      tab.addEventListener("click", () => {
        view.tab = tab.id.slice(4);
        show();
      });
    }
    for (const name of ["namespace", "key", "state", "severity", "rule"]) {
      $(name).addEventListener("change", () => {
        view[name] = $(name).value;
        show();
      });
    }
    $("flawed").addEventListener("change", () => {
      view.flawed = $("flawed").checked ? "1" : "";
      show();
    });
    $("search").addEventListener("input", () => {
      view.q = $("search").value;
      show();
    });
    $("reset").addEventListener("click", () => {
      Object.assign(view, { q: "", namespace: "", key: "", state: "", flawed: "" });
      show();
      $("grid").focus();
    });
  };
  const fillHead = () => {
    const kernels = operators.reduce((sum, operator) => sum + operator.kernels.length, 0);
    const of = (severity) => findings.filter((finding) => finding.severity === severity).length;
    const totals = [
      [operators.length, "operators", ""],
      [kernels, "kernels", ""],
      [data.units.length, "units", ""],
      [of("error"), "errors", "error"],
      [of("warning"), "warnings", "warning"],
      ...(of("hint") ? [[of("hint"), "hints", "hint"]] : []),
    ];
    $("project").textContent = data.project;
    $("torch").textContent = `${data.torch} · op-lint ${data.version}`;
    $("totals").replaceChildren(...totals.map(([number, word, kind]) => make("li", { class: number ? kind : "none" }, make("b", {}, number.toLocaleString("en")), make("span", {}, word))));
  };
  const show = () => {
    for (const tab of document.querySelectorAll("[role=tab]")) {
      const isCurrent = tab.id === `tab-${view.tab}`;
      tab.setAttribute("aria-selected", isCurrent);
      tab.tabIndex = isCurrent ? 0 : -1;
      $(tab.id.slice(4)).hidden = !isCurrent;
    }
    for (const name of ["namespace", "key", "state", "severity", "rule"]) $(name).value = view[name];
    $("flawed").checked = Boolean(view.flawed);
    if ($("search").value !== view.q) $("search").value = view.q;
    showDetails();
    showMatrix();
    showFindings();
    showUnits();
    showNotes();
    writeAddress();
  };

  /* The keyboard. */
  const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  const clamp = (value, last) => Math.max(0, Math.min(last, value));
  $("grid").addEventListener("keydown", (event) => {
    const page = Math.max(1, Math.floor(($("grid").clientHeight - 118) / ROW) - 1);
    const last = grid.items.length - 1;
    let [row, column] = [chosen.row, Math.max(0, chosen.column)];
    if (event.key in moves) {
      const [down, right] = moves[event.key];
      row = row < 0 ? 0 : row + down;
      column += chosen.column < 0 ? 0 : right;
    } else if (event.key === "PageDown") row += page;
    else if (event.key === "PageUp") row -= page;
    else if (event.key === "Home") event.ctrlKey ? (row = 0) : (column = 0);
    else if (event.key === "End") event.ctrlKey ? (row = last) : (column = data.keys.length - 1);
    else if (event.key === "Escape") return closeDetails();
    else return;
    event.preventDefault();
    if (last >= 0) choose(clamp(row, last), clamp(column, data.keys.length - 1));
  });
  $("list").addEventListener("keydown", (event) => {
    const last = list.items.length - 1;
    const now = list.items.findIndex((finding) => String(finding.index) === view.finding);
    const page = Math.max(1, Math.floor($("list").clientHeight / FINDING) - 1);
    const to = { ArrowDown: now + 1, ArrowUp: now - 1, PageDown: now + page, PageUp: now - page, Home: 0, End: last }[event.key];
    if (event.key === "Escape") return closeDetails();
    if (to === undefined || last < 0) return;
    event.preventDefault();
    chooseFinding(clamp(to, last));
  });
  $("tabs").addEventListener("keydown", (event) => {
    const tabs = [...document.querySelectorAll("[role=tab]")];
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = tabs[(tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length];
    next.click();
    next.focus();
  });
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.matches("input, select, textarea");
    if (event.key === "/" && !isTyping) {
      event.preventDefault();
      $("search").focus();
      $("search").select();
    } else if (event.key === "Escape" && event.target === $("search")) {
      view.q = "";
      show();
      (view.tab === "findings" ? $("list") : $("grid")).focus();
    } else if (event.key === "Enter" && event.target === $("search") && view.tab === "matrix" && grid.items.length) {
      choose(0, Math.max(0, chosen.column));
      $("grid").focus();
    }
  });

  /* Light and dark: as the system has it, until someone says otherwise. */
  const KEPT = "op-lint-theme";
  const remembered = (name) => {
    try {
      if (name) localStorage.setItem(KEPT, name);
      return localStorage.getItem(KEPT);
    } catch {
      return null; // a browser that keeps nothing for files
    }
  };
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const theme = (name) => document.documentElement.setAttribute("data-theme", name);
  let asked = remembered();
  theme(asked || (dark.matches ? "dark" : "light"));
  dark.addEventListener("change", () => asked || theme(dark.matches ? "dark" : "light"));
  $("theme").addEventListener("click", () => {
    asked = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    theme(asked);
    remembered(asked);
  });

  /* Paper has no scroll bars. */
  addEventListener("beforeprint", () => [grid, list].forEach((rows) => rows.whole(true)));
  addEventListener("afterprint", () => [grid, list].forEach((rows) => rows.whole(false)));

  fillHead();
  fillControls();
  readAddress();
  show();
  addEventListener("hashchange", () => {
    readAddress();
    show();
  });
})();
