// It takes any answer to a password for a yes. That it was a no shows when nothing is answered, or,
// where this client is slower than the server, when it writes to the connection that the server ended.

import Rcon from 'simple-rcon'

const SILENCE = 'no answer'

const ENDED = ['ERR_STREAM_WRITE_AFTER_END', 'EPIPE', 'ECONNRESET']

export const isRefusal = (error) => error.message === SILENCE || ENDED.includes(error.code)

export async function answers(server, lines) {
  const client = new Rcon({ ...server, timeout: 1000 })
  const ended = new Promise((_, reject) => {
    client.on('disconnected', () => reject(new Error(SILENCE))).on('error', reject)
  })
  await Promise.race([ended, new Promise((resolve) => client.on('authenticated', resolve).connect())])
  const given = []
  for (const line of lines) {
    const answer = new Promise((resolve) => client.exec(line, resolve))
    given.push((await Promise.race([answer, ended])).body)
  }
  client.close()
  return given
}
