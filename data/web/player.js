// The page of one player: everything that operators know of it, and what they can do.

import { accountFacts } from "./account.js";
import { act, currentUser, may, view } from "./api.js";
import { question } from "./ask.js";
import { facts, fillTable, make, makeTable, name } from "./elements.js";
import { noteList, showActs, TITLES } from "./history.js";
import { address } from "./links.js";
import { bytes, coins, dateTime, span } from "./texts.js";

const REFRESH = 5000;
const LISTS = { worn: "worn", appearance: "appearance", bags: "bags", bank: "bank", shared: "shared bank",
  overflow: "waiting" };
/** @type {Record<string, string>} */
const ATTRIBUTES = { str: "Strength", sta: "Stamina", agi: "Agility", wis: "Wisdom", intel: "Intelligence" };

/**
 * @typedef {{ item: number, name: string, where: keyof typeof LISTS, bag: number, place: string,
 *   count: number, condition: number, attuned: boolean, number: number }} Thing
 * @typedef {import("./elements.js").Fact} Fact
 */

/** @param {string} title @param {...(Node | string)} content */
const section = (title, ...content) => make("section", {}, make("h3", {}, title), ...content);

/** @param {any} one @returns {Fact[]} */
const whereFacts = (one) => [
  { label: "State", text: one.state, kind: one.online ? "good" : "" },
  { label: one.online ? "In the world since" : "Last played", text: dateTime(one.since) },
  { label: "Zone", text: one.zone + (one.instance ? ` (${one.instance + 1})` : ""),
    href: one.instance === null ? address("content", "zone", String(one.zone_id))
      : address("zone", String(one.zone_id), String(one.instance)) },
  { label: "Place", text: "x" in one ? [one.x, one.y, one.z].join(", ") : "unknown" },
  { label: "Process", text: one.process || "–" },
  { label: "Muted until", text: one.muted_until * 1000 > Date.now() ? dateTime(one.muted_until) : "not muted",
    kind: one.muted_until * 1000 > Date.now() ? "bad" : "" },
];

/** @param {any} one @returns {Fact[]} */
function connectionFacts(one) {
  const line = one.connection;
  const client = { label: "Client version", text: String(one.client_version || "unknown") };
  if (!line) return [client, { label: "Connection", text: "none" }];
  const dropped = Object.entries(one.ignored_messages).map(([why, count]) => `${why}: ${count}`);
  return [
    client,
    { label: "IP address", text: one.address || "your rank is too low" },
    { label: "Delay", text: line.delay === null ? "not measured" : `${line.delay} ms`,
      kind: line.delay > 400 ? "bad" : "" },
    { label: "Sent again", text: `${(100 * line.loss).toFixed(1)} % (${line.resent} of ${line.datagrams_out})`,
      kind: line.loss > 0.1 ? "bad" : "" },
    { label: "Waits to be sent", text: `${bytes(line.queue)}, ${line.in_flight} packets on the way`,
      kind: line.queue > 65536 ? "bad" : "" },
    { label: "Received", text: `${bytes(line.bytes_in)} in ${line.datagrams_in} datagrams` },
    { label: "Sent", text: `${bytes(line.bytes_out)} in ${line.datagrams_out} datagrams` },
    { label: "Dropped datagrams", text: String(line.dropped) },
    { label: "Messages without effect", text: dropped.join("; ") || "none" },
  ];
}

/** @param {any} one @returns {Fact[]} */
function sheetFacts(one) {
  const sheet = one.sheet;
  const pools = sheet ? [
    { label: "Health", text: `${sheet.health} of ${sheet.health_most}` },
    { label: "Power", text: `${sheet.power} of ${sheet.power_most}` },
    ...Object.entries(sheet.attributes).map(([key, text]) => ({ label: ATTRIBUTES[key] ?? key, text: String(text) })),
  ] : [];
  return [
    { label: "Character", text: `level ${one.level} ${one.race} ${one.class}` },
    { label: "Experience", text: `${one.experience}${one.experience_needed ? ` of ${one.experience_needed}` : ""}` },
    { label: "Coins", text: coins(one.coins) },
    { label: "Status points", text: String(one.status_points) },
    ...pools,
    { label: "Created", text: dateTime(one.created) },
    { label: "Played", text: span(one.played) },
  ];
}

/** @param {any} one @returns {Fact[]} */
const companyFacts = (one) => [
  { label: "Guild", text: one.guild ? `${one.guild.name}, ${one.guild.rank}` : "none" },
  ...["friends", "ignored"].map((kind) => ({
    label: kind === "friends" ? "Friends" : "Ignored", text: one[kind].length ? "" : "none",
    links: one[kind].map((/** @type {string} */ other) => ({ text: other, href: address("player", other) })),
  })),
];

/** @param {Thing} thing @param {Map<number, Thing>} every */
function thingCells(thing, every) {
  const bag = every.get(thing.bag);
  const place = `${LISTS[thing.where]}${bag ? `, ${bag.name || "bag"}` : ""}, ${thing.place}`;
  return [
    place, name(thing.name || `unknown item ${thing.item}`), /** @type {[number, string]} */ ([thing.count, "number"]),
    /** @type {[string, string]} */ ([`${thing.condition} %`, "number"]), thing.attuned ? "attuned" : "",
  ];
}

