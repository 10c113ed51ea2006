// Asks a server by one A2S client as its documentation shows: a2s.js NAME HOST PORT writes what the
// server told as JSON: name, map, count, places, players (names), rules.

const [name, host, port] = process.argv.slice(2)
const { told } = await import(`./a2s/${name}.js`)
process.stdout.write(JSON.stringify(await told(host, Number(port))), () => process.exit(0))
