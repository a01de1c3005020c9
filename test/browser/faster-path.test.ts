import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeDelayedNetwork } from '../bench/direct/delayed-network.ts';
import { THROUGH_NETWORK } from '../bench/direct/page-scripts.ts';
import { withChromium } from './chromium.ts';
import { type KeyedSite, startKeyedSite } from './keyed-site.ts';
import { type MeasuredPage, openMeasuredPage } from './measured-page.ts';
import { lookAtEachOther, signInMeasured } from './measured-sign-in.ts';

/* A sealed file has a slow direct path, and the service prefers the relay if it is faster. */

/** At a megabyte a second, the direct path takes longer than the test may. */
const BYTES = 80_000_001;
const TAKES_MS = 120_000;

withChromium.describe('a sealed file between two browsers with a slow path between them', () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-faster-path-'));
  const film = join(folder, 'film.bin');
  const bytes = randomBytes(BYTES);
  const network = makeDelayedNetwork({ delayMs: 40, loss: 0.02 });
  let site: KeyedSite;
  let pages: MeasuredPage[] = [];
  beforeAll(async () => {
    writeFileSync(film, bytes);
    site = await startKeyedSite({ APP_RELAY_PREFER: 'true' });
  }, 120_000);
  afterEach(async () => {
    await Promise.all(pages.map((page) => page.stop()));
    pages = [];
  });
  afterAll(async () => {
    await site.stop();
    network.stop();
    rmSync(folder, { recursive: true });
  });

  async function open(): Promise<MeasuredPage> {
    const page: MeasuredPage = await openMeasuredPage({
      ...{ url: site.url, direct: true, script: THROUGH_NETWORK },
      functions: {
        askPort(text) {
          const { id, port: wanted } = JSON.parse(text) as { id: number; port: number };
          void network.udp(wanted).then((found) => page.run(`portIs(${id}, ${found})`));
        },
      },
    });
    pages.push(page);
    return page;
  }

  test(
    'begins direct, goes on through the relay, and arrives whole though the replica dies there',
    async () => {
      const laptop = await site.account();
      const [one, other] = [await open(), await open()];
      for (const page of [one, other]) await signInMeasured(page, laptop);
      await lookAtEachOther(one, other);
      await one.choose('button', 'Send files', film);
      await other.click('button', 'Accept');
      await other.shows('button', 'Direct');
      await other.shows('button', 'Relayed', TAKES_MS);
      await site.replaceReplica();
      await other.shows('.state', 'Received', TAKES_MS);
      const saved = readFileSync(await other.save('button', 'Save'));
      const digest = (content: Buffer) => createHash('sha256').update(content).digest('hex');
      expect(digest(saved)).toBe(digest(bytes));
      await one.shows('.state', 'Sent');
    },
    3 * TAKES_MS,
  );
});
