// The page of a running zone: a map of its players, spawns and empty places, and what each of them is.

import { view } from "./api.js";
import { GroundMap, KINDS } from "./canvas.js";
import { facts, make, name, updateChildren } from "./elements.js";
import { address } from "./links.js";
import { plural } from "./texts.js";

const REFRESH = 5000;
const MOST_FOUND = 50;
/** @type {Record<string, string>} */
const WORDS = { player: "player", npc: "NPC", object: "object", ground: "harvest", sign: "sign", widget: "widget",
  empty: "empty spawn point" };

/**
 * @typedef {import("./canvas.js").Mark} Mark
 * @typedef {import("./elements.js").Fact} Fact
 * @typedef {{ file: string, line: number, event: string, spawn: string, text: string, count: number }} Fault
 */

/** @param {Fault} fault */
export const faultLine = (fault) => make("li", { class: "bad" },
  make("a", { href: address("source", fault.file, String(fault.line)) }, `${fault.file}:${fault.line}`),
  ` ${fault.text} (in ${fault.event}${fault.spawn ? ` of ${fault.spawn}` : ""}, ${plural(fault.count, "time")})`);

/** @param {any} one @returns {Fact[]} */
const spawnFacts = (one) => [
  { label: "Spawn", text: `${one.name} ${one.last_name}`.trim() },
  { label: "Kind", text: `${one.kind}, level ${one.level}` },
  { label: "Place", text: `${one.x}, ${one.y}, ${one.z}, heading ${one.heading}` },
  { label: "Health", text: `${one.health} %${one.attackable ? ", can be attacked" : ""}` },
  { label: "Verbs", text: one.verbs.join(", ") || "none" },
  ...(one.round.length || one.way.length ? [{ label: "Walk", text: [
    ...(one.round.length ? [`a round of ${plural(one.round.length, "point")}`] : []),
    ...(one.way.length ? [`a way of ${plural(one.way.length, "point")}`] : []),
  ].join(", ") }] : []),
  ...(one.placement === null ? [{ label: "From", text: one.from_zone_file ? "a zone file" : "a script or a command" }] : [
    { label: "Content", text: `spawn ${one.spawn}`, href: address("content", "spawn", String(one.spawn)) },
    { label: "Placement", text: `${one.placement}, location ${one.location}${one.group ? `, group ${one.group}` : ""}` },
    { label: "Entry", text: `${one.entry}, weight ${one.weight}, condition ${one.condition}` },
    { label: "Respawn", text: one.respawn ? `after ${one.respawn} s` : "never" },
  ]),
  { label: "Script", text: one.script || "none", ...(one.script ? { href: address("source", one.script) } : {}) },
];

/** @param {any} one @returns {Fact[]} */
const placeFacts = (one) => [
  { label: "Placement", text: `${one.placement}, location ${one.location}` },
  { label: "Place", text: `${one.x}, ${one.y}, ${one.z}` },
  { label: "Respawn", text: one.respawn ? `after ${one.respawn} s` : "never" },
  { label: "Stands there", text: one.standing || "nothing", kind: one.standing ? "" : "bad" },
  ...one.reasons.map((/** @type {string} */ text, /** @type {number} */ at) => ({ label: `Reason ${at + 1}`, text })),
  ...one.entries.map((/** @type {any} */ entry) => ({
    label: `Entry ${entry.entry}`, text: `${entry.name || "unknown spawn"} (${entry.spawn}), weight ${entry.weight}`,
    href: address("content", "spawn", String(entry.spawn)),
  })),
];

