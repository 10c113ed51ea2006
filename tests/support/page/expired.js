// Drives the page's actions without a browser: what it shows when the server no longer knows its
// sign-in. Run as `node expired.js FOLDER`, with a folder that has the page's scripts; prints what
// is shown at each step as a line of JSON.

import { pathToFileURL } from "node:url";

const elements = new Map();
const requests = [];
let answers = {};

// As much of an element as the scripts touch.
function element(id) {
  const handlers = {};
  return {
    id, hidden: false, disabled: false, value: "", textContent: "", className: "", dataset: {},
    classList: { toggle() {} }, children: [], rows: [],
    addEventListener: (kind, handler) => { handlers[kind] = handler; },
    focus() {}, append() {}, setAttribute() {},
    fire: (kind) => handlers[kind]({ preventDefault() {}, target: elements.get(id) }),
  };
}

globalThis.document = {
  getElementById: (id) => elements.get(id) ?? elements.set(id, element(id)).get(id),
  body: element("body"),
};
globalThis.setInterval = () => 0;
globalThis.setTimeout = () => 0;
globalThis.fetch = async (path, options = {}) => {
  requests.push([path, options.headers?.["X-CSRF-Token"] ?? null]);
  const [status, body] = answers[path];
  return { status, json: async () => body };
};

const settled = () => new Promise((resolve) => { setImmediate(resolve); });
const find = (id) => document.getElementById(id);

async function show(step) {
  await settled();
  await settled();
  console.log(JSON.stringify({
    step, asksToSignIn: !find("sign-in").hidden, locking: !find("locking").hidden,
    broadcast: !find("broadcast").hidden, result: find("result").textContent,
    requests: requests.splice(0),
  }));
}

const { startDashboard } = await import(pathToFileURL(`${process.argv[2]}/dashboard.js`).href);
const session = {
  enabled: true, signed_in: true, name: "boss", rank: 200, csrf: "token", actions: ["lock", "broadcast"],
};
answers = {
  "api/admin/session": [200, session],
  "api/admin/actions/lock": [200, { ok: true, text: "the world is locked" }],
};
let changes = 0;
startDashboard(() => { changes += 1; });
await show("signed in");
find("lock-button").dataset.action = "lock";
find("lock-button").fire("click");
await show("locked");
answers["api/admin/actions/lock"] = [403, { ok: false, text: "not allowed" }];
find("lock-button").fire("click");
await show("refused");
answers["api/admin/actions/lock"] = [401, { ok: false, text: "sign in first" }];
find("lock-button").fire("click");
await show("expired");
find("lock-button").fire("click");
await show("again");
console.log(JSON.stringify({ changes }));
