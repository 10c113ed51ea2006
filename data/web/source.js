// The page of a script: its lines, with the errors below the lines in which they were.

import { view } from "./api.js";
import { make, name } from "./elements.js";
import { plural } from "./texts.js";

/** @typedef {{ line: number, event: string, spawn: string, text: string, count: number }} Fault */

/** @param {Fault} one */
const fault = (one) => make("div", { class: "fault" },
  `${one.text} (in ${one.event}${one.spawn ? ` of ${one.spawn}` : ""}, ${plural(one.count, "time")})`);

/** @type {import("./pages.js").Open} */
export async function open(root, words) {
  const [file = "", line = ""] = words;
  const answer = await view("source", { file });
  root.append(make("h2", {}, name(file)));
  if (!answer.ok) {
    root.append(make("p", { class: "bad" }, answer.text));
    return {};
  }
  /** @type {{ lines: string[], total: number, errors: Fault[] }} */
  const { lines, total, errors } = answer.data;
  const code = make("ol", { class: "code" }, ...lines.map((text, at) => make("li",
    String(at + 1) === line ? { class: "picked" } : {}, make("code", {}, text || " "),
    ...errors.filter((one) => one.line === at + 1).map(fault))));
  root.append(make("section", {},
    make("p", { class: "note" }, `${plural(total, "line")}, ${plural(errors.length, "error")}`),
    ...errors.filter((one) => one.line < 1 || one.line > lines.length).map(fault),
    make("div", { class: "scroll tall", tabindex: 0, role: "group", "aria-label": "Source" }, code)));
  code.querySelector(".picked, .fault")?.scrollIntoView({ block: "center" });
  return {};
}
