// The list of players, filtered by the search field.

import { mayView } from "./api.js";
import { actionsOn, mayOnPlayers } from "./dashboard.js";
import { find, make, name, table } from "./elements.js";
import { address } from "./links.js";
import { span } from "./texts.js";

/** @typedef {import("./app.js").Player} Player */
/** @typedef {import("./elements.js").Cell} Cell */

/** @type {Player[]} */
let players = [];

/** @param {{ name: string, away: boolean }} player */
function named(player) {
  const both = document.createDocumentFragment();
  const shown = name(player.name);
  both.append(mayView("player") ? make("a", { href: address("player", player.name) }, shown) : shown, player.away ? " (link-dead)" : "");
  return both;
}

export function showPlayers(present = players) {
  players = present;
  const wanted = find("find").value.trim().toLowerCase();
  const actions = mayOnPlayers();
  const shown = players
    .map((player) => ({
      id: player.id, name: player.name, away: player.link_dead,
      class: `${player.level} ${player.class_}`, zone: player.zone || "changing zones",
      here: span(player.online), actions,
    }))
    .filter((one) => [one.name, one.class, one.zone]
      .some((text) => text.toLowerCase().includes(wanted)));
  table("players", shown, (player) => player.id, (player) => [
    named(player), player.class, name(player.zone), [player.here, "number"],
    ...(actions.length ? [/** @type {Cell} */ ([actionsOn(player), "actions"])] : []),
  ], players.length ? "No player matches." : "No players are in the world.");
}

find("find").addEventListener("input", () => showPlayers());
