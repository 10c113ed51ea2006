// The dashboard: operators sign in and act on the server. Dangerous actions ask first.

import { act, currentUser, may, say, send, setUser, whenEnded } from "./api.js";
import { isAsked, question } from "./ask.js";
import { find, name as bdi, row, write } from "./elements.js";

const RECHECK = 60000;
/** @type {Record<string, string>} */
const ON_PLAYERS = { kick: "Kick", mute: "Mute", ban: "Ban" };
const FORMS = ["broadcast", "unban", "shutdown"];

/** @typedef {import("./api.js").User} User */

/** @type {(isSignedIn: boolean, isNew: boolean) => void} */
let changed = () => {}; // called after each check of the session

// The names of the actions on players that the user may run.
export const mayOnPlayers = () => Object.keys(ON_PLAYERS).filter(may);

// The buttons of a player's row. The table handles their clicks: rows are replaced every two seconds.
/** @param {{ name: string, actions: string[] }} player */
export function actionsOn(player) {
  const buttons = document.createDocumentFragment();
  for (const action of player.actions) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = ON_PLAYERS[action];
    button.dataset.action = action;
    button.dataset.player = player.name;
    button.setAttribute("aria-label", `${ON_PLAYERS[action]} ${player.name}`);
    buttons.append(button, " ");
  }
  return buttons;
}

/** @param {boolean} locked */
export function showLock(locked) {
  find("lock-button").dataset.action = locked ? "unlock" : "lock";
  write("lock-button", locked ? "Unlock the world" : "Lock the world");
}

/** @param {User | null} signedIn */
function show(signedIn) {
  const before = currentUser()?.name, user = signedIn;
  setUser(user);
  document.body.classList.toggle("signed-out", user === null);
  find("sign-in").hidden = user !== null;
  find("signed-in").hidden = user === null;
  if (user) write("signed-in-as", `Signed in as ${user.name}, rank ${user.rank}.`);
  for (const id of FORMS) find(id).hidden = !may(id);
  find("locking").hidden = !may("lock");
  find("petitions").hidden = !may("petitions");
  find("audit").hidden = !may("audit");
  if (!may("audit")) find("audit-rows").textContent = "";
  if (!may("petitions")) find("petition-list").textContent = "";
  const acting = mayOnPlayers().length > 0;
  find("players-actions").hidden = !acting;
  for (const kind of ["whole", "acting"]) find("players-section").classList.toggle(kind, acting);
  changed(user !== null, user?.name !== before);
}

export async function checkSession() {
  try {
    const answer = await fetch("api/admin/session");
    const session = await answer.json();
    find("dashboard").hidden = !session.enabled;
    if (currentUser() && !session.signed_in) say("You are signed out.", false);
    show(session.signed_in ? session : null);
  } catch {
    // The page shows that the server is away; the next check tries again.
  }
}

/**
 * @typedef {{ id: number, kind: string, player: string, place: string, text: string, opened: number,
 *   answer: string, answered: number | null, closed: number | null }} Petition
 */

// The table of petitions. Those that are open have a field for the answer.
/** @param {Event} [event] */
async function showPetitions(event) {
  event?.preventDefault();
  const which = input("petitions-which").value;
  const result = await send("actions/petitions", { which });
  if (!result.ok) return say(result.text, false);
  const rows = result.data;
  write("petitions-title", `Petitions of players (${rows.length} ${which})`);
  find("petition-list").replaceChildren(...rows.map(petitionRow));
  find("petitions-found").hidden = !rows.length;
  write("petitions-text", rows.length ? "" : `There is no ${which} petition.`);
}

/** @param {string} moment */
const utc = (moment) => moment.slice(0, 19).replace("T", " ");

/** @param {Petition} petition */
function petitionRow(petition) {
  const isClosed = petition.closed !== null;
  const answered = petition.answered === null ? "open" : "answered";
  return row([
    [petition.id, "number"], [utc(new Date(petition.opened * 1000).toISOString()), "time"],
    bdi(petition.player), bdi(`${petition.kind} at ${petition.place}: ${petition.text}`),
    isClosed ? "closed" : answered, isClosed ? bdi(petition.answer) : answerForm(petition),
  ]);
}

