// Drives one RCON client as its documentation shows: rcon.js NAME HOST PORT PASSWORD LINE...
// writes the answers as a JSON list. It ends with the status 3 when the password is refused.

const [name, host, port, password, ...lines] = process.argv.slice(2)
const { answers, isRefusal } = await import(`./rcon/${name}.js`)

try {
  const given = await answers({ host, port: Number(port), password }, lines)
  process.stdout.write(JSON.stringify(given), () => process.exit(0))
} catch (error) {
  if (!isRefusal(error)) throw error
  process.exit(3)
}
