// Parses diagrams: reads a JSON list of texts from stdin, writes a JSON list of messages, "" for
// each diagram without a fault. mermaid needs a DOM even to parse.

import { JSDOM } from 'jsdom'

const { window } = new JSDOM('')
Object.assign(globalThis, { window, document: window.document })
const { default: mermaid } = await import('mermaid')

const texts = []
for await (const chunk of process.stdin) texts.push(chunk)
const faults = []
for (const diagram of JSON.parse(texts.join(''))) {
  faults.push(await mermaid.parse(diagram).then(() => '', error => error.message))
}
process.stdout.write(JSON.stringify(faults), () => process.exit(0))
