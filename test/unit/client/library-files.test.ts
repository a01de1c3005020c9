import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Caller } from '../../../shared/client/http/caller.ts';
import type { Progress } from '../../../shared/client/api.ts';
import type { FileSink } from '../../../shared/client/files/files.ts';
import { fileSession } from '../../../shared/client/node/session.ts';
import { folderSink } from '../../../shared/client/node/sinks.ts';
import { makeMeter } from '../../../shared/client/transfers/progress.ts';
import { download } from '../../../shared/client/transfers/relay-calls.ts';
import { proposeDeviceName } from '../../../shared/client/session/sign-in.ts';
import { readSignInLink } from '../../../shared/client/session/sign-in-link.ts';
import { makePieces, streamSource } from '../../../shared/client/files/sources.ts';
import type { StreamEvents } from '../../../shared/client/events.ts';
import type * as wire from '../../../shared/client/wire.ts';
import type { DeviceSession } from '../../../shared/contract/modules/sessions.ts';
import type { Device } from '../../../shared/contract/modules/devices.ts';
import type { EventData, EventName } from '../../../shared/contract/events.ts';
import type { ErrorCode } from '../../../shared/contract/errors.ts';
import type { Me } from '../../../shared/contract/modules/identity.ts';
import type { MessageAccepted } from '../../../shared/contract/modules/messages.ts';
import type { LoginRequestView } from '../../../shared/contract/modules/signin.ts';
import type { Transfer } from '../../../shared/contract/modules/transfers.ts';
import { makeFolder } from '../../relay/support/relayed.ts';
import { makeManualClock } from './manual-clock.ts';

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
/** This does not compile if a type of the package differs from that of the contract. */
const SAME: readonly true[] = [
  true satisfies Same<wire.Transfer, Transfer>,
  true satisfies Same<wire.Device, Device>,
  true satisfies Same<wire.DeviceSession, DeviceSession>,
  true satisfies Same<wire.Me, Me>,
  true satisfies Same<wire.MessageAccepted, MessageAccepted>,
  true satisfies Same<wire.SignInRequestView, LoginRequestView>,
  true satisfies Same<wire.ServiceErrorCode, ErrorCode>,
  true satisfies Same<StreamEvents, { [N in EventName]: EventData<N> }>,
];

const folder = makeFolder();
afterAll(() => folder.remove());

test('the types of the package are those of the contract', () => {
  expect(SAME).not.toContain(false);
});

test.each([
  ['../../etc/passwd', ['_', '_', 'etc', 'passwd']],
  ['/etc/passwd', ['_', 'etc', 'passwd']],
  ['a/../b', ['a', '__', 'b']],
  ['CON', ['_CON']],
  ['nul.txt', ['_nul.txt']],
  ['ends. ', ['ends__']],
  ['line\nend', ['line_end']],
  ['txt.\u202Eexe', ['txt._exe']],
  ['a\\b', ['a_b']],
  ['.bash_profile', ['_bash_profile']],
  ['.ssh/authorized_keys', ['_ssh', 'authorized_keys']],
  ['project/.git/config', ['project', '.git', 'config']],
  ['.baton-parts/x', ['_baton-parts', 'x']],
])('%j is stored inside of the folder under a safe name', async (name, parts) => {
  const into = join(folder.path, `safe-${Math.random()}`, 'deep', 'deeper');
  const stored: string[] = [];
  const open = folderSink(into, (_, path) => stored.push(path));
  const sink = (await open({ index: 0, name, size: 2, type: null, sha256: null }, AbortSignal.any([]))) as FileSink;
  await sink.write(new TextEncoder().encode('hi'));
  await sink.close();
  const path = (stored[0] as string).slice(into.length + 1).split('/');
  expect(path.map((part) => part.replace(/^_+$/, '_'))).toEqual(parts.map((part) => part.replace(/^_+$/, '_')));
  expect(readFileSync(stored[0] as string, 'utf8')).toBe('hi');
});

