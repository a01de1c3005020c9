import type { BatonClient, Transfer } from '../../../shared/client/index.ts';
import type { Context } from '../context.ts';
import { CliError, EXIT } from '../failure.ts';
import { durationOf, oneLine, sizeOf, tableOf } from '../output.ts';
import { namesOf } from '../receiving/names.ts';
import { LOCK } from '../sealing.ts';

const ENDED = ['DONE', 'FAILED', 'CANCELLED'];

async function listLive(baton: BatonClient, signal: AbortSignal): Promise<Transfer[]> {
  const live: Transfer[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await baton.transfers.list({ limit: 100, ...(cursor !== undefined && { cursor }) }, { signal });
    live.push(...page.transfers.filter(({ state }) => !ENDED.includes(state)));
    if (page.next_cursor === null) return live;
    cursor = page.next_cursor;
  }
}

function rowOf(transfer: Transfer, own: string | undefined): string[] {
  const { transfer_id: id, sender, receiver, state, progress, total_bytes: bytes, updated_at: updatedAt } = transfer;
  const isMine = sender.device_id === own;
  const way = isMine ? `to ${oneLine(receiver.name)}` : `from ${oneLine(sender.name)}`;
  const { files, file_count: count, sealed } = transfer;
  // The names of encrypted files are known only to the two devices while the transfer runs.
  const isKnown = files !== undefined && sealed === null;
  const counted = `${sealed === null ? '' : `${LOCK} `}${count} ${count === 1 ? 'file' : 'files'}`;
  const what = isKnown ? namesOf(files.map(({ name }) => name)) : counted;
  const moved = `${sizeOf(isMine ? progress.sent_bytes : progress.received_bytes)} of ${sizeOf(bytes)}`;
  const rests = `${durationOf((Date.now() - updatedAt) / 1_000)} ago`;
  return [id, way, state === 'PENDING' ? 'offered' : 'accepted', moved, rests, what];
}

/** Lists the transfers of this device that are not over. */
export async function transfers(context: Context) {
  const { output, signal } = context;
  await context.withClient(async (baton) => {
    const own = (await baton.session())?.device?.device_id;
    const live = await listLive(baton, signal);
    const text =
      live.length === 0 ? 'No transfer is under way.' : tableOf(live.map((transfer) => rowOf(transfer, own)));
    output.result({ transfers: live }, text);
  });
}

/** Ends a transfer for both sides, by its id or by an unambiguous beginning of it. */
export async function cancel(context: Context, given: string) {
  const { output, signal } = context;
  await context.withClient(async (baton) => {
    const live = await listLive(baton, signal);
    // An empty text, as of an empty variable, begins every id.
    const found = given === '' ? [] : live.filter(({ transfer_id: id }) => id.startsWith(given.toLowerCase()));
    const [one] = found;
    if (one === undefined || found.length > 1) {
      const message =
        one === undefined
          ? `There is no transfer "${oneLine(given)}" under way. \`baton transfers\` lists them.`
          : `${oneLine(given)} is ${found.length} transfers: say more of it.`;
      throw new CliError(message, { status: EXIT.notFound, code: 'not_found' });
    }
    const transfer = await baton.transfers.cancel(one.transfer_id, undefined, { signal });
    output.result({ transfer }, `Cancelled ${transfer.transfer_id}.`);
  });
}
