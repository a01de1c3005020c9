import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { copyFile, link, mkdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Device } from '../../../shared/client/index.ts';
import { offeredNames } from '../../../shared/client/files/names.ts';
import { leanFetch } from '../../../shared/client/node.ts';
import { comparedWith } from '../away.ts';
import { type Context, deviceIn } from '../context.ts';
import { usageError } from '../failure.ts';
import { beginDelivery, clearEarlier, deliver, type Delivery, endDelivery, readyFor } from '../sending/delivering.ts';
import { makeOnline, type Online } from '../sending/online.ts';
import { bytesPerSecondOf, limitedFetch } from '../sending/rate.ts';
import { continueAll, makeFailures } from '../sending/resuming.ts';
import { type Sealer, sealerFor } from '../sending/sealer.ts';
import { checkCompared, keyedAt } from '../sealing.ts';
import { folderOf, sendsOf } from '../sending/sends.ts';
import { sayOdd } from '../sending/sources.ts';
import { watchFolder } from '../sending/watching.ts';
import type { Unfinished } from '../unfinished.ts';

/** Device types with a program that unpacks the small files of a folder. A browser gets them one by one. */
const UNPACKING: readonly Device['type'][] = ['linux', 'macos', 'windows'];

export interface SendOptions {
  to?: string[];
  name?: string;
  exclude?: string[];
  leave?: boolean;
  continue?: boolean;
  plain?: boolean;
  watch?: string;
  limitRate?: string;
}

/** Stores standard input until it is sent, because a pipe has no length and the offer needs one. */
async function spoolInput(context: Context, path: string): Promise<void> {
  if (process.stdin.isTTY) context.output.note('Reading from the terminal; end with Ctrl-D.');
  await mkdir(folderOf(context), { recursive: true, mode: 0o700 });
  try {
    await pipeline(process.stdin, createWriteStream(path, { mode: 0o600 }), { signal: context.signal });
  } catch (error) {
    await rm(path, { force: true });
    throw context.signal.aborted ? context.signal.reason : error;
  }
}

/** Gives a further receiver the stored input under a path of its own, which is removed when that receiver has it. */
const shareInput = (from: string, to: string): Promise<void> => link(from, to).catch(() => copyFile(from, to));

/**
 * Finds the receivers. One that is named twice gets everything once. Tells the user which members of an encrypted account are
 * not signed in any more.
 */
async function receiversOf(context: Context, { baton, url }: Online, options: SendOptions): Promise<Device[]> {
  const { to = [], plain: isPlain = false } = options;
  const devices = await baton.devices.list({ signal: context.signal });
  const found = to.map((name) => deviceIn(devices, name));
  if (isPlain) await checkCompared(context, url);
  const keyed = isPlain ? null : await keyedAt(context, url);
  if (keyed !== null) await comparedWith(context, keyed, devices);
  return [...new Map(found.map((device) => [device.device_id, device])).values()];
}

/** Records what each receiver is to get, before anything is read. */
async function beginAll(
  context: Context,
  online: Online,
  { receivers, given, options }: { receivers: readonly Device[]; given: readonly string[]; options: SendOptions },
): Promise<Delivery[]> {
  const paths = given.filter((path) => path !== '-').map((path) => resolve(path));
  const called = offeredNames([(options.name ?? 'input').split('/')]);
  const { exclude: excludes = [], plain: isPlain = false } = options;
  const sealers: Sealer[] = [];
  // A receiver without keys is refused before anything is recorded.
  for (const { device_id: to } of receivers) {
    sealers.push(await sealerFor(context, online, { to, isPlain }));
  }
  const deliveries: Delivery[] = [];
  for (const [index, { device_id: to, name: toName, type }] of receivers.entries()) {
    const spool: Unfinished['spool'] = given.includes('-')
      ? { path: join(folderOf(context), `${randomUUID()}.input`), name: called.names[0] as string }
      : null;
    const renamed = spool === null ? [] : called.renamed;
    const asked = { to, paths, packs: UNPACKING.includes(type), excludes, spool, renamed, isPlain };
    deliveries.push(await beginDelivery(context, { asked, sealer: sealers[index] as Sealer, toName }));
  }
  return deliveries;
}

