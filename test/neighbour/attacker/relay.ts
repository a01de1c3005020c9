import { connect, type Socket } from 'node:net';
import { act, offer } from './offers.ts';
import { ADDRESS, type Attack, type AttackDevice, type Scenario } from './scenario.ts';

const FILES = 400;
const FILE_BYTES = 64 * 1024 * 1024;
const IDLE_READERS = 300;
const STALLED = 4;
const SLOW = 2;
const MIB = 1024 * 1024;
const PIECE = Buffer.alloc(6 * MIB, 'r');
const TRICKLE_MS = 2_000;

let id: string | null = null;
const pathOf = (index: number, generation = 0): string => `/api/relay/${id}/${index}/${generation}`;

/** Opens a connection and writes the head of a request. The rest is left to the caller. */
function openRequest(device: AttackDevice, head: string, extra: Record<string, string>): Socket {
  const { hostname, port } = new URL(device.url);
  const socket = connect({ host: hostname, port: Number(port), localAddress: ADDRESS });
  const lines = Object.entries({ Host: `${hostname}:${port}`, ...device.headers, ...extra });
  socket.write(`${head} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`);
  return socket.on('error', () => undefined);
}

const UPLOAD = { 'Content-Type': 'application/partial-upload', 'Upload-Complete': '?0' };

/** Starts an upload that sends a little, and then a byte now and then. */
function stall(attack: Attack, sender: AttackDevice, index: number): Socket {
  const socket = openRequest(sender, `PATCH ${pathOf(index)}`, {
    ...{ ...UPLOAD, 'Upload-Offset': '0', 'Content-Length': String(FILE_BYTES) },
  });
  socket.write(PIECE.subarray(0, 65_536));
  const timer = setInterval(() => socket.write('x'), TRICKLE_MS);
  attack.onEnd(() => clearInterval(timer));
  return socket.resume();
}

interface Rewound {
  sender: AttackDevice;
  receiver: AttackDevice;
  index: number;
  generation: number;
}

/** Sends 6 MiB, has them read, and asks for the first byte again, which raises the generation. */
async function rewind(attack: Attack, file: Rewound): Promise<void> {
  const { sender, receiver, index } = file;
  const before = await attack.ask(sender, { method: 'HEAD', path: pathOf(index, file.generation) });
  if (before.status === 410) file.generation += 1;
  const reader = openRequest(receiver, `GET ${pathOf(index, file.generation)}`, { Range: 'bytes=0-' }).resume();
  await attack.ask(sender, {
    ...{ method: 'PATCH', path: pathOf(index, file.generation), body: PIECE },
    headers: { ...UPLOAD, 'Upload-Offset': '0' },
  });
  reader.destroy();
}

export const relay: Scenario = {
  name: 'relay',
  what: '300 idle downloads, HEADs on many files, stalled uploads, slow readers, rewinds',
  works: /^204/,
  async prepare(attack) {
    const [sender, receiver] = attack.devices as [AttackDevice, AttackDevice];
    const files = Array.from({ length: FILES }, (_, i) => ({ name: `f${i}`, size: FILE_BYTES }));
    id = await offer(attack, { sender, receiver, files });
    if (id === null) return;
    await act(attack, receiver, id, 'accept');
    await act(attack, sender, id, 'relay');
  },
  begin(attack) {
    if (id === null) return;
    const [sender, receiver] = attack.devices as [AttackDevice, AttackDevice];
    const sockets: Socket[] = [];
    for (let i = 0; i < IDLE_READERS; i += 1) {
      const url = attack.urls[i % 2] as string;
      sockets.push(openRequest({ ...receiver, url }, `GET ${pathOf(FILES - 1 - i)}`, {}).resume());
    }
    for (let i = 0; i < STALLED; i += 1) sockets.push(stall(attack, sender, i));
    for (let i = 0; i < SLOW; i += 1) {
      // The socket is paused before the first byte, so it never reads.
      sockets.push(openRequest(receiver, `GET ${pathOf(STALLED + i)}`, {}).pause());
      void attack.ask(sender, {
        ...{ method: 'PATCH', path: pathOf(STALLED + i), body: PIECE },
        headers: { ...UPLOAD, 'Upload-Offset': '0' },
      });
    }
    const file = { sender, receiver, index: STALLED + SLOW, generation: 0 };
    attack.loop('headUpload', (_, i) => attack.ask(sender, { method: 'HEAD', path: pathOf(i % FILES) }));
    attack.loop('appendUpload', () => rewind(attack, file), 1);
    attack.onEnd(() => {
      for (const socket of sockets) socket.destroy();
    });
  },
};
