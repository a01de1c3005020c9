import type { BatonClient, ClientEvents } from '../../../shared/client/api.ts';
import type { StreamedEvent } from '../../../shared/client/events.ts';
import { type Preparing, tellPreparing, watchPreparing } from '../../../shared/client/transfers/preparing.ts';
import { makeManualClock } from './manual-clock.ts';

const FILES = { files: 3, totalBytes: 900 };

/** Makes a sender and a receiver, and records what passes between them. */
function scene() {
  const clock = makeManualClock();
  const signals: { kind: string; payload: unknown }[] = [];
  const seen: (readonly Preparing[])[] = [];
  let listener: (event: ClientEvents['event']) => void = () => {};
  let fails = false;
  const hear = (data: unknown, name = 'signal') => listener({ name, data, id: null } as StreamedEvent);
  const sender: Pick<BatonClient, 'sendSignal'> = {
    async sendSignal(to, { kind, payload }) {
      expect(to).toEqual({ device_id: 'phone' });
      if (fails) throw new Error('no network');
      signals.push({ kind, payload });
      hear({ from_device_id: 'laptop', from_name: 'Laptop', transfer_id: null, kind, payload });
      return true;
    },
  };
  const receiver = {
    on: (_name: string, heard: typeof listener) => {
      listener = heard;
      return () => {
        listener = () => {};
      };
    },
  } as Pick<BatonClient, 'on'>;
  const stop = watchPreparing(receiver, (all) => seen.push(all), clock);
  const tell = () => tellPreparing(sender, { device_id: 'phone' }, FILES, clock);
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return {
    ...{ clock, signals, seen, hear, stop, tell },
    fail: (does: boolean) => {
      fails = does;
    },
    async advance(ms: number) {
      clock.advance(ms);
      await settle();
    },
    settle,
    now: () => seen.at(-1)?.map(({ from, files, totalBytes, bytes }) => [from.name, files, totalBytes, bytes]) ?? [],
  };
}

test('a receiver hears what is prepared, how far it is, and the end', async () => {
  const { tell, advance, now, settle, signals, seen } = scene();
  const told = tell();
  await advance(1_000);
  expect(now()).toEqual([['Laptop', 3, 900, 0]]);
  told.read(450);
  await advance(5_000);
  expect(now()).toEqual([['Laptop', 3, 900, 450]]);
  told.end();
  told.end();
  await settle();
  expect(seen.at(-1)).toEqual([]);
  expect(signals.map(({ kind }) => kind)).toEqual(['offer', 'offer', 'bye']);
});

test('what is ready at once is not announced', async () => {
  const { tell, advance, signals } = scene();
  const told = tell();
  told.end();
  await advance(60_000);
  expect(signals).toEqual([]);
});

test('a sender that stops without a word is forgotten', async () => {
  const { tell, advance, now, fail, clock } = scene();
  const told = tell();
  await advance(1_000);
  expect(now()).toHaveLength(1);
  fail(true);
  await advance(20_000);
  expect(now()).toEqual([]);
  told.end();
  expect(clock.pending()).toBe(0);
});

test('nothing is kept, and no timer runs, once nobody watches', async () => {
  const { tell, advance, stop, clock } = scene();
  const told = tell();
  await advance(1_000);
  told.end();
  stop();
  expect(clock.pending()).toBe(0);
});

test('whatever a peer may send is no more than a few lines', async () => {
  const { hear, seen, clock } = scene();
  const of = (preparing: unknown, more: object = {}) =>
    hear({
      ...{ from_device_id: 'laptop', from_name: 'Laptop', transfer_id: null, kind: 'offer', payload: { preparing } },
      ...more,
    });
  const good = { id: 'a', files: 1, total_bytes: 10, bytes: 3 };
  for (const bad of [null, 7, 'text', [], { ...good, id: '../x' }, { ...good, id: 'x'.repeat(65) }]) of(bad);
  for (const field of ['files', 'total_bytes', 'bytes']) {
    for (const value of [-1, 1.5, '1', null, Number.NaN, 2 ** 60]) of({ ...good, [field]: value });
  }
  of({ ...good, files: 0 });
  for (const more of [
    { from_device_id: null },
    { transfer_id: 't' },
    { kind: 'answer' },
    { payload: null },
    { payload: 'x' },
  ]) {
    of(good, more);
  }
  hear(null);
  expect(seen).toEqual([]);
  of({ ...good, bytes: 99 });
  expect(seen.at(-1)?.[0]?.bytes).toBe(10);
  for (let n = 0; n < 100; n += 1) of({ ...good, id: `many-${n}` });
  expect(seen.at(-1)).toHaveLength(32);
  clock.advance(20_000);
  expect(seen.at(-1)).toEqual([]);
});
