// It takes any answer to a password for a yes; that it was a no shows when nothing is answered.

import Rcon from 'simple-rcon'

const SILENCE = 'no answer'

export const isRefusal = (error) => error.message === SILENCE

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
