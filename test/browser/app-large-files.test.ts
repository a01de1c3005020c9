import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Site, startSite } from '../support/site.ts';
import { localUrl } from './app-page.ts';
import { withChromium } from './chromium.ts';
import { sha256, writeRandom } from './large-file.ts';
import { type Measured, type MeasuredPage, openMeasuredPage } from './measured-page.ts';

/** 1 GiB takes some minutes: see test/README.md. */
const BYTES = Number(process.env.APP_TEST_FILE_BYTES ?? 200_000_000);
const MB = 1_000_000;
/** The limit is for a busy machine: a fifth of the speed that was measured is enough. */
const TAKES_MS = 60_000 + BYTES / 1_000;
/** These bounds show what makes a page stall or fills its memory, not what a busy machine adds. */
const BOUNDS = { pauseMs: 1_000, grownBytes: 150 * MB };

const said = ({ pauseMs, grownBytes }: Measured): string =>
  `longest pause ${pauseMs.toFixed(0)} ms, memory ${(grownBytes / MB).toFixed(0)} MB above idle`;

/** Returns the page and its figures if they exceed the bounds. */
const beyond = (page: string, measured: Measured): string[] =>
  measured.pauseMs < BOUNDS.pauseMs && measured.grownBytes < BOUNDS.grownBytes ? [] : [`${page}: ${said(measured)}`];

withChromium.describe('a large file between two browsers with the app', () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-large-files-'));
  const film = join(folder, 'film.bin');
  let site: Site;
  let wanted: string;
  let pages: MeasuredPage[] = [];
  beforeAll(async () => {
    site = await startSite();
    wanted = writeRandom(film, BYTES);
  }, 120_000);
  afterEach(async () => {
    await Promise.all(pages.map((page) => page.stop()));
    pages = [];
  });
  afterAll(async () => {
    await site.stop();
    rmSync(folder, { recursive: true });
  });

  /** Opens a phone on one replica and a desktop on the other, each looking at the other's thread. */
  async function pair(direct: boolean): Promise<{ phone: MeasuredPage; desktop: MeasuredPage }> {
    const user = `user-${randomBytes(4).toString('hex')}`;
    const [phone, desktop] = await Promise.all([
      openMeasuredPage({ url: localUrl(site.one), user, name: 'Phone', direct }),
      openMeasuredPage({ url: localUrl(site.two), user, name: 'Desktop', direct }),
    ]);
    pages = [phone, desktop];
    await phone.click('.device-name', 'Desktop');
    await desktop.click('.device-name', 'Phone');
    return { phone, desktop };
  }

  test.each([
    ['through the service', 'Relayed', false],
    ['from device to device', 'Direct', true],
  ])(
    'goes %s, while both pages stay small and go on answering',
    async (_, path, direct) => {
      const { phone, desktop } = await pair(direct);
      const [sending, receiving] = [await phone.watch(), await desktop.watch()];
      const startedAt = Date.now();
      await phone.choose('button', 'Send files', film);
      await desktop.click('button', 'Accept');
      const acceptedAt = Date.now();
      await desktop.shows('button', path);
      await desktop.shows('.state', 'Received', TAKES_MS);
      const [ofSender, ofReceiver] = [await sending(), await receiving()];
      const [preparedMs, movedMs] = [acceptedAt - startedAt, Date.now() - acceptedAt];
      process.stdout.write(
        `${path}, ${(BYTES / MB).toFixed(0)} MB: prepared in ${preparedMs} ms, moved in ${movedMs} ms\n` +
          `  sending page: ${said(ofSender)}\n  receiving page: ${said(ofReceiver)}\n`,
      );
      expect(beyond('sending', ofSender)).toEqual([]);
      expect(beyond('receiving', ofReceiver)).toEqual([]);
      expect(await sha256(await desktop.save('button', 'Save'))).toBe(wanted);
      await phone.shows('.state', 'Sent');
    },
    TAKES_MS + 60_000,
  );
});
