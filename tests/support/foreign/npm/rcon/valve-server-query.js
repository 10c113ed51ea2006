import valve from '@fabricio-191/valve-server-query'

export const isRefusal = (error) => error.message === 'RCON: wrong password'

export async function answers({ host, port, password }, lines) {
  const client = await valve.RCON({ ip: host, port, password })
  const given = await Promise.all(lines.map((line) => client.exec(line)))
  client.destroy()
  return given
}
