import Rcon from 'modern-rcon'

export const isRefusal = (error) => error.message === 'Authentication failed'

export async function answers({ host, port, password }, lines) {
  const client = new Rcon(host, port, password)
  await client.connect()
  const given = []
  for (const line of lines) given.push(await client.send(line))
  await client.disconnect()
  return given
}
