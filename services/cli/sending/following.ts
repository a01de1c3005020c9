import type { FileSource, OutgoingTransfer, Transfer } from '../../../shared/client/index.ts';
import type { Claim } from '../../../shared/client/node.ts';
import type { Context } from '../context.ts';
import { CliError, failureOf, sentenceOf } from '../failure.ts';
import { REFUSED_BETWEEN } from '../foreign-refusals.ts';
import { oneLine, sizeOf } from '../output.ts';
import { namesOf } from '../receiving/names.ts';
import { LOCK } from '../sealing.ts';
import type { Unfinished } from '../unfinished.ts';
import type { Online } from './online.ts';
import { sendsOf } from './sends.ts';
import { filesOf, type Odd, type Source } from './sources.ts';

/** The errors that end this program, and not the transfer. */
export const STOPS = ['aborted', 'signed_out', 'superseded', REFUSED_BETWEEN];

const CANNOT_OPEN =
  'The other device could not open what was sealed for it: link it again (`baton keys link` there), and send again.';

const NO_SPACE = 'The other device does not have enough space.';

/** The sentences for the reasons with which a receiver ends a transfer. */
const SENTENCE_OF_REASON: Readonly<Record<string, string>> = { cannot_open: CANNOT_OPEN, no_space: NO_SPACE };

interface Followed {
  transfer: OutgoingTransfer;
  sources: readonly Source[];
  entry: Unfinished;
  claim: Claim;
  /** The changed names, and the files that are not sent. */
  odd: Odd;
  /** True: the command ends when everything is in the relay. */
  leave: boolean;
}

/** Reports a transfer that is done. */
export function sayDone(
  { output }: Context,
  done: Transfer,
  { sent, odd, isSealed }: { sent: readonly Pick<FileSource, 'name' | 'size'>[]; odd: Odd; isSealed: boolean },
): void {
  const lines = sent.map((file) => `${oneLine(file.name)}  ${sizeOf(file.size)}`);
  const { device_id, name } = done.receiver;
  const result = {
    transfer_id: done.transfer_id,
    to: { device_id, name },
    state: done.state,
    files: sent.length,
    bytes: sent.reduce((sum, { size }) => sum + size, 0),
    sealed: isSealed,
    ...odd,
  };
  const lock = isSealed ? `${LOCK} ` : '';
  output.result(result, [...lines, `${lock}Sent to ${oneLine(done.receiver.name)}.`].join('\n'));
}

function sayLeft(
  { output }: Context,
  { transfer, sent, odd, isSealed }: { transfer: OutgoingTransfer; sent: number; odd: Odd; isSealed: boolean },
): void {
  const { device_id, name } = transfer.transfer.receiver;
  const about = { transfer_id: transfer.id, to: { device_id, name }, state: transfer.transfer.state };
  const files = `${sent} ${sent === 1 ? 'file' : 'files'}`;
  output.result({ ...about, files: sent, sealed: isSealed, ...odd }, `Left ${files} for ${oneLine(name)}.`);
}

/** Waits for the end, and reports what happens meanwhile. */
export async function follow(
  context: Context,
  online: Online,
  { transfer, sources, entry, claim, odd, leave }: Followed,
): Promise<void> {
  const { line, over } = online;
  const sends = sendsOf(context);
  const name = oneLine(transfer.transfer.receiver.name);
  const sent = filesOf(sources);
  const isSealed = entry.sealedKey !== undefined;
  if (!transfer.receiverOnline) {
    const waits = `${name} is not connected. What fits is left for it; it takes the rest when it comes.`;
    line.aside(() => context.output.note(waits));
  }
  const hide = line.add(transfer, transfer.transfer.receiver.name);
  try {
    if (leave) {
      await Promise.race([transfer.uploaded, over]);
      hide();
      return line.aside(() => sayLeft(context, { transfer, sent: sent.length, odd, isSealed }));
    }
    const done = await Promise.race([transfer.done, over]);
    hide();
    // The report comes first: a program that is killed in between reports the transfer again, but does not send it
    // again.
    line.aside(() => sayDone(context, done, { sent, odd, isSealed }));
    await sends.remove(transfer.id);
    claim.remove();
  } catch (error) {
    hide();
    const failure = failureOf(error);
    if (STOPS.includes(failure.code)) {
      line.aside(online.sayStopped);
      throw error;
    }
    const { status, code } = failure;
    await (code === 'transfer_gone' ? sends.forget : sends.remove)(entry.transferId);
    claim.remove();
    const names = sent.map((file) => file.name);
    const said = SENTENCE_OF_REASON[transfer.transfer.error?.code ?? ''] ?? failure.message;
    throw new CliError(`${sentenceOf(said)} Not sent to ${name}: ${namesOf(names)}.`, { status, code, notSent: names });
  } finally {
    claim.release();
  }
}
