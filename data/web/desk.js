// Acting on the server: signing in and out, what may be done, questions first, and what came of it.

import { find, write } from "./elements.js";

const LOOK_AGAIN = 60000;
const SHOWN_GOOD = 10000, SHOWN_BAD = 30000; // how long it is told what came of something
/** @type {Record<string, string>} */
const ON_PLAYERS = { kick: "Kick", mute: "Mute", ban: "Ban" };
const FORMS = ["broadcast", "unban", "shutdown"];
const ASKED = ["minutes", "lasting", "reason"];
// What asks before it is done: title, what it means, and which fields the question has.
/**
 * @typedef {{ title: (subject: string) => string, yes: string, about: string, fields: string[] }} Question
 */
/** @type {Record<string, Question>} */
const QUESTIONS = {
  kick: {
    title: (who) => `Kick ${who}`, yes: "Kick",
    about: "The player is sent away and may come back at once.", fields: ["reason"],
  },
  mute: {
    title: (who) => `Mute ${who}`, yes: "Mute",
    about: "The player reads the reason, and may not speak until the time is over.",
    fields: ["minutes", "reason"],
  },
  ban: {
    title: (who) => `Ban the account of ${who}`, yes: "Ban",
    about: "The player is sent away, and nobody of the account gets in until the time is over.",
    fields: ["lasting", "reason"],
  },
  shutdown: {
    title: (seconds) => `Shut the server down in ${seconds} seconds`, yes: "Shut down",
    about: "Everybody is told, and sent away when the time has come. It can be cancelled.",
    fields: [],
  },
};

/** @type {ReturnType<typeof setTimeout> | undefined} */
let saying;
/** @typedef {{ name: string, rank: number | string, csrf: string, actions: string[] }} Seat */

/** @type {Seat | null} */
let seat = null; // who is signed in
/** @type {(isSignedIn: boolean) => void} */
let changed = () => {}; // called when somebody may have signed in or out

/** @param {string} action */
const may = (action) => seat !== null && seat.actions.includes(action);

// The names of what may be done to players.
export const mayOnPlayers = () => Object.keys(ON_PLAYERS).filter(may);

// The buttons beside a player; who listens to them is the table.
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

// Tell what came of something, over whatever is shown, for a while.
/**
 * @param {string} text
 * @param {boolean} isGood
 */
function say(text, isGood) {
  find("desk-result").className = isGood ? "good" : "bad";
  find("desk-result").textContent = text;
  clearTimeout(saying);
  saying = setTimeout(() => { find("desk-result").textContent = ""; }, isGood ? SHOWN_GOOD : SHOWN_BAD);
}

/** @param {Seat | null} told */
function show(told) {
  seat = told;
  find("sign-in").hidden = seat !== null;
  find("signed-in").hidden = seat === null;
  if (seat) write("signed-in-as", `Signed in as ${seat.name}, rank ${seat.rank}.`);
  for (const id of FORMS) find(id).hidden = !may(id);
  find("locking").hidden = !may("lock");
  const acting = mayOnPlayers().length > 0;
  find("players-actions").hidden = !acting;
  for (const kind of ["whole", "acting"]) find("players-section").classList.toggle(kind, acting);
  changed(seat !== null);
}

async function look() {
  try {
    const answer = await fetch("api/admin/session");
    const told = await answer.json();
    find("desk").hidden = !told.enabled;
    if (seat && !told.signed_in) say("You are signed out.", false);
    show(told.signed_in ? told : null);
  } catch {
    // The page says that the server is away; the next turn asks again.
  }
}

/**
 * @param {string} path
 * @param {Record<string, any>} fields
 */
async function send(path, fields) {
  /** @type {Record<string, string>} */
  const headers = { "Content-Type": "application/json" };
  if (seat) headers["X-CSRF-Token"] = seat.csrf;
  try {
    const body = JSON.stringify(fields);
    const answer = await fetch(`api/admin/${path}`, { method: "POST", headers, body });
    if (answer.status === 401) show(null);
    return await answer.json();
  } catch {
    return { ok: false, text: "the server does not answer" };
  }
}

/**
 * @param {string} action
 * @param {Record<string, any>} fields
 */
async function act(action, fields) {
  const told = await send(`actions/${action}`, fields);
  say(told.text, told.ok);
  return told.ok;
}

/** @param {string} id */
const input = (id) => /** @type {HTMLInputElement} */ (find(id));

// Ask before something is done; the answer comes when the dialog closes.
/**
 * @param {string} action
 * @param {string} subject
 * @param {Record<string, any>} fields
 */
function question(action, subject, fields) {
  const { title, about, yes, fields: asked } = QUESTIONS[action];
  const dialog = find("ask");
  write("ask-title", title(subject));
  write("ask-about", about);
  write("ask-yes", yes);
  find("ask-reason").value = "";
  for (const name of ASKED) {
    const field = input(`ask-${name}`);
    field.disabled = /** @type {HTMLElement} */ (field.parentElement).hidden = !asked.includes(name);
  }
  dialog.returnValue = "";
  dialog.onclose = () => {
    if (dialog.returnValue !== "yes") return;
    const answers = asked.map((name) => [name, input(`ask-${name}`).value]);
    act(action, { ...fields, ...Object.fromEntries(answers) });
  };
  dialog.showModal();
  find(asked.length ? `ask-${asked[0]}` : "ask-no").focus();
}

/** @param {SubmitEvent} event */
async function signIn(event) {
  event.preventDefault();
  const password = find("sign-in-password");
  find("sign-in-button").disabled = true;
  const told = await send("sign-in", { name: find("sign-in-name").value, password: password.value });
  find("sign-in-button").disabled = false;
  password.value = "";
  say(told.text, told.ok);
  if (told.ok) {
    show(told);
    find("sign-out").focus();
  } else {
    password.focus();
  }
}

async function signOut() {
  const told = await send("sign-out", {});
  say(told.text, told.ok);
  if (!told.ok) return;
  show(null);
  find("sign-in-name").focus();
}

/** @param {SubmitEvent} event */
async function submitted(event) {
  event.preventDefault();
  const form = /** @type {HTMLFormElement} */ (event.target), action = form.dataset.action ?? "";
  const fields = Object.fromEntries(new FormData(form));
  if (action in QUESTIONS) question(action, String(fields.seconds), fields);
  else if (await act(action, fields)) form.reset();
}

/** @param {Event} event */
const targetOf = (event) => /** @type {HTMLElement} */ (event.target);

// Begin; `whenChanged` is called when somebody has signed in or out.
/** @param {(isSignedIn: boolean) => void} whenChanged */
export function startDesk(whenChanged) {
  changed = whenChanged;
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
  find("ask-no").addEventListener("click", () => find("ask").close());
  look();
  setInterval(() => seat && look(), LOOK_AGAIN);
}
