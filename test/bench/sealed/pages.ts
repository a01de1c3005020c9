import type { KeyedDevice } from '../../browser/keyed-device.ts';
import { startKeyedSite } from '../../browser/keyed-site.ts';
import { type Measured, type MeasuredPage, openMeasuredPage } from '../../browser/measured-page.ts';
import { type Kind, lookAtEachOther, signInMeasured } from '../../browser/measured-sign-in.ts';
import type { Compared } from './compared.ts';

const MOVES_WITHIN_MS = 600_000;
const MIB = 1024 * 1024;

type Figure = 'moved' | 'sendingPause' | 'receivingPause' | 'sendingMemory' | 'receivingMemory';

const figuresOf = (sending: Measured, receiving: Measured): Omit<Record<Figure, number>, 'moved'> => ({
  sendingPause: sending.pauseMs,
  receivingPause: receiving.pauseMs,
  sendingMemory: sending.grownBytes / MIB,
  receivingMemory: receiving.grownBytes / MIB,
});

/**
 * Sends a file by the app from one browser to another, through the relay of a real replica. It measures the rate from the
 * acceptance until the file is stored, and the longest pause and the most memory of both pages from the choice of the file on.
 */
export async function startPages(mib: number, film: string): Promise<Compared<Figure>> {
  const site = await startKeyedSite();
  let pages: MeasuredPage[] = [];

  async function open(kind: Kind, laptop: KeyedDevice): Promise<MeasuredPage> {
    const page = await openMeasuredPage({ url: site.url, direct: false });
    pages.push(page);
    await signInMeasured(page, laptop, kind);
    return page;
  }

  /** The account is new, because the browsers of earlier rounds are devices of their accounts. */
  async function move(kind: Kind): Promise<Record<Figure, number>> {
    const laptop = await (kind === 'sealed' ? site.account() : site.plainAccount());
    const [one, other] = [await open(kind, laptop), await open(kind, laptop)];
    await lookAtEachOther(one, other);
    const [sending, receiving] = [await one.watch(), await other.watch()];
    await one.choose('button', 'Send files', film);
    await other.shows('button', 'Accept', MOVES_WITHIN_MS);
    const startedAt = performance.now();
    await other.click('button', 'Accept');
    await other.shows('.state', 'Received', MOVES_WITHIN_MS);
    const moved = mib / ((performance.now() - startedAt) / 1_000);
    return { moved, ...figuresOf(await sending(), await receiving()) };
  }

  return {
    async measure(kind) {
      try {
        return await move(kind);
      } finally {
        await Promise.all(pages.map((page) => page.stop()));
        pages = [];
      }
    },
    stop: () => site.stop(),
  };
}
