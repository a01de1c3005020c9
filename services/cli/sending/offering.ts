import type { BatonClient, OutgoingTransfer } from '../../../shared/client/index.ts';
import type { Claim } from '../../../shared/client/node.ts';
import { tellPreparing } from '../../../shared/client/transfers/preparing.ts';
import type { Context } from '../context.ts';
import { CliError, failureOf } from '../failure.ts';
import { REFUSED_BETWEEN } from '../foreign-refusals.ts';
import { showPreparing } from '../progress.ts';
import type { BegunSend, Unfinished, UnfinishedSends } from '../unfinished.ts';
import type { Sealer } from './sealer.ts';
import { filesOf, type Source } from './sources.ts';

/** The errors after which an offer may have arrived all the same. */
const UNSURE = [
  ...['aborted', REFUSED_BETWEEN, 'network', 'timeout', 'unexpected_answer'],
  ...['internal', 'store_unavailable', 'draining'],
];

interface Parts {
  context: Context;
  baton: BatonClient;
  sends: UnfinishedSends;
  sealer: Sealer;
  begun: BegunSend;
  /** True: it is the last piece of the command. */
  isLast: boolean;
  /** How many files are sent at a time; undefined: the library's default. */
  concurrency: number | undefined;
}

export interface Offered {
  transfer: OutgoingTransfer;
  entry: Unfinished;
  claim: Claim;
}

/** Wraps sources, so that reading them before the offer is shown here and reported to the receiver. */
function watched({ context, baton }: Pick<Parts, 'context' | 'baton'>, to: string, sources: readonly Source[]) {
  const totalBytes = sources.reduce((sum, { size }) => sum + size, 0);
  const bar = showPreparing(context.output, totalBytes);
  const told = tellPreparing(baton, { device_id: to }, { files: filesOf(sources).length, totalBytes });
  const done: number[] = sources.map(() => 0);
  let sum = 0;
  function read(index: number, bytes: number): void {
    sum += bytes - (done[index] as number);
    done[index] = bytes;
    bar.read(sum);
    told.read(sum);
  }
  return {
    sources: sources.map((source, index) => {
      const digest = source.digest?.bind(source);
      if (digest === undefined) return source;
      return {
        ...source,
        async digest(signal: AbortSignal) {
          const sha256 = await digest(signal, (bytes) => read(index, bytes));
          read(index, source.size);
          return sha256;
        },
      };
    }),
    hide: bar.end,
    end() {
      bar.end();
      told.end();
    },
  };
}

/**
 * Offers a piece, and records it before any of it is sent. An offer may have arrived without a record, because the program
 * was killed or got no response. The next start checks that, so the data about the offer stays.
 */
export async function offer(
  { context, baton, sends, sealer, begun, isLast, concurrency }: Parts,
  sources: readonly Source[],
  about: Omit<Unfinished, 'transferId' | 'startedAt'>,
): Promise<Offered> {
  const { signal } = context;
  const bytes = sealer.bytesOf(sources);
  await sends.keepBegun({ ...begun, offering: { key: about.key, files: sources.length, bytes, isLast } });
  const noted: Omit<Offered, 'transfer'>[] = [];
  const preparing = watched({ context, baton }, about.to, sources);
  try {
    const settings = { signal, offlineMs: null, ...(concurrency !== undefined && { concurrency }) };
    const transfer = await sealer.offer(about.to, preparing.sources, settings, async (transferId, sealedKey) => {
      preparing.hide();
      const claim = sends.claim(transferId);
      if (claim === null) throw new CliError('Another program sends this now.', { code: 'taken' });
      const entry = { ...about, transferId, startedAt: Date.now(), ...(sealedKey !== undefined && { sealedKey }) };
      await sends.add(entry).catch((error: unknown) => {
        claim.remove();
        throw error;
      });
      noted.push({ entry, claim });
    });
    await (isLast ? sends.removeBegun(begun.id) : sends.keepBegun(begun));
    return { transfer, ...(noted[0] as Omit<Offered, 'transfer'>) };
  } catch (error) {
    if (!UNSURE.includes(failureOf(error).code)) await sends.keepBegun(begun);
    throw error;
  } finally {
    preparing.end();
  }
}
