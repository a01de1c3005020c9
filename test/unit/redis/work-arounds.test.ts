import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { makeCertificate } from '../../../deploy/local/setup/certificate.mjs';
import { freePort } from '../../../deploy/local/setup/redis.mjs';
import { joinWrites } from '../../../shared/service-kit/redis/work-arounds.ts';
import { connectTo } from '../../support/redis/redis.ts';
import { startRedisProcess } from '../../support/redis/redis-processes.ts';

const { jest } = import.meta;

/** Makes a socket. `writes` has what it took in each write. */
function makeSocket() {
  const writes: string[] = [];
  const stream = new Writable({
    decodeStrings: false,
    write: (chunk: string, _encoding, done) => done(void writes.push(chunk)),
    writev: (chunks, done) => done(void writes.push(chunks.map(({ chunk }) => String(chunk)).join(' '))),
  });
  return { writes, stream };
}

/** Makes a client that writes each command to its present socket. */
function makeClient(stream: Writable | undefined) {
  const client = { stream, sendCommand: (command: string) => client.stream?.write(command) };
  joinWrites(client as unknown as Redis);
  return client;
}

function makeConnection() {
  const { writes, stream } = makeSocket();
  return { writes, stream, server: makeClient(stream) };
}

let nowMs = 0;
beforeEach(() => {
  nowMs = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
});
afterEach(() => jest.restoreAllMocks());

test('commands go out together, in their order, as long as each turn of the event loop brings more', async () => {
  const { writes, server } = makeConnection();
  for (const command of ['first', 'second', 'third']) server.sendCommand(command);
  await Promise.resolve().then(() => server.sendCommand('fourth'));
  await nextTurn();
  server.sendCommand('fifth');
  expect(writes).toEqual([]);
  await nextTurn();
  expect(writes).toEqual([]);
  await nextTurn();
  expect(writes).toEqual(['first second third fourth fifth']);
});

test('one after which nothing comes waits for a single turn', async () => {
  const { writes, server } = makeConnection();
  server.sendCommand('first');
  await nextTurn();
  expect(writes).toEqual([]);
  await nextTurn();
  server.sendCommand('second');
  expect(writes).toEqual(['first']);
  await nextTurn();
  await nextTurn();
  expect(writes).toEqual(['first', 'second']);
});

test('after three milliseconds it waits for no further turn, also where commands come without end', async () => {
  const { writes, server } = makeConnection();
  for (; nowMs < 3; nowMs += 0.75) {
    server.sendCommand(String(nowMs));
    await nextTurn();
    expect(writes).toEqual([]);
  }
  server.sendCommand('last');
  await nextTurn();
  expect(writes).toEqual(['0 0.75 1.5 2.25 last']);
});

test('a connection that ends in the same turn takes nobody with it', async () => {
  const { writes, stream, server } = makeConnection();
  server.sendCommand('first');
  stream.destroy();
  await nextTurn();
  await nextTurn();
  expect(writes).toEqual([]);
});

test('each connection of a client writes what it was given', async () => {
  const [first, second] = [makeSocket(), makeSocket()];
  const client = makeClient(undefined);
  client.sendCommand('before there is a connection');
  client.stream = first.stream;
  client.sendCommand('one');
  client.stream = second.stream;
  client.sendCommand('two');
  for (let turn = 0; turn < 3; turn += 1) await nextTurn();
  expect([first.writes, second.writes]).toEqual([['one'], ['two']]);
  expect(first.stream.writableCorked + second.stream.writableCorked).toBe(0);
});

/*
 * These tests run the library without the work-arounds. A test that fails shows that its work-around is no longer
 * needed.
 */
describe('the library as it is', () => {
  const program = new URL('library-faults.mjs', import.meta.url).pathname;
  // Nobody else ends a process that never gives up its turn.
  const limit = { timeout: 60_000, killSignal: 'SIGKILL' } as const;

  /** Runs a process of its own that meets this fault, and returns what it prints. */
  function meet(...words: string[]): Promise<{ code: number | null; said: string }> {
    return new Promise((resolve) => {
      const child = spawn(process.execPath, [program, ...words], { stdio: ['ignore', 'pipe', 'pipe'], ...limit });
      let said = '';
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (text) => (said += String(text)));
      child.once('close', (code) => resolve({ code, said }));
    });
  }

  test('ends the process when it is refused the subscription that it makes again', async () => {
    expect(await meet('resubscribe')).toEqual({ code: 1, said: expect.stringContaining('NOPERM no') });
  });

  test('ends the process when a connection is closed during the TLS handshake', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'baton-test-tls-'));
    const { certFile, keyFile } = makeCertificate({ folder, hosts: ['127.0.0.1'] });
    const port = await freePort();
    const files = { 'tls-cert-file': certFile, 'tls-key-file': keyFile, 'tls-ca-cert-file': certFile };
    const redis = await startRedisProcess({ settings: { 'tls-port': port, ...files } });
    const met = await meet('handshake', String(port));
    await redis.stop();
    rmSync(folder, { recursive: true });
    expect(met).toEqual({ code: 1, said: expect.stringContaining("Emitted 'error' event on TLSSocket") });
  });

  test('keeps the process with a timer when a cluster is closed during a refresh of its slots', async () => {
    expect(await meet('refresh')).toEqual({ code: null, said: 'still there\n' });
  });

  test.each([
    ['is closed while its socket connects', 'closed'],
    ['is ended by the primary, and not opened again', 'ended'],
  ])('keeps the process with a watch for a new primary when a connection %s', async (_, word) => {
    expect(await meet('watch', word)).toEqual({ code: null, said: 'still there\n' });
  });

  test('writes each command of a turn by itself', async () => {
    const redis = await startRedisProcess();
    const client = connectTo(`redis://127.0.0.1:${redis.port}`);
    await client.ping();
    jest.restoreAllMocks();
    const writes = jest.spyOn(client.stream, 'write');
    await Promise.all(Array.from({ length: 10 }, () => client.ping()));
    expect(writes).toHaveBeenCalledTimes(10);
    client.disconnect();
    await redis.stop();
  });
});
