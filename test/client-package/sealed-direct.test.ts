import type { Page } from 'playwright-core';
import { withChromium } from '../browser/chromium.ts';
import { MIB } from '../relay/support/relayed.ts';
import { useInstalledSite } from './opened.ts';

interface Outcome {
  state: string;
  names: string[];
  paths: string[];
  /** The bodies of the signals that this page has sent. */
  signals: string[];
  sha256: string;
}
type Page_ = Window & {
  keys(): Promise<{ enc: string; sig: string }>;
  makeRings(account: object, own: string, other: object): Promise<{ texts: string[]; hash: string }>;
  join(headers: Record<string, string>, about: object): Promise<void>;
  storeOf(name: string): {
    load(): Promise<object | null>;
    save(record: object): Promise<void>;
    clear(): Promise<void>;
  };
  device: {
    send(to: string, size: number): Promise<Outcome>;
    receive(slowMs: number): Promise<Outcome>;
    progressed(share: number): Promise<void>;
    cut(): void;
  };
};

withChromium.describe('sealed files from device to device', () => {
  const installed = useInstalledSite();

  /** Two pages of one account with keys. */
  async function pair() {
    const { site } = installed;
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const opened = async (replica: { url: string }) => {
      const page = await installed.open('sealed-page.html', replica);
      await page.waitForFunction(() => 'join' in globalThis);
      return page;
    };
    const [sender, receiver] = [await opened(site.one), await opened(site.two)];
    const account = { service: 'https://baton.example', user_id: laptop.user };
    const keys = await receiver.evaluate(() => (globalThis as unknown as Page_).keys());
    const rings = await sender.evaluate(
      ([about, own, other]) => (globalThis as unknown as Page_).makeRings(about, own, other),
      [account, laptop.id, { ...keys, device_id: phone.id }] as const,
    );
    const join = (page: Page, { id, headers }: typeof laptop, isFirst: boolean) =>
      page.evaluate(([itself, about]) => (globalThis as unknown as Page_).join(itself, about), [
        headers,
        { ...rings, account: { ...account, device_id: id }, isFirst },
      ] as const);
    await Promise.all([join(sender, laptop, true), join(receiver, phone, false)]);
    const send = (size: number): Promise<Outcome> =>
      sender.evaluate(([to, bytes]) => (globalThis as unknown as Page_).device.send(to, bytes), [
        phone.id,
        size,
      ] as const);
    const receive = (slowMs: number): Promise<Outcome> =>
      receiver.evaluate((ms) => (globalThis as unknown as Page_).device.receive(ms), slowMs);
    return { receiver, send, receive };
  }

  function expectSame(sent: Outcome, received: Outcome): void {
    expect([sent.state, received.state]).toEqual(['DONE', 'DONE']);
    expect([sent.names, received.names]).toEqual([
      ['holiday/film.mkv', 'empty'],
      ['holiday/film.mkv', 'empty'],
    ]);
    expect(received.sha256).toBe(sent.sha256);
  }

  test('find their path by signals that the service cannot read', async () => {
    const { send, receive } = await pair();
    const [sent, received] = await Promise.all([send(20 * MIB + 7), receive(0)]);
    expectSame(sent, received);
    expect([sent.paths, received.paths]).toEqual([['direct'], ['direct']]);
    const bodies = [...sent.signals, ...received.signals];
    expect(bodies.length).toBeGreaterThan(2);
    const text = expect.any(String);
    const payload = { sealed: expect.stringMatching(/^[\w-]+$/) };
    for (const body of bodies) {
      expect(JSON.parse(body)).toEqual({ to_device_id: text, transfer_id: text, kind: text, payload });
    }
  });

  test('go on through the relay from where they are when the path is cut in the middle', async () => {
    const { receiver, send, receive } = await pair();
    const both = Promise.all([send(40 * MIB), receive(5)]);
    await receiver.evaluate(async () => {
      const { device } = globalThis as unknown as Page_;
      await device.progressed(0.4);
      device.cut();
    });
    const [sent, received] = await both;
    expectSame(sent, received);
    expect([sent.paths, received.paths]).toEqual([
      ['direct', 'relay'],
      ['direct', 'relay'],
    ]);
  });

  test('reading keys that were removed leaves no database behind', async () => {
    const page = await installed.open('sealed-page.html', installed.site.one);
    await page.waitForFunction(() => 'storeOf' in globalThis);
    const seen = await page.evaluate(async () => {
      const store = (globalThis as unknown as Page_).storeOf('kept');
      const names = async () => (await indexedDB.databases()).map(({ name }) => name);
      const removed = () =>
        new Promise((resolve, reject) => {
          Object.assign(indexedDB.deleteDatabase('kept'), { onsuccess: resolve, onerror: reject });
        });
      await store.save({ rings: ['one'] });
      const before = [await names(), await store.load()];
      await removed();
      const [loaded] = await Promise.all([store.load(), store.load(), store.clear()]);
      return { before, after: [await names(), loaded] };
    });
    expect(seen).toEqual({ before: [['kept'], { rings: ['one'] }], after: [[], null] });
  });
});
