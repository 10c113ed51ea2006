import { GameDig } from 'gamedig'

export async function told(host, port) {
  const state = await GameDig.query({
    type: 'protocol-valve', host, port, givenPortOnly: true, requestRules: true,
  })
  return {
    name: state.name,
    map: state.map,
    count: state.numplayers,
    places: state.maxplayers,
    players: state.players.map((player) => player.name).sort(),
    rules: state.raw.rules,
  }
}
