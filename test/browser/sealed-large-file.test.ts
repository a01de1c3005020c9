import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withChromium } from './chromium.ts';
import { moved } from './found.ts';
import { type KeyedSite, startBalancedSite } from './keyed-site.ts';
import { sha256, writeRandom } from './large-file.ts';
import { type MeasuredPage, openMeasuredPage } from './measured-page.ts';
import { lookAtEachOther, signInMeasured } from './measured-sign-in.ts';

/* A sealed file takes both paths, while both pages are reloaded and both replicas die. For 1 GiB see test/README.md. */

const BYTES = Number(process.env.APP_TEST_FILE_BYTES ?? 150_000_001);
/** The limit is for a busy machine. */
const TAKES_MS = 60_000 + BYTES / 2_000;

/** Keeps the peer connections of a page, so that a test can close them, as a lost network does. */
const KEEP_CONNECTIONS = `{
  const Own = RTCPeerConnection;
  window.connections = [];
  window.RTCPeerConnection = class extends Own {
    constructor(configuration) {
      super(configuration);
      window.connections.push(this);
    }
  };
}`;
const CLOSE_CONNECTIONS = 'for (const one of connections) one.close()';

withChromium.describe('a large sealed file between two browsers on two replicas', () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-sealed-large-'));
  const film = join(folder, 'film.bin');
  let site: KeyedSite;
  let wanted: string;
  let pages: MeasuredPage[] = [];
  beforeAll(async () => {
    wanted = writeRandom(film, BYTES);
    site = await startBalancedSite();
  }, 120_000);
  afterEach(async () => {
    await Promise.all(pages.map((page) => page.stop()));
    pages = [];
  });
  afterAll(async () => {
    await site.stop();
    rmSync(folder, { recursive: true });
  });

  async function open(): Promise<MeasuredPage> {
    const page = await openMeasuredPage({ url: site.url, direct: true, script: KEEP_CONNECTIONS });
    pages.push(page);
    return page;
  }

  test(
    'is the same after both paths, a reload of each side and the deaths of both replicas',
    async () => {
      const laptop = await site.account();
      const [sender, receiver] = [await open(), await open()];
      for (const page of [sender, receiver]) await signInMeasured(page, laptop);
      await lookAtEachOther(sender, receiver);
      const startedAt = Date.now();
      const said: string[] = [];
      /** Waits until a side has moved more than this share. The next steps happen while the file moves. */
      async function at(page: MeasuredPage, share: number, what: string): Promise<void> {
        const done = Number(await page.run(moved(share, TAKES_MS)));
        said.push(`${what} at ${(100 * done).toFixed(0)} %`);
        expect(done).toBeLessThan(1);
      }
      await sender.choose('button', 'Send files', film);
      await receiver.click('button', 'Accept');
      await receiver.shows('button', 'Direct', TAKES_MS);

      await at(receiver, 0.05, 'receiver loaded again');
      await receiver.reload();
      await at(receiver, 0.15, 'direct path lost');
      await receiver.shows('button', 'Direct');
      await sender.run(CLOSE_CONNECTIONS);
      await receiver.shows('button', 'Relayed');
      await at(receiver, 0.25, 'a replica killed');
      await site.replaceReplica();
      await at(receiver, 0.35, 'sender loaded again');
      await sender.reload();
      await sender.choose('button', 'Choose the same files to continue', film);
      await at(receiver, 0.5, 'no direct path any more, and the other replica killed');
      for (const page of [sender, receiver])
        await page.run(`window.RTCPeerConnection = undefined; ${CLOSE_CONNECTIONS}`);
      await receiver.shows('button', 'Relayed');
      await site.replaceReplica();

      await receiver.shows('.state', 'Received', TAKES_MS);
      process.stdout.write(`${BYTES} B in ${Date.now() - startedAt} ms: ${said.join('; ')}\n`);
      expect(await sha256(await receiver.save('button', 'Save'))).toBe(wanted);
      await sender.shows('.state', 'Sent');
    },
    2 * TAKES_MS,
  );
});