/** Reads standard input once, for all receivers. */
async function readInputOnce(context: Context, deliveries: readonly Delivery[]): Promise<void> {
  const [first, ...others] = deliveries.flatMap(({ asked: { spool } }) => (spool === null ? [] : [spool.path]));
  if (first === undefined) return;
  await spoolInput(context, first);
  for (const path of others) await shareInput(first, path);
}

/** Sends to all receivers at the same time. A receiver that fails does not stop the others. */
async function deliverAll(
  context: Context,
  online: Online,
  deliveries: readonly Delivery[],
  leave: boolean,
): Promise<void> {
  const { baton } = online;
  const { signal } = context;
  // Connects in parallel with the next steps.
  baton.start();
  const connected = baton.untilOnline({ signal });
  connected.catch(() => {});
  const ready = await Promise.all(deliveries.map(readyFor));
  const [first] = ready;
  if (first !== undefined) sayOdd(context, first.odd);
  if (ready.some(({ sources }) => sources.length === 0)) throw usageError('There is no file in it.');
  const earlier = await sendsOf(context).list();
  await clearEarlier(context, online, ready);
  await connected;
  const ends = await Promise.allSettled(ready.map((one) => deliver(context, online, one, { earlier, leave })));
  if (signal.aborted) throw signal.reason;
  const failures = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as unknown] : []));
  if (deliveries.length === 1 && failures.length > 0) throw failures[0];
  const said = makeFailures(context);
  for (const failure of failures) said.add(failure);
  said.throwFirst();
}

function checkUse(given: readonly string[], options: SendOptions): void {
  const { to = [], exclude = [], watch, leave, name, continue: isContinued } = options;
  // An empty variable of a script would be the working folder.
  if ([...given, ...(watch === undefined ? [] : [watch])].includes(''))
    throw usageError('An empty path names no file.');
  if (exclude.includes('')) throw usageError('--exclude takes a pattern, and this one is empty.');
  if (isContinued) {
    if (watch === undefined) return;
    throw usageError('--watch goes on by itself with what was interrupted: leave --continue out.');
  }
  if (to.length === 0) throw usageError('Say to which device: --to NAME.');
  if (watch === undefined) {
    if (given.length === 0) throw usageError('Say what is to be sent: files, folders, or - for standard input.');
  } else if (given.length > 0 || leave || name !== undefined) {
    throw usageError('--watch sends what comes into its folder: leave files, --leave and --name out.');
  }
}

async function sendOnce(context: Context, online: Online, given: readonly string[], options: SendOptions) {
  // Finds the receivers before a long pipe is read.
  const receivers = await receiversOf(context, online, options);
  const deliveries = await beginAll(context, online, { receivers, given, options });
  try {
    await readInputOnce(context, deliveries);
    await deliverAll(context, online, deliveries, options.leave === true);
  } finally {
    for (const delivery of deliveries) await endDelivery(context, delivery);
  }
}

/** Sends files, folders and standard input to devices. The same command resumes an interrupted send. */
export async function send(context: Context, given: readonly string[], options: SendOptions): Promise<void> {
  checkUse(given, options);
  const rate = options.limitRate === undefined ? null : bytesPerSecondOf(options.limitRate);
  const withClient = options.watch === undefined ? context.withClient : context.withEndlessClient;
  await withClient(
    async (baton, url) => {
      const online = makeOnline(context, baton, url, rate !== null);
      if (options.continue) return await continueAll(context, online, options.plain === true);
      if (options.watch === undefined) return await sendOnce(context, online, given, options);
      const receivers = await receiversOf(context, online, options);
      const { exclude: excludes = [], plain = false } = options;
      await watchFolder(context, online, { dir: resolve(options.watch), receivers, excludes, isPlain: plain });
    },
    rate === null ? leanFetch : limitedFetch(rate),
  );
}
