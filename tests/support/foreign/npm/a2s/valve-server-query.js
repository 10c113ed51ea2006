import valve from '@fabricio-191/valve-server-query'

export async function told(host, port) {
  const server = await valve.Server({ ip: host, port, timeout: 5000 })
  const info = await server.getInfo()
  return {
    name: info.name,
    map: info.map,
    count: info.players.online,
    places: info.players.max,
    players: (await server.getPlayers()).map((player) => player.name),
    rules: await server.getRules(),
  }
}
