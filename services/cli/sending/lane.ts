import { lstat, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { BatonClientError, type Device } from '../../../shared/client/index.ts';
import type { Context } from '../context.ts';
import { CliError, failureOf } from '../failure.ts';
import { fileNameOf, oneLine } from '../output.ts';
import { beginDelivery, deliver, endDelivery, readyFor } from './delivering.ts';
import { checkMayGoOn, giveUp } from './earlier.ts';
import type { FinishedFiles } from './finished-files.ts';
import { STOPS } from './following.ts';
import type { Online } from './online.ts';
import type { Unfinished } from '../unfinished.ts';
import { goOn } from './resuming.ts';
import { sealerFor } from './sealer.ts';
import { folderOf, sendsOf, withClaim } from './sends.ts';
import { beginSettled, findSettled, isSameStamp, stampOf, type WatchedFile, watchIdOf } from './settled.ts';
import { sayUnsent } from './unsent.ts';
import { mayPass, nextTry, pauseFor } from '../waiting.ts';

/** How many files are under way to one receiver. An account may have 100 live transfers, and other programs want some too. */
const AT_ONCE = 8;
/** With a limited rate more files at once would only be slower. */
const AT_ONCE_SLOWLY = 2;
/** The pause before another look at what another program does, or at an offer without a response. */
const RETRY_MS = 5_000;

/** A folder whose files are sent. */
export interface Watched {
  dir: string;
  receivers: readonly Device[];
  excludes: readonly string[];
  isPlain: boolean;
}

/** Sends the files of the folder to one receiver. */
export interface Lane {
  /** Takes a finished file, unless it is dealt with or under way. */
  see(file: WatchedFile): void;
}

interface LaneParts {
  context: Context;
  online: Online;
  watched: Watched;
  receiver: Device;
  /** Ends the command. */
  fail: (error: unknown) => void;
}

function say({ output }: Context, { line }: Online, error: unknown): void {
  const { code, message, notSent } = failureOf(error);
  line.aside(() => output.note(message));
  output.result({ error: { code, message }, not_sent: notSent ?? [] }, null);
}

/** Returns the stamps of what is dealt with. A folder that is watched for the first time has only old files. */
async function settledOf({ context, watched: { dir }, receiver }: LaneParts, id: string, files: FinishedFiles) {
  const folder = folderOf(context);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const known = await findSettled(folder, id);
  if (known !== null) return known;
  const present = await files.present();
  await beginSettled(folder, id, present);
  const count = `${present.length} ${present.length === 1 ? 'file' : 'files'}`;
  if (present.length > 0) {
    context.output.note(
      `${count} in ${oneLine(dir)} were there before, and are not sent to ${oneLine(receiver.name)}.`,
    );
  }
  return new Map(present.map(({ name, stamp }) => [name, stamp]));
}

/** Tells whether a file still is what was found. */
async function isSame(dir: string, { name, stamp }: WatchedFile): Promise<boolean> {
  const stats = await lstat(join(dir, name)).catch(() => null);
  return stats !== null && isSameStamp(stamp, stampOf(stats));
}

/** Sends one file, to the end of its transfer. */
async function sendFile(
  { context, online, watched: { dir, isPlain }, receiver }: LaneParts,
  id: string,
  file: WatchedFile,
): Promise<void> {
  const { device_id: to, name: toName } = receiver;
  // Made again for each file, because the account may have been encrypted meanwhile.
  const sealer = await sealerFor(context, online, { to, isPlain });
  const asked = { to, paths: [join(dir, file.name)], packs: false, excludes: [], spool: null, renamed: [], isPlain };
  const mark = { watch: { id, ...file } };
  const delivery = await beginDelivery(context, { asked: { ...asked, ...mark }, sealer, toName });
  try {
    const ready = await readyFor(delivery);
    if (ready.sources.length === 0) throw new CliError('It cannot be read.', { code: 'source_failed' });
    await deliver(context, online, ready, { earlier: [], leave: false });
  } finally {
    await endDelivery(context, delivery);
  }
}

/** The code of a transfer that the service lost. Its file is offered again. */
const LOST = 'transfer_gone';

/** Takes back an offer without a response, which may have arrived, before its file is offered again. */
async function takeBack({ context, online: { baton } }: LaneParts, id: string): Promise<void> {
  for (;;) {
    try {
      return await sayUnsent({ context, baton, sends: sendsOf(context) }, ({ watch }) => watch?.id === id);
    } catch (error) {
      if (!mayPass(error)) throw error;
      await wait(RETRY_MS, undefined, { signal: context.signal });
    }
  }
}

/** Says why a file waits and until when, and waits. */
async function waitAfter({ context, online }: LaneParts, name: string, error: unknown): Promise<void> {
  const { waitMs, says } = nextTry(error);
  online.line.aside(() => context.output.note(`${fileNameOf(name)} has to wait: ${says}`));
  await pauseFor(waitMs, context.signal);
}

/** Tells whether this file has been dealt with, by any program. */
const isSettled = async ({ context }: LaneParts, id: string, { name, stamp }: WatchedFile): Promise<boolean> =>
  isSameStamp((await findSettled(folderOf(context), id))?.get(name), stamp);

/**
 * Goes on with a send of an earlier program, or waits until another program is done with it. It ends only when the
 * transfer ends, because the file must not be offered again before that.
 */
async function goOnWithEarlier(parts: LaneParts, id: string, file: WatchedFile, entry: Unfinished): Promise<void> {
  const { context, online, watched } = parts;
  const sends = sendsOf(context);
  for (;;) {
    try {
      await checkMayGoOn(context, online, entry, watched.isPlain);
      return await goOn(context, online, entry, false);
    } catch (error) {
      const { code } = failureOf(error);
      if (error instanceof BatonClientError && code === 'not_found') await sends.forget(entry.transferId);
      else if (code === 'taken') await wait(RETRY_MS, undefined, { signal: context.signal });
      else if (mayPass(error) && code !== 'source_failed') await waitAfter(parts, file.name, error);
      else throw error;
    }
    if ((await sends.list()).some(({ transferId }) => transferId === entry.transferId)) continue;
    if (await isSettled(parts, id, file)) return;
    throw new CliError('The transfer is gone.', { code: LOST });
  }
}

/** Sends a file, or goes on with it. What was begun with an earlier state of the file is given up. */
async function sendOrGoOn(parts: LaneParts, id: string, file: WatchedFile): Promise<void> {
  const { context, online, watched } = parts;
  if (!(await isSame(watched.dir, file))) throw new CliError('The file has changed.', { code: 'changed' });
  const sends = sendsOf(context);
  for (const entry of await sends.list()) {
    if (entry.watch?.id !== id || entry.watch.name !== file.name) continue;
    if (entry.watch.stamp === file.stamp) return goOnWithEarlier(parts, id, file, entry);
    await withClaim(sends, entry.transferId, async (claim) => {
      await giveUp({ context, baton: online.baton, sends }, entry);
      claim.remove();
    });
  }
  await sendFile(parts, id, file);
}

/** A receiver's files on their way. */
interface LaneState extends LaneParts {
  readonly id: string;
  /** The stamps of what is dealt with, by name. */
  readonly settled: Map<string, string>;
  /** The stamps of what waits or is under way. */
  readonly known: Map<string, string>;
  readonly queue: WatchedFile[];
  running: number;
}

function dealtWith({ settled, known }: LaneState, { name, stamp }: WatchedFile): void {
  settled.set(name, stamp);
  known.delete(name);
}

/** Decides what follows a failure. A file whose transfer ended is dealt with; one that was not offered is tried again. */
async function onFailure(lane: LaneState, file: WatchedFile, error: unknown): Promise<void> {
  const { context, online, watched, id, known, queue } = lane;
  const { code } = failureOf(error);
  if (STOPS.includes(code)) throw error;
  if (await isSettled(lane, id, file)) {
    dealtWith(lane, file);
    return say(context, online, error);
  }
  // The file changed or was removed while it was read. If it is still there, or is back, it is found again.
  if (code === 'changed' || !(await isSame(watched.dir, file))) return void known.delete(file.name);
  if (!mayPass(error) && code !== LOST) throw error;
  if (code === 'source_failed') {
    // The others do not wait for a file that cannot be read.
    void waitAfter(lane, file.name, error).then(
      () => known.delete(file.name),
      () => undefined,
    );
    return;
  }
  await waitAfter(lane, file.name, error);
  await takeBack(lane, id);
  queue.unshift(file);
}

async function run(lane: LaneState, file: WatchedFile, work: () => Promise<void>): Promise<void> {
  lane.running += 1;
  try {
    await work().then(
      () => dealtWith(lane, file),
      (error: unknown) => onFailure(lane, file, error),
    );
  } catch (error) {
    lane.fail(error);
  } finally {
    lane.running -= 1;
  }
  pump(lane);
}

function pump(lane: LaneState): void {
  const { context, online, id, queue } = lane;
  const most = online.concurrency === undefined ? AT_ONCE : AT_ONCE_SLOWLY;
  while (lane.running < most && !context.signal.aborted) {
    const file = queue.shift();
    if (file === undefined) return;
    void run(lane, file, () => sendOrGoOn(lane, id, file));
  }
}

/** Makes the lane of a receiver, which goes on with what was interrupted. Throws if another program has it. */
export async function makeLane(parts: LaneParts, files: FinishedFiles): Promise<Lane> {
  const { context, watched, receiver } = parts;
  const sends = sendsOf(context);
  const id = watchIdOf(watched.dir, receiver.device_id);
  if (sends.claim(id) === null) {
    const message = `Another program watches ${oneLine(watched.dir)} for ${oneLine(receiver.name)}.`;
    throw new CliError(message, { code: 'taken' });
  }
  const settled = await settledOf(parts, id, files);
  const lane: LaneState = { ...parts, id, settled, known: new Map(), queue: [], running: 0 };
  for (const entry of await sends.list()) {
    if (entry.watch?.id !== id) continue;
    const { name, stamp } = entry.watch;
    lane.known.set(name, stamp);
    lane.queue.push({ name, stamp });
  }
  pump(lane);
  return {
    see(file) {
      if ([settled, lane.known].some((stamps) => isSameStamp(stamps.get(file.name), file.stamp))) return;
      lane.known.set(file.name, file.stamp);
      lane.queue.push(file);
      pump(lane);
    },
  };
}
