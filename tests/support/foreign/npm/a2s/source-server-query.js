import query from 'source-server-query'

export async function told(host, port) {
  const info = await query.info(host, port, 5000)
  const players = await query.players(host, port, 5000)
  const rules = await query.rules(host, port, 5000)
  await query.destroy?.()
  return {
    name: info.name,
    map: info.map,
    count: info.players,
    places: info.max_players,
    players: players.map((player) => player.name),
    rules: Object.fromEntries(rules.map((rule) => [rule.name, rule.value])),
  }
}
