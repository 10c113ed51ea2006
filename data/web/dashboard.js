// The dashboard: operators sign in and act on the server. Dangerous actions ask first.

import { act, currentUser, may, say, send, setUser, whenEnded } from "./api.js";
import { isAsked, question } from "./ask.js";
import { find, write } from "./elements.js";

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
  checkSession();
  setInterval(() => currentUser() && checkSession(), RECHECK);
}
