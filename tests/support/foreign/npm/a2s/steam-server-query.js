import {
  queryGameServerInfo, queryGameServerPlayer, queryGameServerRules,
} from 'steam-server-query'

export async function told(host, port) {
  const at = `${host}:${port}`
  const info = await queryGameServerInfo(at, 1, 5000)
  const { players } = await queryGameServerPlayer(at, 1, 5000)
  const { rules } = await queryGameServerRules(at, 1, 5000)
  return {
    name: info.name,
    map: info.map,
    count: info.players,
    places: info.maxPlayers,
    players: players.map((player) => player.name),
    rules: Object.fromEntries(rules.map((rule) => [rule.name, rule.value])),
  }
}
