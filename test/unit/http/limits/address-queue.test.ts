import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as nextTick } from 'node:timers/promises';
import { makeAddressQueue } from '../../../../services/sync/http/limits/address-queue.ts';

interface Asked {
  address: string;
  number: number;
  destroyed: boolean;
}

function queue(batchSize: number) {
  const begun: string[] = [];
  const listener = makeAddressQueue({
    app: (req) => void begun.push(`${(req as unknown as Asked).address} ${(req as unknown as Asked).number}`),
    addressOf: (req) => (req as unknown as Asked).address,
    batchSize,
  });
  const come = (address: string, number: number): Asked => {
    const asked = { address, number, destroyed: false };
    listener(asked as unknown as IncomingMessage, { destroyed: false } as ServerResponse);
    return asked;
  };
  return { begun, come };
}

test('requests that come one by one are begun at once', async () => {
  const { begun, come } = queue(2);
  for (let i = 0; i < 6; i++) {
    come('a', i);
    expect(begun).toHaveLength(i + 1);
    await nextTick();
  }
});

test('of hundreds that come at the same moment a few are begun before other events have their turn', async () => {
  const { begun, come } = queue(4);
  for (let i = 0; i < 300; i++) come('a', i);
  expect(begun).toHaveLength(4);
  await nextTick();
  await nextTick();
  expect(begun.length).toBeLessThanOrEqual(16);
  while (begun.length < 300) await nextTick();
  expect(begun).toEqual(Array.from({ length: 300 }, (_, i) => `a ${i}`));
});

test('whoever comes behind hundreds of another address is the next but one', () => {
  const { begun, come } = queue(4);
  for (let i = 0; i < 300; i++) come('a', i);
  come('b', 0);
  return nextTick().then(() => expect(begun.slice(0, 8)).toContain('b 0'));
});

test('whoever has gone while it waited is not served', async () => {
  const { begun, come } = queue(1);
  come('a', 0);
  come('a', 1).destroyed = true;
  come('a', 2);
  for (let i = 0; i < 5; i++) await nextTick();
  expect(begun).toEqual(['a 0', 'a 2']);
});
