// The dialog that asks before an action, for its reason and for how long.

import { act } from "./api.js";
import { find, make, write } from "./elements.js";

/**
 * @typedef {{ label: string, kind?: string, value?: string, most?: number, optional?: boolean,
 *   choices?: [string, string][] }} Field
 * @typedef {{ title: (subject: string) => string, yes: string, about: string, fields: string[] }} Question
 */

/** @type {[string, string][]} */
export const SPANS = [
  ["1h", "an hour"], ["1d", "a day"], ["1w", "a week"], ["4w", "four weeks"], ["ever", "for ever"],
];
/** @type {[string, string][]} */
export const RANKS = [
  ["player", "player"], ["guide", "guide"], ["gamemaster", "game master"],
  ["admin", "administrator"],
];
/** @type {Record<string, Field>} */
const FIELDS = {
  minutes: { label: "Minutes", kind: "number", value: "10", most: 525600 },
  lasting: { label: "For how long", value: "1d", choices: SPANS },
  reason: { label: "Reason", optional: true, most: 500 },
  rank: { label: "Rank", value: "player", choices: RANKS },
  password: { label: "New password", kind: "password", most: 255 },
};
/** @type {Record<string, Question>} */
const QUESTIONS = {
  kick: {
    title: (who) => `Kick ${who}`, yes: "Kick",
    about: "The player is disconnected and can return at once.", fields: ["reason"],
  },
  mute: {
    title: (who) => `Mute ${who}`, yes: "Mute",
    about: "The player gets the reason and cannot chat until the time is over.",
    fields: ["minutes", "reason"],
  },
  ban: {
    title: (who) => `Ban the account of ${who}`, yes: "Ban",
    about: "The player is disconnected, and the account cannot log in until the time is over.",
    fields: ["lasting", "reason"],
  },
  "account-ban": {
    title: (who) => `Ban the account ${who}`, yes: "Ban",
    about: "Its players are disconnected, and it cannot log in until the time is over.",
    fields: ["lasting", "reason"],
  },
  "account-password": {
    title: (who) => `Set the password of ${who}`, yes: "Set the password",
    about: "The old password does not work any more; the player needs the new one from you.", fields: ["password"],
  },
  disable: {
    title: (who) => `Disable the account ${who}`, yes: "Disable",
    about: "Its players are disconnected, and it cannot log in until an operator enables it.", fields: [],
  },
  rank: {
    title: (who) => `Change the rank of ${who}`, yes: "Change the rank",
    about: "It counts at once. The account has the highest rank of its characters.", fields: ["rank"],
  },
  delete: {
    title: (who) => `Delete ${who}`, yes: "Delete",
    about: "The character must not be in the world. It can be restored.", fields: [],
  },
  shutdown: {
    title: (seconds) => `Shut the server down in ${seconds} seconds`, yes: "Shut down",
    about: "All players are informed now and disconnected at the end. You can cancel it until then.",
    fields: [],
  },
};

/** @param {string} action */
export const isAsked = (action) => action in QUESTIONS;

/**
 * @param {string} name
 * @param {Field} field
 */
function control(name, field) {
  const attributes = { id: `ask-${name}`, autocomplete: field.kind === "password" ? "new-password" : "off" };
  const made = field.choices
    ? make("select", attributes, ...field.choices.map(([value, text]) =>
      make("option", value === field.value ? { value, selected: "" } : { value }, text)))
    : make("input", {
      ...attributes, type: field.kind ?? "text", value: field.value ?? "",
      ...(field.kind === "number" ? { min: 1, max: field.most ?? 0 } : { maxlength: field.most ?? 500 }),
      ...(field.optional ? {} : { required: "" }),
    });
  return make("label", {}, `${field.label} `, made);
}

/**
 * Ask before an action, then run it; the promise is whether it was run and succeeded.
 * @param {string} action
 * @param {string} subject
 * @param {Record<string, any>} fields
 * @returns {Promise<boolean>}
 */
export function question(action, subject, fields) {
  const { title, about, yes, fields: asked } = QUESTIONS[action];
  const dialog = find("ask");
  write("ask-title", title(subject));
  write("ask-about", about);
  write("ask-yes", yes);
  find("ask-fields").replaceChildren(...asked.map((name) => control(name, FIELDS[name])));
  dialog.returnValue = "";
  dialog.showModal();
  find(asked.length ? `ask-${asked[0]}` : "ask-no").focus();
  return new Promise((done) => {
    dialog.onclose = () => {
      /** @param {string} name */
      const given = (name) => /** @type {HTMLInputElement} */ (find(`ask-${name}`)).value;
      const answers = Object.fromEntries(asked.map((name) => [name, given(name)]));
      find("ask-fields").replaceChildren(); // a password does not stay in the page
      done(dialog.returnValue === "yes" ? act(action, { ...fields, ...answers }) : false);
    };
  });
}

find("ask-no").addEventListener("click", () => find("ask").close());
