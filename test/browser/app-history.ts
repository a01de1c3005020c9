import type { Page } from 'playwright-core';

/** A name as long as device names get. */
export const LONG_NAME = 'Wohnzimmer-Familienrechner-Links';

const TEXTS = [
  [false, 'Are the pictures of Sunday on the laptop? I need them for the album.'],
  [true, 'Sending them now, with the map: https://example.org/maps/around-the-lake?from=station.'],
  [false, 'git switch -c mend\nnpm test -- messages {\n  --watch: true;\n}'],
  [true, 'Thanks! Run `npm start` and look at port 8080.'],
] as const;

const STATES = ['done', 'offered', 'failed', 'refused', 'cancelled', 'active'] as const;
const NAMES = [
  'Lake on Sunday.jpg',
  'A name that is so long that nobody ever reads to its end, and that has no place on any telephone, 2026-11-23.pdf',
  'invoices/2026/november.csv',
];

/**
 * Writes a history of messages and files with a device into this browser, as if it had grown there. Returns the
 * device's id.
 */
export function fillHistory(page: Page, user: string, name: string, transfers = 8): Promise<string> {
  return page.evaluate(
    async ({ account, device, texts, states, names, count }) => {
      const headers = JSON.parse(localStorage.getItem('baton-development') ?? '{}') as { deviceId: string };
      const answer = await fetch('/api/devices', {
        headers: { 'X-Dev-User': account, 'X-Dev-Device': headers.deviceId, 'X-Dev-Name': 'Desktop' },
      });
      const { devices } = (await answer.json()) as { devices: { device_id: string; name: string }[] };
      const thread = devices.find((one) => one.name === device.slice(0, 32))?.device_id ?? '';
      const from = Date.now() - 60 * 60_000;
      const messages = texts.map(([isMine, text], i) => ({
        ...{ id: `m${i}`, ref: `m${i}`, thread, at: from + i * 60_000, isMine, kind: 'message', text },
        ...{ state: i === 1 ? 'sent' : 'delivered', error: null },
      }));
      const files = Array.from({ length: count }, (_, i) => ({
        ...{ id: `f${i}`, ref: `f${i}`, thread, at: from + (20 + i / 10) * 60_000, isMine: i % 4 > 1, kind: 'files' },
        files: (i % 3 === 2 ? names : [names[i % 2]]).map((one, index) => ({
          index,
          name: one,
          size: 2_400_000,
          type: null,
        })),
        ...{ fileCount: i % 3 === 2 ? 12 : 1, totalBytes: 2_400_000 * (i % 3 === 2 ? 12 : 1) },
        ...{ state: states[i % states.length], error: i % states.length === 2 ? 'sink_failed' : null, kept: 'here' },
      }));
      const database = await new Promise<IDBDatabase>((resolve) => {
        indexedDB.open(`baton-${account}`).onsuccess = ({ target }) => resolve((target as IDBOpenDBRequest).result);
      });
      const transaction = database.transaction(['items', 'threads'], 'readwrite');
      for (const item of [...messages, ...files]) transaction.objectStore('items').put(item);
      transaction.objectStore('threads').put({ id: thread, name: device, lastAt: Date.now(), unread: 3, draft: '' });
      await new Promise((resolve) => {
        transaction.oncomplete = resolve;
      });
      database.close();
      new BroadcastChannel(`baton/tabs/${account}`).postMessage({ type: 'changed', thread });
      return thread;
    },
    { account: user, device: name, texts: TEXTS, states: STATES, names: NAMES, count: transfers },
  );
}

/** Sends the other tabs a message of the leading tab, so that they show what a test wants. */
export function tellTabs(page: Page, user: string, message: object): Promise<void> {
  return page.evaluate(
    ({ account, told }) => {
      new BroadcastChannel(`baton/tabs/${account}`).postMessage(told);
    },
    { account: user, told: message },
  );
}