class ZonePage {
  /** @param {HTMLElement} root @param {string} zone @param {number} instance */
  constructor(root, zone, instance) {
    this.words = { zone, instance };
    this.title = make("h2", {}, "Zone");
    this.canvas = make("canvas", { class: "ground", tabindex: 0, role: "img", "aria-label": "Map" });
    this.details = make("div", { class: "details", role: "status" });
    this.count = make("p", { class: "note" });
    this.find = make("input", { type: "search", id: "ground-find", autocomplete: "off", spellcheck: "false" });
    this.found = make("ul", { class: "found" });
    this.faults = make("ul", { class: "notes" });
    this.kinds = make("p", { class: "legend" });
    this.ground = make("p", { class: "note", hidden: "" }, "The ground is gray; lines are walls.");
    /** @type {Mark[]} */
    this.spawns = [];
    /** @type {Mark[]} */
    this.players = [];
    this.zoneId = 0;
    this.isClosed = false;
    this.isOutlineKnown = false;
    /** @type {ReturnType<typeof setInterval> | undefined} */
    this.timer = undefined;
    this.map = new GroundMap(this.canvas, (mark) => this.pick(mark));
    const form = make("form", { role: "search" }, make("label", {}, "Find a name or number ", this.find));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const [first] = this.matching();
      if (first) this.map.goTo(first);
    });
    this.find.addEventListener("input", () => this.showFound());
    this.found.addEventListener("click", (event) => {
      const button = /** @type {HTMLElement} */ (event.target).closest("button");
      const mark = this.all().find((one) => one.id === button?.dataset.mark);
      if (mark) this.map.goTo(mark);
    });
    this.makeKinds();
    this.pieces = [
      make("div", { class: "workspace" }, make("section", {}, this.buttons(), this.canvas, this.kinds, this.count, this.ground),
        make("section", {}, form, this.found, this.details)),
      make("section", {}, make("h3", {}, "Errors of scripts"), this.faults),
    ];
    this.closed = make("p", { role: "status" });
    root.append(this.title, this.closed, ...this.pieces);
  }

  buttons() {
    const made = make("p", { class: "acts" });
    for (const [text, work] of /** @type {[string, () => void][]} */ ([
      ["Closer", () => this.map.zoom(1.5)], ["Farther", () => this.map.zoom(1 / 1.5)], ["Show all", () => this.map.fit()],
    ])) {
      const button = make("button", { type: "button" }, text);
      button.addEventListener("click", work);
      made.append(button);
    }
    made.append(make("span", { class: "note" }, "Drag or use the arrow keys, the wheel or + and −; Enter chooses the middle."));
    return made;
  }

  makeKinds() {
    for (const kind of KINDS) {
      const box = make("input", { type: "checkbox", checked: "" });
      box.addEventListener("change", () => {
        if (box.checked) this.map.hidden.delete(kind);
        else this.map.hidden.add(kind);
        this.map.draw();
      });
      this.kinds.append(make("label", {}, box, make("span", { class: `mark mark-${kind}`, "aria-hidden": "true" }),
        ` ${WORDS[kind]}s`));
    }
  }

  all() {
    return [...this.spawns, ...this.players];
  }

  matching() {
    const wanted = this.find.value.trim().toLowerCase();
    if (!wanted) return [];
    return this.all().filter((one) => one.name.toLowerCase().includes(wanted) || one.id.split(":")[1] === wanted);
  }

  showFound() {
    const found = this.matching();
    updateChildren(this.found, found.slice(0, MOST_FOUND), (one) => one.id, (one) => make("li", {},
      make("button", { type: "button", "data-mark": one.id }, name(one.name || `placement ${one.id.split(":")[1]}`),
        ` (${WORDS[one.kind]})`)));
    if (this.find.value.trim() && !found.length) this.found.replaceChildren(make("li", {}, "Nothing matches."));
  }

  async load() {
    if (document.hidden || this.isClosed) return;
    const answer = await view("ground", this.words);
    // What was shown stays when the server does not answer for a moment.
    const isShown = answer.ok || this.zoneId !== 0;
    for (const piece of this.pieces) piece.hidden = !isShown;
    this.closed.replaceChildren(...(answer.ok ? [] : [`${answer.text}. `, make("a", { href: address("zones") }, "All zones")]));
    if (!answer.ok) return;
    const { data } = answer;
    this.zoneId = data.zone_id;
    const title = data.zone + (data.instance ? ` (${data.instance + 1})` : "");
    if (this.title.textContent !== title) this.title.replaceChildren(name(title));
    this.spawns = [
      ...data.spawns.map((/** @type {any[]} */ [id, kind, x, z, , title_, , isBad]) => (
        { id: `spawn:${id}`, kind: data.kinds[kind], x, z, name: title_, isBad: isBad === 1 })),
      ...data.empty.map((/** @type {number[]} */ [id, x, z]) => ({ id: `place:${id}`, kind: "empty", x, z, name: "" })),
    ];
    this.count.textContent = `${plural(data.total, "spawn")}, ${plural(data.empty_total, "empty spawn point")}.`
      + " Marks in red have a script with errors.";
    this.faults.replaceChildren(...data.errors.map(faultLine));
    if (!data.errors.length) this.faults.append(make("li", { class: "empty" }, "No script has failed."));
    this.show();
    if (!this.isOutlineKnown) await this.loadOutline();
  }

  // Draw the ground from above, if the zone has a map.
  async loadOutline() {
    const { ok, data } = await view("outline", this.words);
    this.isOutlineKnown ||= ok;
    if (!ok || !data) return;
    const bytes = Uint8Array.from(atob(data.image), (one) => one.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
    this.map.showOutline({ image, x: data.x, z: data.z, cell: data.cell });
    this.ground.hidden = false;
  }

  show() {
    this.canvas.setAttribute("aria-label",
      `Map with ${plural(this.spawns.length, "spawn")} and ${plural(this.players.length, "player")};`
      + " the search beside it finds them by name");
    this.map.show(this.all());
    if (this.find.value.trim()) this.showFound();
  }

  /** @param {import("./app.js").State} state */
  update(state) {
    this.players = state.players
      .filter((one) => one.zone_id === this.zoneId && one.instance === this.words.instance)
      .map((one) => ({ id: `player:${one.name}`, kind: "player", x: one.x, z: one.z, name: one.name }));
    this.show();
  }

  /** @param {Mark | null} mark */
  async pick(mark) {
    this.details.replaceChildren();
    if (!mark) return;
    const [kind, number] = mark.id.split(":");
    if (kind === "player") {
      this.details.append(make("p", {}, make("a", { href: address("player", number) }, name(`Page of ${number}`))));
      return;
    }
    const answer = await view(kind, { ...this.words, number });
    if (this.map.picked?.id !== mark.id) return;
    if (!answer.ok) return this.details.replaceChildren(make("p", { class: "bad" }, answer.text));
    if (kind === "spawn") {
      const { x, z, round, way } = answer.data;
      this.map.walks = [{ points: round, isRound: true }, { points: way.length ? [[x, z], ...way] : [], isRound: false }];
      this.map.draw();
    }
    const list = make("dl");
    facts(list, kind === "spawn" ? spawnFacts(answer.data) : placeFacts(answer.data));
    this.details.replaceChildren(list, make("ul", { class: "notes" }, ...answer.data.errors.map(faultLine)));
    this.details.scrollIntoView({ block: "nearest" }); // on a phone it is below the map
  }

  close() {
    this.isClosed = true;
    clearInterval(this.timer);
    this.map.close();
  }
}

/** @type {import("./pages.js").Open} */
export async function open(root, words) {
  const page = new ZonePage(root, words[0] ?? "", Number(words[1] ?? 0) || 0);
  await page.load();
  page.timer = setInterval(() => page.load(), REFRESH);
  if (page.isClosed) page.close();
  return { update: (state) => page.update(state), close: () => page.close() };
}
