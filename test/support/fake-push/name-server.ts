import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

export interface FakeNameServer {
  /** For a resolver: `address:port`. */
  readonly address: string;
  /** The addresses of every name from now on, both families in one list. Null: it does not answer. */
  answer: readonly string[] | null;
  /** Questions so far, by family. */
  readonly asked: { A: number; AAAA: number };
  stop(): Promise<void>;
}

const [TYPE_A, TYPE_AAAA] = [1, 28];
const HEADER_BYTES = 12;

/** Makes one record (RFC 1035, section 4.1.3), named by a pointer to the question, with a TTL of 0. */
function recordOf(type: number, address: string): Buffer {
  const data = Buffer.from(ipaddr.parse(address).toByteArray());
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc000 + HEADER_BYTES, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

/** Starts a name server on loopback, by UDP, that has the same addresses for every name. */
export async function startFakeNameServer(): Promise<FakeNameServer> {
  const socket = createSocket('udp4');
  const asked = { A: 0, AAAA: 0 };

  socket.on('message', (query, from) => {
    const end = query.indexOf(0, HEADER_BYTES) + 5;
    const type = query.readUInt16BE(end - 4);
    asked[type === TYPE_AAAA ? 'AAAA' : 'A']++;
    if (server.answer === null) return;
    const fits = server.answer.filter((address) => isIPv6(address) === (type === TYPE_AAAA));
    const records = type === TYPE_A || type === TYPE_AAAA ? fits.map((address) => recordOf(type, address)) : [];
    const header = Buffer.from(query.subarray(0, HEADER_BYTES));
    header.writeUInt16BE(0x8180, 2);
    header.writeUInt16BE(records.length, 6);
    header.writeUInt32BE(0, 8);
    socket.send(Buffer.concat([header, query.subarray(HEADER_BYTES, end), ...records]), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');

  const server: FakeNameServer = {
    address: `127.0.0.1:${socket.address().port}`,
    answer: [],
    asked,
    async stop() {
      socket.close();
      await once(socket, 'close');
    },
  };
  return server;
}