/** @param {Petition} petition */
function answerForm(petition) {
  const form = document.createElement("form"), text = document.createElement("input");
  text.name = "text";
  text.value = petition.answer;
  text.maxLength = 500;
  text.required = true;
  text.setAttribute("aria-label", `Answer to petition ${petition.id}`);
  const buttons = ["answer", "close"].map((action) => petitionButton(action, petition));
  form.append(text, " ", buttons[0], " ", buttons[1]);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    await act("answer", { petition: String(petition.id), text: text.value });
    await showPetitions();
  });
  return form;
}

/** @type {Record<string, string>} */
const ON_PETITIONS = { answer: "Answer", close: "Close" };

/**
 * @param {string} action
 * @param {Petition} petition
 */
function petitionButton(action, petition) {
  const made = document.createElement("button");
  made.textContent = ON_PETITIONS[action];
  made.setAttribute("aria-label", `${ON_PETITIONS[action]} petition ${petition.id}`);
  if (action !== "close") return made; // the form sends the answer
  made.type = "button";
  made.addEventListener("click", async () => {
    await act("close", { petition: String(petition.id) });
    await showPetitions();
  });
  return made;
}

/**
 * @typedef {{ moment: string, who: string, way: string, command: string, subject: string,
 *   before: string, after: string, reason: string, result: string, ok: boolean }} Act
 */

// List what operators have changed; the field chooses one thing.
/** @param {SubmitEvent} event */
async function showAudit(event) {
  event.preventDefault();
  const result = await send("actions/audit", { subject: input("audit-subject").value.trim() });
  if (!result.ok) return say(result.text, false);
  find("audit-rows").replaceChildren(...result.data.map(auditRow));
  find("audit-found").hidden = !result.data.length;
  if (!result.data.length) say("The audit has no such act.", true);
}

/** @param {Act} one */
const auditRow = (one) => row([
  [utc(one.moment), "time"], bdi(`${one.who} (${one.way})`), one.command,
  bdi(one.subject), bdi(one.before), bdi(one.after), bdi(one.reason),
  one.ok ? bdi(one.result) : [bdi(`refused: ${one.result}`), "bad"],
]);

/** @param {string} id */
const input = (id) => /** @type {HTMLInputElement} */ (find(id));

/** @param {SubmitEvent} event */
async function signIn(event) {
  event.preventDefault();
  const password = find("sign-in-password");
  find("sign-in-button").disabled = true;
  const result = await send("sign-in", { name: find("sign-in-name").value, password: password.value });
  find("sign-in-button").disabled = false;
  password.value = "";
  say(result.text, result.ok);
  if (result.ok) {
    show(result);
    find("sign-out").focus();
  } else {
    password.focus();
  }
}

async function signOut() {
  const result = await send("sign-out", {});
  say(result.text, result.ok);
  if (!result.ok) return;
  show(null);
  find("sign-in-name").focus();
}

/** @param {SubmitEvent} event */
async function submitted(event) {
  event.preventDefault();
  const form = /** @type {HTMLFormElement} */ (event.target), action = form.dataset.action ?? "";
  const fields = Object.fromEntries(new FormData(form));
  if (isAsked(action)) question(action, String(fields.seconds), fields);
  else if (await act(action, fields)) form.reset();
}

/** @param {Event} event */
const targetOf = (event) => /** @type {HTMLElement} */ (event.target);

// Start the dashboard; `whenChanged` is called when a user has signed in or out.
/** @param {(isSignedIn: boolean, isNew: boolean) => void} whenChanged */
export function startDashboard(whenChanged) {
  changed = whenChanged;
  whenEnded(() => show(null));
  find("sign-in").addEventListener("submit", signIn);
  find("sign-out").addEventListener("click", signOut);
  for (const id of FORMS) find(id).addEventListener("submit", submitted);
  for (const id of ["cancel-button", "lock-button"]) {
    find(id).addEventListener("click", (event) => act(targetOf(event).dataset.action ?? "", {}));
  }
  find("players").addEventListener("click", (event) => {
    const { action, player } = targetOf(event).dataset;
    if (action && player) question(action, player, { player });
  });
  find("petitions-form").addEventListener("submit", showPetitions);
  find("audit-form").addEventListener("submit", showAudit);
  checkSession();
  setInterval(() => currentUser() && checkSession(), RECHECK);
}
