// The signed-in user, its requests, and the line that shows their results.

import { find } from "./elements.js";

const SHOWN_GOOD = 10000, SHOWN_BAD = 30000; // ms that a result stays visible

/**
 * @typedef {{ name: string, rank: number, csrf: string, actions: string[], views: string[] }} User
 * @typedef {{ ok: boolean, text: string, data?: any, total?: number }} Answer
 */

/** @type {User | null} */
let user = null;
/** @type {() => void} */
let ended = () => {}; // called when the server says that the session is over
/** @type {ReturnType<typeof setTimeout> | undefined} */
let saying;

export const currentUser = () => user;

/** @param {User | null} signedIn */
export function setUser(signedIn) {
  user = signedIn;
}

/** @param {() => void} work */
export function whenEnded(work) {
  ended = work;
}

/** @param {string} action */
export const may = (action) => user !== null && user.actions.includes(action);
/** @param {string} name */
export const mayView = (name) => user !== null && (user.views ?? []).includes(name);

// Show the result of an action for a while, above the page.
/**
 * @param {string} text
 * @param {boolean} isGood
 */
export function say(text, isGood) {
  find("result").className = isGood ? "good" : "bad";
  find("result").textContent = text;
  clearTimeout(saying);
  saying = setTimeout(() => { find("result").textContent = ""; }, isGood ? SHOWN_GOOD : SHOWN_BAD);
}

/**
 * Send a request that changes something.
 * @param {string} path
 * @param {Record<string, any>} fields
 */
export async function send(path, fields) {
  /** @type {Record<string, string>} */
  const headers = { "Content-Type": "application/json" };
  if (user) headers["X-CSRF-Token"] = user.csrf;
  try {
    const body = JSON.stringify(fields);
    const answer = await fetch(`api/admin/${path}`, { method: "POST", headers, body });
    if (answer.status === 401) ended();
    return await answer.json();
  } catch {
    return { ok: false, text: "the server does not answer" };
  }
}

/**
 * Run an action and show its result; return whether it succeeded.
 * @param {string} action
 * @param {Record<string, any>} fields
 * @returns {Promise<boolean>}
 */
export async function act(action, fields) {
  const result = await send(`actions/${action}`, fields);
  say(result.text, result.ok);
  return result.ok;
}

/**
 * Read a view.
 * @param {string} name
 * @param {Record<string, string | number>} fields
 * @returns {Promise<Answer>}
 */
export async function view(name, fields = {}) {
  if (!mayView(name)) return { ok: false, text: "your rank is too low for this", data: null };
  const texts = Object.entries(fields).map(([key, value]) => [key, String(value)]);
  const query = new URLSearchParams(texts.filter(([, value]) => value !== ""));
  try {
    const answer = await fetch(`api/views/${name}?${query}`);
    if (answer.status === 403) return { ok: false, text: "you may not read this" };
    return await answer.json();
  } catch {
    return { ok: false, text: "the server does not answer" };
  }
}
