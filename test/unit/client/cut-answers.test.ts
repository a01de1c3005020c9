import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { makeCaller } from '../../../shared/client/http/caller.ts';
import { systemClock } from '../../../shared/client/time/clock.ts';
import { append, download } from '../../../shared/client/transfers/relay-calls.ts';

/** Answers every request with this head and a few bytes of the body, and cuts the connection once the head has arrived. */
let server: Server;
let cutShort: (res: ServerResponse) => void = () => {};
let baseUrl: string;

beforeAll(async () => {
  server = createServer((req, res) => {
    req.resume().on('end', () => cutShort(res));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(async () => {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
});

/** Makes a caller whose answers have lost their connection by the time that they are handed on. */
const callerOf = () =>
  makeCaller({
    ...{ baseUrl, headers: undefined, clock: systemClock, keeper: null },
    signal: () => new AbortController().signal,
    async fetch(url, init) {
      const answer = await fetch(url, init);
      const copy = answer.clone();
      server.closeAllConnections();
      await copy.text().catch(() => {});
      return answer;
    },
  });

const { signal } = new AbortController();
const piece = { path: '/api/relay/one/0/0', offset: 0, bytes: new Uint8Array(8), completes: false };

const cutAfter = (status: number, headers: Record<string, string>) => {
  cutShort = (res) => void res.writeHead(status, { 'Content-Length': '400', ...headers }).write('{"code":"relay_bu');
};

test.each([
  ['an appended piece', () => append(callerOf(), systemClock, piece, signal)],
  [
    'a download',
    () => download(callerOf(), systemClock, { path: piece.path, offset: 0, take: async () => {} }, signal),
  ],
])('a refusal of %s that breaks off is asked for again', async (_, ask) => {
  cutAfter(503, { 'Content-Type': 'application/problem+json' });
  await expect(ask()).rejects.toMatchObject({ action: 'retry' });
});

test('the offset counts although the rest of the answer is lost', async () => {
  cutAfter(200, { 'Upload-Offset': '8' });
  await expect(append(callerOf(), systemClock, piece, signal)).resolves.toBe(8);
});

test('a download with other bytes that breaks off is asked for again', async () => {
  cutAfter(206, { 'Content-Range': 'bytes 3-402/800' });
  const wanted = { path: piece.path, offset: 5, take: async () => {} };
  await expect(download(callerOf(), systemClock, wanted, signal)).rejects.toMatchObject({ action: 'retry' });
});

test('a redirect, whose status a browser hides, passes like other answers of a proxy', async () => {
  const hidden = { ok: false, status: 0, body: null, headers: new Headers(), type: 'opaqueredirect' };
  const caller = makeCaller({
    ...{ baseUrl, headers: undefined, clock: systemClock, keeper: null },
    signal: () => new AbortController().signal,
    fetch: async () => hidden as unknown as Response,
  });
  const passing = { code: 'unexpected_answer', action: 'retry' };
  await expect(append(caller, systemClock, piece, signal)).rejects.toMatchObject(passing);
  await expect(caller.call('getMe')).rejects.toMatchObject(passing);
});

test('an answer whose body never ends is given up although the platform does not pass the abort on', async () => {
  const caller = makeCaller({
    ...{ baseUrl, headers: undefined, clock: systemClock, keeper: null },
    signal: () => new AbortController().signal,
    fetch: async () => new Response(new ReadableStream(), { headers: { 'content-type': 'application/json' } }),
  });
  const late = caller.call('getMe', { timeoutMs: 50, retries: 0 });
  await expect(late).rejects.toMatchObject({ code: 'timeout', action: 'retry' });
});