class PlayerPage {
  /** @param {HTMLElement} root @param {string} who */
  constructor(root, who) {
    this.who = who;
    this.account = "";
    this.isClosed = false;
    this.title = make("h2", {}, name(who));
    this.buttons = make("p", { class: "acts" });
    this.lists = { where: make("dl"), connection: make("dl"), sheet: make("dl"), company: make("dl"), account: make("dl") };
    this.things = makeTable("Things", ["Place", "Thing", "#Count", "#Condition", "State"]);
    this.acts = makeTable("Acts", TITLES);
    this.acts.box.classList.add("stacked");
    this.notes = noteList(() => this.account);
    this.log = make("ol", { class: "lines" });
    this.pieces = make("div", { class: "pieces" },
      section("Where", this.lists.where), section("Connection", this.lists.connection),
      section("Account", this.lists.account), section("Sheet", this.lists.sheet),
      section("Guild and friends", this.lists.company), this.notes.box,
      wide(section("Things", this.things.box)), wide(section("What operators did", this.acts.box)),
      wide(section("Log", make("div", { class: "scroll log", tabindex: 0, role: "group", "aria-label": "Log" }, this.log),
        make("p", {}, make("a", { href: address("log", who) }, "Search the whole log")))));
    root.append(make("div", { class: "heading" }, this.title, this.buttons), this.pieces);
    this.buttons.addEventListener("click", (event) => this.clicked(event));
  }

  async start() {
    const [shown, stored] = await Promise.all([
      view("player", { player: this.who }), view("character", { player: this.who })]);
    if (!shown.ok) {
      this.pieces.hidden = true;
      this.title.after(make("p", { class: "bad" }, shown.text));
      return;
    }
    this.who = shown.data.name;
    this.account = stored.ok ? stored.data.account : "";
    this.title.replaceChildren(name(`${this.who} ${shown.data.last_name}`.trim()));
    this.show(shown.data);
    await Promise.all([this.showAccount(), this.notes.show(), this.showActs(), this.showLog()]);
    this.timer = setInterval(() => this.refresh(), REFRESH);
    if (this.isClosed) this.close();
  }

  async refresh() {
    if (document.hidden) return;
    const shown = await view("player", { player: this.who });
    if (shown.ok && !this.isClosed) this.show(shown.data);
  }

  /** @param {any} one */
  show(one) {
    facts(this.lists.where, whereFacts(one));
    facts(this.lists.connection, connectionFacts(one));
    facts(this.lists.sheet, sheetFacts(one));
    facts(this.lists.company, companyFacts(one));
    const every = new Map(one.things.map((/** @type {Thing} */ thing) => [thing.number, thing]));
    fillTable(this.things.body, one.things, (thing) => thing.number, (thing) => thingCells(thing, every),
      "It has no things.");
    this.isMuted = one.muted_until * 1000 > Date.now();
    this.isOnline = one.online;
    this.showButtons();
  }

  async showAccount() {
    const account = this.account ? await view("account", { account: this.account }) : null;
    if (account?.ok) {
      facts(this.lists.account, accountFacts(account.data));
      this.isBanned = account.data.state === "banned";
    } else {
      facts(this.lists.account, [{ label: "Account", text: account?.text ?? "of another login server" }]);
    }
    this.showButtons();
  }

  showButtons() {
    const offered = [
      ["kick", "Kick", this.isOnline], ["mute", "Mute", this.isOnline && !this.isMuted],
      ["unmute", "Unmute", this.isOnline && this.isMuted],
      ["ban", "Ban", !this.isBanned], ["unban", "Lift the ban", this.isBanned],
    ].filter(([action, , isOffered]) => isOffered && may(String(action)));
    const now = offered.map(([action]) => action).join();
    if (this.buttons.dataset.shown === now) return; // a button that stays keeps the focus
    this.buttons.dataset.shown = now;
    this.buttons.replaceChildren(...offered.flatMap(([action, text]) => [
      make("button", { type: "button", "data-action": String(action) }, String(text))]));
  }

  /** @param {Event} event */
  async clicked(event) {
    const action = /** @type {HTMLElement} */ (event.target).dataset.action;
    if (!action) return;
    const done = action === "unban" ? await act(action, { account: this.account })
      : action === "unmute" ? await act(action, { player: this.who })
        : await question(action, this.who, { player: this.who });
    if (done) await Promise.all([this.refresh(), this.showAccount(), this.showActs()]);
  }

  showActs() {
    return showActs(this.acts.body, [`character ${this.who}`, ...(this.account ? [`account ${this.account}`] : [])]);
  }

  async showLog() {
    this.log.replaceChildren();
    const answer = await fetch("api/lines");
    if (!answer.ok) return;
    for (const line of await answer.json()) this.line(line);
  }

  /** @param {import("./app.js").Line} line */
  line(line) {
    if (!line.text.toLowerCase().includes(this.who.toLowerCase())) return;
    this.log.append(make("li", line.level === "info" ? {} : { class: "bad" },
      make("time", {}, dateTime(line.moment)), " ", make("b", {}, line.area), ` ${line.text}`));
  }

  close() {
    this.isClosed = true;
    clearInterval(this.timer);
  }
}

/** @param {HTMLElement} piece */
function wide(piece) {
  piece.classList.add("whole");
  return piece;
}

/** @type {import("./pages.js").Open} */
export async function open(root, words) {
  const page = new PlayerPage(root, words[0] ?? "");
  if (currentUser()) await page.start();
  return { line: (line) => page.line(line), close: () => page.close() };
}
