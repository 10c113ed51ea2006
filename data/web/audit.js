// The page of the audit: which operator changed what, by which way, and why.

import { make, makeTable } from "./elements.js";
import { showActs, TITLES } from "./history.js";
import { address } from "./links.js";

/** @type {import("./pages.js").Open} */
export async function open(root, words) {
  const subject = make("input", { id: "audit-subject", type: "search", maxlength: 100, autocomplete: "off",
    autocapitalize: "none", spellcheck: "false", value: words[0] ?? "" });
  const form = make("form", { role: "search" },
    make("label", {}, "Changed account, character or other thing ", subject), make("button", { id: "audit-button" }, "Show"));
  const acts = makeTable("Acts", TITLES);
  acts.body.id = "audit-rows";
  acts.box.classList.add("tall", "stacked");
  root.append(make("h2", {}, "Who did what"), make("section", {}, form, acts.box));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const wanted = address("audit", ...(subject.value.trim() ? [subject.value.trim()] : []));
    if (location.hash === wanted) showActs(acts.body, [subject.value.trim()]);
    else location.hash = wanted;
  });
  await showActs(acts.body, [subject.value]);
  return {};
}
