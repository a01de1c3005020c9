import { BatonClientError, type Message } from '../../../shared/client/index.ts';
import type { Keyring } from '../../../shared/client/sealed.ts';
import type { ReceivedText } from '../../../shared/client/sealing.ts';
import type { MessageItem } from '../../../services/web/history/database.ts';
import { makeReceiving } from '../../../services/web/sealing/receiving.ts';

const message: Message = {
  ...{ message_id: 'm1', from_device_id: 'phone', from_name: 'Phone', content: '', sealed: 'AQ' },
  ...{ created_at: 1, redelivered: false },
};
const opened = { kind: 'opened', text: 'hello', t: 1, sender: { device_id: 'phone' } } as ReceivedText;

test('a message is noted under the ring that opened it, although the next one cannot be fetched', async () => {
  const used: unknown[] = [];
  const ring = { device_id: 'laptop' } as Keyring;
  let fetched = 0;
  const receiving = makeReceiving({
    history: {
      receive: () => Promise.resolve(false),
      receiveRefused: () => Promise.reject(new Error('It was genuine')),
      untilKept: () => null,
      messages: () => Promise.resolve([]),
    },
    opening: { inOneStep: (_, note) => note() },
    async opened(open) {
      fetched += 1;
      if (fetched > 1) throw new Error('no network');
      return { received: await open(ring), keyring: ring };
    },
    texts: () => ({
      open: () => Promise.resolve(opened),
      shown: (keyring) => Promise.resolve(void used.push(keyring)),
    }),
    isKeyed: () => true,
    acknowledge: () => Promise.resolve(),
  });
  expect(await receiving.receive(message)).toBe(true);
  expect(used).toEqual([ring]);
  // Without a ring the message stays in the mailbox.
  expect(await receiving.receive(message)).toBe(false);
});

test('a kept message is opened with the next call where the ring or the acknowledgement had no answer', async () => {
  const away = new BatonClientError('draining', 'away', { action: 'retry' });
  const kept: MessageItem = {
    ...{ id: 'm1', ref: 'm1', thread: 'phone', at: 1, isMine: false, kind: 'message', text: '', sealed: 'AQ' },
    ...{ state: 'delivered', error: null },
  };
  const items = [kept];
  const asked: string[] = [];
  const answer = (name: string): Promise<void> => {
    const isFirst = !asked.includes(name);
    asked.push(name);
    return isFirst ? Promise.reject(away) : Promise.resolve();
  };
  const receiving = makeReceiving({
    history: {
      receive: () => Promise.resolve(false),
      receiveRefused: () => Promise.reject(new Error('It was genuine')),
      untilKept: () => null,
      messages: () => Promise.resolve([...items]),
    },
    opening: { inOneStep: async () => void items.splice(0) },
    async opened() {
      await answer('ring');
      return { received: opened, keyring: {} as Keyring };
    },
    texts: () => ({ open: () => Promise.resolve(opened), shown: () => Promise.resolve() }),
    isKeyed: () => true,
    acknowledge: (ids) => answer(`acknowledge ${ids.join()}`),
  });
  await expect(receiving.openKept()).rejects.toBe(away);
  await expect(receiving.openKept()).rejects.toBe(away);
  await receiving.openKept();
  // Nothing is left to do.
  await receiving.openKept();
  expect(asked).toEqual(['ring', 'ring', 'acknowledge m1', 'acknowledge m1']);
});

test('a kept message that is opened while the disk refuses is not acknowledged', async () => {
  const kept: MessageItem = {
    ...{ id: 'm1', ref: 'm1', thread: 'phone', at: 1, isMine: false, kind: 'message', text: '', sealed: 'AQ' },
    ...{ state: 'delivered', error: null },
  };
  const items = [kept];
  const acknowledged: string[][] = [];
  let back: Promise<void> | null = new Promise(() => {});
  const receiving = makeReceiving({
    history: {
      receive: () => Promise.resolve(false),
      receiveRefused: () => Promise.reject(new Error('It was genuine')),
      untilKept: () => back,
      messages: () => Promise.resolve([...items]),
    },
    opening: { inOneStep: async () => void items.splice(0) },
    opened: async () => ({ received: opened, keyring: {} as Keyring }),
    texts: () => ({ open: () => Promise.resolve(opened), shown: () => Promise.resolve() }),
    isKeyed: () => true,
    acknowledge: async (ids) => void acknowledged.push(ids),
  });
  await receiving.openKept();
  expect([items, acknowledged]).toEqual([[], []]);
  back = null;
  await receiving.openKept();
  expect(acknowledged).toEqual([['m1']]);
});
