import { Rcon } from 'rcon-client'

export const isRefusal = (error) => error.message === 'Authentication failed'

export async function answers(server, lines) {
  const client = await Rcon.connect({ ...server, maxPending: lines.length })
  try {
    return await Promise.all(lines.map((line) => client.send(line)))
  } finally {
    await client.end()
  }
}
