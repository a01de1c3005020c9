import { lstatSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Context } from '../../../services/cli/context.ts';
import { makeLane } from '../../../services/cli/sending/lane.ts';
import type { Online } from '../../../services/cli/sending/online.ts';
import { sendsOf } from '../../../services/cli/sending/sends.ts';
import { watchIdOf } from '../../../services/cli/sending/settled.ts';
import { keyOf, sourcesOf } from '../../../services/cli/sending/sources.ts';
import type { Device } from '../../../shared/client/index.ts';
import { makeFolder } from '../../relay/support/relayed.ts';

const folder = makeFolder();
const watched = join(folder.path, 'out');
const phone = { device_id: 'phone', name: 'Phone' } as Device;
/** The attempts of one call that reads. */
const ATTEMPTS = 3;

/** A service of an account without keys, which is too busy to say so at first. */
const server = createServer((_, answer) => {
  requests += 1;
  const isBusy = requests <= ATTEMPTS;
  const [status, code] = isBusy ? [429, 'rate_limited'] : [404, 'not_found'];
  answer.writeHead(status, { 'Content-Type': 'application/problem+json', ...(isBusy && { 'Retry-After': '0' }) });
  answer.end(JSON.stringify({ status, code }));
});
let requests = 0;
let url = '';
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await new Promise((resolve) => server.close(resolve));
  folder.remove();
});

function contextOf(notes: string[]): Context {
  const user = { user_id: 'user-1', name: 'User' };
  const ends = Date.now() + 3_600_000;
  const times = { access_token: 'token', access_token_expires_at: ends, session_expires_at: ends };
  const session = { device: { device_id: 'laptop' }, user, origins: [url], ...times };
  const store = { load: async () => session, save: async () => {}, clear: async () => {} };
  const output = { isJson: true, note: (text: string) => notes.push(text), result: () => {} };
  const settings = { folder: folder.path };
  return { settings, session: store, output, signal: new AbortController().signal } as unknown as Context;
}

/** A client that tells what it is asked for. Each transfer is done at once. */
function makeClient() {
  const asked: string[] = [];
  const transfer = (id: string) => {
    const about = { transfer_id: id, state: 'DONE', receiver: phone };
    const done = Promise.resolve(about);
    return { id, transfer: about, receiverOnline: true, done, uploaded: done, onProgress: () => () => {} };
  };
  const transfers = {
    resume: async (id: string) => (asked.push(`resume ${id}`), transfer(id)),
    send: async () => (asked.push('send'), transfer('transfer-2')),
    list: async () => ({ transfers: [], next_cursor: null }),
  };
  const line = { add: () => () => {}, aside: (work: () => unknown) => work() };
  const over = new Promise<never>(() => {});
  const inTurn = (work: () => unknown) => work();
  return { asked, online: { baton: { transfers }, url, line, over, inTurn } as unknown as Online };
}

test('a watched file whose send was interrupted is not offered again while the service is too busy', async () => {
  mkdirSync(watched);
  const path = join(watched, 'photo.jpg');
  writeFileSync(path, 'photo');
  const { size, mtimeMs } = lstatSync(path);
  const [notes, { asked, online }] = [[] as string[], makeClient()];
  const context = contextOf(notes);
  const sends = sendsOf(context);
  const about = { to: phone.device_id, paths: [path], spool: null };
  const key = await keyOf(about.to, about.paths, (await sourcesOf(about)).sources);
  const watch = { id: watchIdOf(watched, phone.device_id), name: 'photo.jpg', stamp: `${size} ${mtimeMs}` };
  await sends.add({ ...about, watch, key: `${key}-0`, transferId: 'transfer-1', startedAt: Date.now() });

  const parts = { receivers: [phone], excludes: [], isPlain: false, dir: watched };
  const failed = new Promise<never>((_, fail) => {
    const files = { present: async () => [], finished: async () => [], stop: () => {} };
    makeLane({ context, online, watched: parts, receiver: phone, fail }, files).catch(fail);
  });
  const ended = async () => {
    while ((await sends.list()).length > 0 && !asked.includes('send')) await nextTurn();
  };
  await Promise.race([failed, ended()]);
  expect(asked).toEqual(['resume transfer-1']);
  expect(notes[0]).toMatch(/^photo\.jpg has to wait: /);
});
