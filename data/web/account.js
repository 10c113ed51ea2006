// The page of one account: state, characters with their ranks, last logins, acts of operators.

import { act, may, mayView, view } from "./api.js";
import { question } from "./ask.js";
import { facts, fillTable, make, makeTable, name } from "./elements.js";
import { noteList, showActs, TITLES } from "./history.js";
import { address } from "./links.js";
import { dateTime } from "./texts.js";

/** @param {string} moment */
const short = (moment) => moment.slice(0, 16).replace("T", " ");

/** @param {any} one @returns {import("./elements.js").Fact[]} */
export const accountFacts = (one) => [
  { label: "Account", text: one.name, href: address("account", one.name) },
  { label: "State", text: one.state, kind: one.state === "enabled" ? "good" : "bad" },
  { label: "Rank", text: String(one.rank) },
  { label: "Ban ends", text: short(one.banned_until) || "not banned", kind: one.banned_until ? "bad" : "" },
  { label: "Reason of the ban", text: one.ban_reason || "–" },
  { label: "Created", text: short(one.created) || "unknown" },
  { label: "Last login", text: short(one.last_login) || "never" },
  { label: "Last client", text: String(one.last_client_version || "unknown") },
  { label: "Last address", text: one.last_address || "–" },
];

/** @param {any} one @returns {import("./elements.js").Cell[]} */
const characterCells = (one) => [
  make("a", { href: address("player", one.name) }, name(one.name)), [one.level, "number"],
  [one.rank ?? "", "number"], name(one.world), [short(one.last_played) || "never", "time"],
  one.state === "alive" ? one.state : [one.state, "bad"],
  [make("span", {}, ...[
    ["rank", "Rank", one.state === "alive" && one.id !== null],
    ["delete", "Delete", one.state === "alive" && one.id !== null],
    ["restore", "Restore", one.state === "deleted" && one.id !== null],
  ].filter(([action, , isOffered]) => isOffered && may(String(action))).flatMap(([action, text]) => [make("button", {
    type: "button", "data-action": String(action), "data-player": one.name, "aria-label": `${text} ${one.name}`,
  }, String(text)), " "])), "actions"],
];

class AccountPage {
  /** @param {HTMLElement} root @param {string} who */
  constructor(root, who) {
    this.who = who;
    this.buttons = make("p", { class: "acts" });
    this.facts = make("dl");
    this.notes = noteList(() => this.who);
    this.characters = makeTable("Characters", ["Name", "#Level", "#Rank", "World", "Last played (UTC)", "State", "Acts"]);
    this.logins = makeTable("Logins", ["Time (UTC)", "#Client", "Result"]);
    this.acts = makeTable("Acts", TITLES);
    this.acts.box.classList.add("stacked");
    this.fault = make("p", { class: "bad" });
    this.pieces = make("div", { class: "pieces" },
      make("section", {}, make("h3", {}, "Account"), this.facts), this.notes.box,
      make("section", {}, make("h3", {}, "Last logins and refusals"), this.logins.box),
      make("section", { class: "whole" }, make("h3", {}, "Characters"), this.characters.box),
      make("section", { class: "whole" }, make("h3", {}, "What operators did"), this.acts.box));
    root.append(make("div", { class: "heading" }, make("h2", {}, "Account ", name(who)), this.buttons),
      this.fault, this.pieces);
    for (const place of [this.buttons, this.characters.body]) {
      place.addEventListener("click", (event) => this.clicked(event));
    }
  }

  async show() {
    const found = await view("account", { account: this.who });
    this.fault.textContent = found.ok ? "" : found.text;
    this.pieces.hidden = !found.ok;
    if (!found.ok) return;
    this.who = found.data.name;
    facts(this.facts, accountFacts(found.data));
    this.showButtons(found.data);
    await Promise.all([this.notes.show(), this.showCharacters(), this.showLogins(),
      showActs(this.acts.body, [`account ${this.who}`])]);
  }

  /** @param {any} account */
  showButtons(account) {
    const isBanned = account.state === "banned", isOff = account.state === "disabled";
    const offered = [
      ["account-ban", "Ban", !isBanned], ["unban", "Lift the ban", isBanned], ["disable", "Disable", !isOff],
      ["enable", "Enable", isOff], ["account-password", "Set a password", true],
    ].filter(([action, , isOffered]) => isOffered && may(String(action)));
    this.buttons.replaceChildren(...offered.map(([action, text]) => make("button",
      { type: "button", "data-action": String(action) }, String(text))));
  }

  async showCharacters() {
    const found = await view("characters", { account: this.who });
    fillTable(this.characters.body, found.ok ? found.data : [], (one) => `${one.name} ${one.world} ${one.state}`,
      characterCells, "The account has no characters.");
  }

  async showLogins() {
    const answer = await fetch("api/logins");
    const rows = answer.ok ? await answer.json() : [];
    const own = rows.filter((/** @type {import("./app.js").Login} */ one) =>
      one.account.toLowerCase() === this.who.toLowerCase());
    fillTable(this.logins.body, own, (/** @type {import("./app.js").Login} */ one) => one.moment, (one) => [
      [dateTime(one.moment), "time"], [one.client ?? "", "number"],
      one.accepted ? ["logged in", "good"] : [name(one.reason), "bad"],
    ], "None of the server's last 200.");
  }

  /** @param {Event} event */
  async clicked(event) {
    const { action, player } = /** @type {HTMLElement} */ (event.target).dataset;
    if (!action) return;
    const fields = player ? { player } : { account: this.who };
    const isPlain = ["unban", "enable", "restore"].includes(action);
    const done = isPlain ? await act(action, fields) : await question(action, player ?? this.who, fields);
    if (done && mayView("account")) await this.show();
  }
}

/** @type {import("./pages.js").Open} */
export async function open(root, words) {
  const page = new AccountPage(root, words[0] ?? "");
  await page.show();
  return {};
}
