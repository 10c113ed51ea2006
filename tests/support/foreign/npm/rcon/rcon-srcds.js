import package_ from 'rcon-srcds'

export const isRefusal = (error) => error.message === 'Unable to authenticate'

export async function answers({ host, port, password }, lines) {
  const client = new package_.default({ host, port, encoding: 'utf8', timeout: 5000 })
  await client.authenticate(password)
  const given = []
  for (const line of lines) given.push(await client.execute(line))
  await client.disconnect()
  return given
}
