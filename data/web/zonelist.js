// The page of all zones: those that run first, with the players in them.

import { view } from "./api.js";
import { fillTable, make, makeTable, name } from "./elements.js";
import { address } from "./links.js";
import { plural } from "./texts.js";

/**
 * @typedef {{ instance: number, players: number, spawns: number }} Instance
 * @typedef {{ zone: string, id: number, file: string, description: string, nodes: string[],
 *   instances: Instance[] }} Zone
 */

const REFRESH = 10000;
const MOST = 300; // rows that are drawn; the search narrows them

/** @param {Zone} zone */
const players = (zone) => zone.instances.reduce((sum, one) => sum + one.players, 0);

/** @param {Zone} zone */
function state(zone) {
  const links = zone.instances.flatMap((one) => [make("a", { href: address("zone", String(zone.id), String(one.instance)) },
    `map${one.instance ? ` of copy ${one.instance + 1}` : ""}`),
  ` ${plural(one.players, "player")}, ${plural(one.spawns, "spawn")} `]);
  return make("span", {}, ...(links.length ? links : [zone.nodes.length ? `on ${zone.nodes.join(", ")}` : "not running"]));
}

/** @type {import("./pages.js").Open} */
export async function open(root) {
  const find = make("input", { type: "search", id: "zones-find", autocomplete: "off", spellcheck: "false" });
  const form = make("form", { role: "search" }, make("label", {}, "Name, file or number ", find));
  const count = make("p", { class: "note", role: "status" });
  const list = makeTable("Zones", ["#Number", "Zone", "File", "State"]);
  list.box.classList.add("tall", "zone-list");
  root.append(make("h2", {}, "Zones"), make("section", {}, form, count, list.box));
  /** @type {Zone[]} */
  let zones = [];
  function show() {
    const wanted = find.value.trim().toLowerCase();
    const found = zones.filter((one) => [one.zone, one.description, one.file, String(one.id)]
      .some((text) => text.toLowerCase().includes(wanted)));
    const running = found.filter((one) => one.instances.length).length;
    count.textContent = `${plural(found.length, "zone")}, ${running} of them running here`
      + `${found.length > MOST ? `; the first ${MOST} are listed` : ""}.`;
    fillTable(list.body, found.slice(0, MOST), (one) => one.id, (one) => [
      [one.id, "number"], make("a", { href: address("content", "zone", String(one.id)) }, name(one.description)),
      name(one.file), state(one),
    ], "No zone matches.");
  }
  async function load() {
    if (document.hidden) return;
    const answer = await view("zones");
    if (!answer.ok) {
      count.textContent = answer.text;
      return;
    }
    zones = answer.data.toSorted((/** @type {Zone} */ a, /** @type {Zone} */ b) =>
      Number(b.instances.length > 0) - Number(a.instances.length > 0) || players(b) - players(a)
      || a.description.localeCompare(b.description));
    show();
  }
  form.addEventListener("submit", (event) => event.preventDefault());
  find.addEventListener("input", show);
  await load();
  const timer = setInterval(load, REFRESH);
  return { close: () => clearInterval(timer) };
}
