import { lookup } from 'node:dns/promises';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';

/*
 * The one-shot service `cluster` of docker-compose.yml. It joins the given nodes and deals out the slots among them,
 * once. An existing cluster stays as it is. Usage: node cluster.mjs <host> <host> ...
 */

const SLOTS = 16_384;
const WITHIN_MS = 60_000;
const PORT = 6379;

const nodes = process.argv.slice(2);
const password = readFileSync('/run/baton/password-operator', 'utf8').trim();

const encode = (words) =>
  `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`;

/** Resolves to the reply to one command, as text. Rejects when the reply is an error. */
function ask(host, ...words) {
  return new Promise((resolve, reject) => {
    let said = '';
    const socket = connect({ host, port: PORT, timeout: 5_000 });
    socket.setEncoding('utf8');
    socket.on('connect', () => socket.write([['AUTH', 'operator', password], words, ['QUIT']].map(encode).join('')));
    socket.on('data', (text) => (said += text));
    socket.on('timeout', () => socket.destroy(new Error(`${host} does not answer`)));
    socket.on('error', reject);
    socket.on('close', () => {
      const answer = said.replace(/^\+OK\r\n/, '').replace(/\+OK\r\n$/, '');
      if (answer.startsWith('-')) reject(new Error(`${host}: ${words.join(' ')}: ${answer.slice(1).trim()}`));
      else resolve(answer);
    });
  });
}

async function isWhole(host) {
  const info = await ask(host, 'CLUSTER', 'INFO');
  const known = Number(/cluster_known_nodes:(\d+)/.exec(info)?.[1]);
  return info.includes('cluster_state:ok') && known >= nodes.length;
}

const areWhole = async () => (await Promise.all(nodes.map(isWhole))).every(Boolean);

if (!(await areWhole())) {
  for (const [i, node] of nodes.entries()) {
    const [first, next] = [i, i + 1].map((part) => Math.floor((part * SLOTS) / nodes.length));
    // A node that has already begun owns its slots and has an epoch.
    const busy = (error) => process.stdout.write(`${error.message}\n`);
    await ask(node, 'CLUSTER', 'SET-CONFIG-EPOCH', String(i + 1)).catch(busy);
    await ask(node, 'CLUSTER', 'ADDSLOTSRANGE', String(first), String(next - 1)).catch(busy);
  }
  for (const node of nodes.slice(1)) {
    const { address } = await lookup(node, 4);
    await ask(nodes[0], 'CLUSTER', 'MEET', address, String(PORT));
  }
  const giveUpAt = Date.now() + WITHIN_MS;
  while (!(await areWhole())) {
    if (Date.now() > giveUpAt) throw new Error('the nodes do not become a cluster');
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}
process.stdout.write(`a cluster of ${nodes.join(', ')}\n`);
