import { skipUnless } from '../support/runner/skips.ts';
import { makeDevice, type TestDevice } from '../support/device.ts';
import { type Site, startSite } from '../support/site.ts';
import { localUrl } from './app-page.ts';
import { randomUser } from './app-two.ts';
import { hasWebKit } from './bare-webkit.ts';
import { signIn } from './driven-page.ts';
import { openWebKitPage, type WebKitPage } from './webkit-page.ts';

/* WebKit keeps a page that the user leaves, for the way back, even in the middle of a transaction of its database. */

const MESSAGES = 150;
const WITHIN_MS = 60_000;

skipUnless(hasWebKit, 'needs WebKit').describe('a page of WebKit that is left while it stores messages', () => {
  let site: Site;
  let kit: WebKitPage;
  let robot: TestDevice;
  beforeAll(async () => {
    site = await startSite();
    kit = await openWebKitPage(localUrl(site.one));
  }, 120_000);
  afterAll(async () => {
    await kit.stop();
    await site.stop();
  });

  async function burst(from: number, end: number): Promise<void> {
    for (let i = from; i < end; i += 1) {
      await robot.on(site.two).call('sendMessage', { body: { to: 'Mac', content: `number ${i}.` } });
    }
  }

  /** Waits until the thread has the last message. Returns how many the database has. */
  async function stored(count: number): Promise<unknown> {
    await kit.shows('.theirs p', `number ${count - 1}.`, WITHIN_MS);
    return kit.run(`(async () => {
      const settled = (request) => new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
      const { name } = (await indexedDB.databases()).find(({ name }) => name.startsWith('baton-user-'));
      const database = await settled(indexedDB.open(name));
      const all = await settled(database.transaction('items').objectStore('items').getAll());
      database.close();
      return new Set(all.map(({ text }) => text)).size;
    })()`);
  }

  test('the next page stores and shows all of them, and so does the page that somebody goes back to', async () => {
    const user = randomUser();
    robot = makeDevice({ user, name: 'Robot' });
    await robot.on(site.two).call('getMe');
    await signIn(kit, { user, name: 'Mac' });
    await kit.click('.device-name', 'Robot');

    const first = burst(0, MESSAGES);
    await kit.shows('.theirs p', 'number 20.', WITHIN_MS);
    await kit.reload();
    await kit.click('.device-name', 'Robot');
    await first;
    expect(await stored(MESSAGES)).toBe(MESSAGES);

    const second = burst(MESSAGES, 2 * MESSAGES);
    await kit.shows('.theirs p', `number ${MESSAGES + 20}.`, WITHIN_MS);
    await kit.back();
    await kit.click('.device-name', 'Robot');
    await second;
    expect(await stored(2 * MESSAGES)).toBe(2 * MESSAGES);
  }, 240_000);
});