test('a name of 255 bytes is cut between letters, and a link in the folder is not followed', async () => {
  const into = join(folder.path, 'linked');
  const elsewhere = join(folder.path, 'elsewhere');
  mkdirSync(into);
  mkdirSync(elsewhere);
  symlinkSync(elsewhere, join(into, 'out'));
  const open = folderSink(into);
  const file = (name: string) => ({ index: 0, name, size: 0, type: null, sha256: null });
  await expect(open(file('out/a.txt'), AbortSignal.any([]))).rejects.toThrow('inside of the folder');
  expect(readdirSync(elsewhere)).toEqual([]);

  const sink = (await open(file(`${'ü'.repeat(125)}.txt`), AbortSignal.any([]))) as FileSink;
  await sink.close();
  const [name = ''] = readdirSync(into).filter((one) => one !== 'out');
  expect(name).toMatch(/^ü{80,}\.txt$/);
});

test('names that some file system takes for one stay apart, and a folder goes beside a file of its name', async () => {
  const into = join(folder.path, 'alike');
  mkdirSync(into);
  writeFileSync(join(into, 'taken'), 'was here');
  const stored: string[] = [];
  const records = join(folder.path, 'records-of-alike');
  const open = folderSink(into, (_, path) => stored.push(path.slice(into.length + 1)), { records });
  let end = (): void => {};
  const done = new Promise<never>((_, reject) => {
    end = () => reject(new Error('over'));
  });
  done.catch(() => {});
  const [never, id] = [AbortSignal.any([]), '019a0000-0000-7000-8000-000000000001'];
  const names = ['Readme.md', 'README.md', '\u00e9', 'e\u0301', 'Photos/a', 'photos/a', 'taken/a', 'taken/b'];
  for (const [index, name] of names.entries()) {
    const sink = (await open({ index, name, size: 0, type: null, sha256: null }, never, { id, done })) as FileSink;
    await sink.close();
  }
  end();
  expect(stored).toEqual([
    'Readme.md',
    'README (2).md',
    '\u00e9',
    'e\u0301 (2)',
    'Photos/a',
    'photos (2)/a',
    'taken (2)/a',
    'taken (2)/b',
  ]);
  expect(readFileSync(join(into, 'taken'), 'utf8')).toBe('was here');
});

test('a receiver that wants hidden names has them, but for those of its own folders', async () => {
  const into = join(folder.path, 'hidden');
  const stored: string[] = [];
  const open = folderSink(into, (_, path) => stored.push(path.slice(into.length + 1)), { hidden: true });
  for (const [index, name] of ['.profile', '.ssh/config', '.baton-parts/x', '.Baton-x'].entries()) {
    const sink = (await open({ index, name, size: 0, type: null, sha256: null }, AbortSignal.any([]))) as FileSink;
    await sink.close();
  }
  expect(stored).toEqual(['.profile', '.ssh/config', '_baton-parts/x', '_Baton-x']);
});

test('two processes that renew wait for each other, and a session is read by its owner alone', async () => {
  const path = join(folder.path, 'private', 'session.json');
  const [one, two] = [fileSession(path), fileSession(path)];
  const story: string[] = [];
  let finish = () => {};
  const first = one.lock?.(async () => {
    story.push('one begins');
    await new Promise<void>((resolve) => {
      finish = resolve;
    });
    story.push('one ends');
  });
  while (story.length === 0) await new Promise((resolve) => setImmediate(resolve));
  const second = two.lock?.(async () => void story.push('two'));
  finish();
  await Promise.all([first, second]);
  expect(story).toEqual(['one begins', 'one ends', 'two']);
  expect(await one.load()).toBeNull();
});

test('progress is told at most ten times a second, with the rate and the time that is left', () => {
  const clock = makeManualClock();
  const meter = makeMeter([{ size: 100_000 }, { size: 0 }], clock, () => {});
  const told: number[] = [];
  meter.onProgress(({ bytes }) => told.push(bytes));
  for (let i = 1; i <= 50; i += 1) {
    clock.advance(10);
    meter.file(0, i * 1_000);
  }
  expect(told.length).toBeLessThanOrEqual(6);
  expect(meter.now).toMatchObject({ bytes: 50_000, files: 1, totalFiles: 2, isPaused: false });
  expect(meter.now.bytesPerSecond).toBeGreaterThan(80_000);
  expect(meter.now.secondsLeft).toBeCloseTo(0.5, 0);
  meter.file(0, 100_000);
  meter.end();
  expect(told.at(-1)).toBe(100_000);
  expect(clock.pending()).toBe(0);
});

