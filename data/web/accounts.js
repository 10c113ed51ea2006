// The page of all accounts: search, bans, and a form for a new one.

import { act, may, view } from "./api.js";
import { fillTable, make, makeTable, name } from "./elements.js";
import { address } from "./links.js";

/** @type {[string, string][]} */
const WHICH = [
  ["all", "all"], ["banned", "banned"], ["disabled", "disabled"], ["enabled", "enabled"], ["staff", "with a rank"],
];
const PAUSE = 250; // ms after a letter before the search begins

/**
 * @typedef {{ id: number, name: string, state: string, rank: number, created: string, last_login: string,
 *   last_address: string, banned_until: string, ban_reason: string }} Account
 */

/** @param {string} moment */
const short = (moment) => moment.slice(0, 16).replace("T", " ");

/** @param {Account} one @returns {import("./elements.js").Cell[]} */
const cells = (one) => [
  make("a", { href: address("account", one.name) }, name(one.name)),
  [one.state, one.state === "enabled" ? "good" : "bad"], [one.rank, "number"],
  [short(one.last_login) || "never", "time"], name(one.last_address), name(short(one.banned_until)), name(one.ban_reason),
  one.banned_until && may("unban") ? [make("button", {
    type: "button", "data-account": one.name, "aria-label": `Lift the ban of ${one.name}`,
  }, "Lift the ban"), "actions"] : "",
];

class AccountsPage {
  /** @param {HTMLElement} root @param {string} which */
  constructor(root, which) {
    this.beginning = make("input", { type: "search", id: "accounts-find", autocomplete: "off", autocapitalize: "none",
      spellcheck: "false", maxlength: 64 });
    this.which = make("select", { id: "accounts-which" }, ...WHICH.map(([value, text]) => make("option", { value }, text)));
    this.which.value = WHICH.some(([one]) => one === which) ? which : "all";
    this.count = make("p", { class: "note", role: "status" });
    this.list = makeTable("Accounts", ["Name", "State", "#Rank", "Last login (UTC)", "Last address", "Banned until",
      "Reason", "Act"]);
    const search = make("form", { role: "search" }, make("label", {}, "Name begins with ", this.beginning),
      make("label", {}, "Accounts that are ", this.which));
    root.append(make("h2", {}, "Accounts"), make("section", {}, search, this.count, this.list.box),
      make("div", { class: "pieces" }, characterForm(), ...(may("account-add") ? [this.newAccount()] : [])));
    search.addEventListener("submit", (event) => event.preventDefault());
    this.beginning.addEventListener("input", () => {
      clearTimeout(this.waiting);
      this.waiting = setTimeout(() => this.show(), PAUSE);
    });
    this.which.addEventListener("change", () => this.show());
    this.list.body.addEventListener("click", async (event) => {
      const account = /** @type {HTMLElement} */ (event.target).dataset.account;
      if (account && await act("unban", { account })) this.show();
    });
  }

  newAccount() {
    const who = make("input", { id: "account-name", maxlength: 31, autocomplete: "off", autocapitalize: "none",
      spellcheck: "false", required: "" });
    const password = make("input", { id: "account-password", type: "password", maxlength: 255, required: "",
      autocomplete: "new-password" });
    const form = make("form", {}, make("label", {}, "Name ", who), make("label", {}, "Password ", password),
      make("button", {}, "Create the account"));
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      if (!await act("account-add", { account: who.value, password: password.value })) return;
      location.hash = address("account", who.value);
    });
    return make("section", {}, make("h3", {}, "New account"), form);
  }

  async show() {
    const answer = await view("accounts", { beginning: this.beginning.value.trim(), which: this.which.value });
    const rows = answer.ok ? answer.data : [];
    const total = answer.total ?? rows.length;
    this.count.textContent = !answer.ok ? answer.text
      : `${total} found${total > rows.length ? `, the first ${rows.length} of them are listed` : ""}.`;
    fillTable(this.list.body, rows, (/** @type {Account} */ one) => one.id, cells, "No account matches.");
  }
}

// A character is found by its whole name, also while it is away.
function characterForm() {
  const who = make("input", { id: "character-name", maxlength: 64, autocomplete: "off", autocapitalize: "none",
    spellcheck: "false", required: "" });
  const form = make("form", {}, make("label", {}, "Name of a character ", who), make("button", {}, "Open its page"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    location.hash = address("player", who.value.trim());
  });
  return make("section", {}, make("h3", {}, "A character"), form);
}

/** @type {import("./pages.js").Open} */
export async function open(root, words) {
  const page = new AccountsPage(root, words[0] ?? "all");
  await page.show();
  return {};
}
