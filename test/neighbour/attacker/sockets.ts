import { connect, type Socket } from 'node:net';
import { LIMITS } from '../../../shared/contract/limits.ts';
import { ADDRESS, type Attack, type AttackDevice, type Scenario } from './scenario.ts';

const SILENT = 200;
const SLOW_BODIES = 100;
const SLOW_HEADERS = 50;
const KEPT_ALIVE = 150;
const BYTE_MS = 2_000;
const DEPTH = Math.floor(LIMITS.jsonBodyBytes / 2) - 100;
const HEADER_BYTES = 12_000;

const NESTED = Buffer.from('['.repeat(DEPTH) + ']'.repeat(DEPTH));

function connectTo(url: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), localAddress: ADDRESS });
  return socket.on('error', () => undefined).resume();
}

const headOf = (line: string, { headers }: AttackDevice, more: string): string =>
  `${line} HTTP/1.1\r\nHost: localhost\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}${more}`;

/** Opens connections on which next to nothing comes. */
function occupy(attack: Attack): void {
  const sockets: Socket[] = [];
  const slow: Socket[] = [];
  const device = attack.devices[0] as AttackDevice;
  const open = (i: number): Socket => {
    const socket = connectTo(attack.urls[i % 2] as string);
    sockets.push(socket);
    return socket;
  };
  for (let i = 0; i < SILENT; i += 1) open(i);
  for (let i = 0; i < KEPT_ALIVE; i += 1) open(i).write(`${headOf('GET /healthz', device, '')}\r\n`);
  for (let i = 0; i < SLOW_BODIES; i += 1) {
    const socket = open(i);
    const length = 'Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{';
    socket.write(headOf('POST /api/message', device, length));
    slow.push(socket);
  }
  for (let i = 0; i < SLOW_HEADERS; i += 1) {
    const socket = open(i);
    socket.write(headOf('GET /api/me', device, 'X-Slow: '));
    slow.push(socket);
  }
  const timer = setInterval(() => {
    for (const socket of slow) if (socket.writable) socket.write(' ');
  }, BYTE_MS);
  attack.onEnd(() => {
    clearInterval(timer);
    for (const socket of sockets) socket.destroy();
  });
}

export const sockets: Scenario = {
  name: 'sockets',
  what: '500 connections that send nothing, or a byte each 2 s; JSON nested 65,000 deep; unknown paths; headers of 12 KB',
  works: /^40[04]/,
  begin(attack) {
    occupy(attack);
    attack.loop('getMe', (device) => attack.ask(device, { method: 'POST', path: '/api/message', body: NESTED }));
    attack.loop('getMe', (device, i) => attack.ask(device, { path: `/api/nothing-${i}` }));
    attack.loop('getMe', (device) =>
      attack.ask(device, { path: '/api/me', headers: { 'X-Large': 'h'.repeat(HEADER_BYTES) } }),
    );
  },
};