test('while nothing moves the rate falls, until it is 0 and no time is left to tell', () => {
  const clock = makeManualClock();
  const meter = makeMeter([{ size: 100_000 }], clock, () => {});
  const told: Progress[] = [];
  meter.onProgress((progress) => told.push(progress));
  for (let i = 1; i <= 10; i += 1) {
    clock.advance(100);
    meter.file(0, i * 1_000);
  }
  for (let second = 0; second < 10; second += 1) clock.advance(1_000);
  expect(told.length).toBeLessThan(20);
  expect(told.at(-1)).toMatchObject({ bytes: 10_000, bytesPerSecond: 0, secondsLeft: null });
  expect(clock.pending()).toBe(0);

  meter.file(0, 20_000);
  clock.advance(100);
  expect(told.at(-1)?.bytesPerSecond).toBeGreaterThan(0);
  meter.end();
  expect(clock.pending()).toBe(0);
});

test('what a listener changes is told too, and nothing after the end', () => {
  const clock = makeManualClock();
  const meter = makeMeter([{ size: 100_000 }], clock, () => {});
  const told: boolean[] = [];
  meter.onProgress(({ isPaused, bytes }) => {
    told.push(isPaused);
    if (!isPaused && bytes === 2_000) meter.paused(true);
  });
  meter.file(0, 1_000);
  clock.advance(200);
  meter.file(0, 2_000);
  clock.advance(100);
  meter.end();
  const { length } = told;
  expect([told.at(-1), clock.pending()]).toEqual([true, 0]);
  clock.advance(10_000);
  expect(told).toHaveLength(length);
});

test('of a stream that is read once, what the service did not take of the last piece can be sent again', async () => {
  const bytes = Uint8Array.from({ length: 10 }, (_, i) => i);
  const source = streamSource(new Blob([bytes]).stream(), { name: 'a', size: 10 });
  const pieces = makePieces(source, AbortSignal.any([]));
  expect([...(await pieces.at(0, 4))]).toEqual([0, 1, 2, 3]);
  expect([...(await pieces.at(1, 4))]).toEqual([1, 2, 3]);
  expect([...(await pieces.at(4, 4))]).toEqual([4, 5, 6, 7]);
  await expect(pieces.at(0, 4)).rejects.toMatchObject({ code: 'source_failed' });
});

test('a piece that the service refused is given again in the smaller size, and its rest after it', async () => {
  const bytes = Uint8Array.from({ length: 10 }, (_, i) => i);
  const source = streamSource(new Blob([bytes]).stream(), { name: 'a', size: 10 });
  const pieces = makePieces(source, AbortSignal.any([]));
  expect([...(await pieces.at(0, 4))]).toEqual([0, 1, 2, 3]);
  expect([...(await pieces.at(0, 1))]).toEqual([0]);
  expect([...(await pieces.at(1, 2))]).toEqual([1, 2]);
  expect([...(await pieces.at(3, 4))]).toEqual([3]);
  expect([...(await pieces.at(4, 2))]).toEqual([4, 5]);
  expect([...(await pieces.at(6, 4))]).toEqual([6, 7]);
  expect([...(await pieces.at(8, 4))]).toEqual([8, 9]);
});

test('a download that is stopped while bytes come says that it was, and not that it failed', async () => {
  const controller = new AbortController();
  const body = new ReadableStream<Uint8Array>({ pull: (stream) => stream.enqueue(new Uint8Array(1)) });
  const caller = { bytes: () => Promise.resolve(new Response(body)) } as unknown as Caller;
  const take = async () => controller.abort();
  const downloading = download(caller, makeManualClock(), { path: '/', offset: 0, take }, controller.signal);
  await expect(downloading).rejects.toMatchObject({ code: 'aborted' });
});

test.each([
  ['Jürgens Rechner', 'Jurgens Rechner'],
  ['電腦', 'Device'],
  ['x'.repeat(40), 'x'.repeat(32)],
  ['*', 'Device'],
])('for a device of the name %j the name %j is proposed', (text, name) => {
  expect(proposeDeviceName(text)).toBe(name);
});

test('a link is read wherever it is, and what is none is none', () => {
  const parts = { request_id: 'abc', approval_code: 'def' };
  expect(readSignInLink('https://baton.example/link?r=abc&c=def')).toEqual(parts);
  expect(readSignInLink('https://baton.example/link?r=abc')).toBeNull();
  expect(readSignInLink('hello')).toBeNull();
});
