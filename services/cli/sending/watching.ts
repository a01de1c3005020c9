import { lstat, mkdir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { BatonClientError, type Device } from '../../../shared/client/index.ts';
import type { Context } from '../context.ts';
import { CliError, EXIT, failureOf } from '../failure.ts';
import { fileNameOf, oneLine } from '../output.ts';
import { beginDelivery, deliver, endDelivery, readyFor } from './delivering.ts';
import { excludedBy } from './excluding.ts';
import { type FinishedFiles, watchFiles } from './finished-files.ts';
import { STOPS } from './following.ts';
import type { Online } from './online.ts';
import { goOn } from './resuming.ts';
import { sealerFor } from './sealer.ts';
import { folderOf, sendsOf } from './sends.ts';
import { beginSettled, findSettled, type WatchedFile, watchIdOf } from './settled.ts';
import { sayUnsent } from './unsent.ts';

/** How many files are under way to one receiver. An account may have 100 live transfers, and other programs want some too. */
const AT_ONCE = 8;
/** With a limited rate more files at once would only be slower. */
const AT_ONCE_SLOWLY = 2;
const LOOK_MS = 1_000;
/** The pause before a file is offered again where the service names none. */
const RETRY_MS = 5_000;

interface Watched {
  dir: string;
  receivers: readonly Device[];
  excludes: readonly string[];
  isPlain: boolean;
}

/** Sends the files of the folder to one receiver. */
interface Lane {
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
  return stats !== null && `${stats.size} ${stats.mtimeMs}` === stamp;
}

/** Sends one file. Throws the failure; `isOffered` says whether the file got as far as a transfer, which has ended. */
async function sendFile(
  { context, online, watched: { dir, isPlain }, receiver }: LaneParts,
  id: string,
  file: WatchedFile,
): Promise<void> {
  const { device_id: to, name: toName } = receiver;
  // Made anew for each file: the account may have been encrypted meanwhile.
  const sealer = await sealerFor(context, online, { to, isPlain });
  const asked = { to, paths: [join(dir, file.name)], packs: false, excludes: [], spool: null, renamed: [] };
  const mark = { watch: { id, ...file } };
  const delivery = await beginDelivery(context, { asked: { ...asked, ...mark }, sealer, toName });
  try {
    await deliver(context, online, await readyFor(delivery), { earlier: [], leave: false });
  } finally {
    await endDelivery(context, delivery);
  }
}

/** Makes the lane of a receiver, which goes on with what was interrupted. Throws where another program has it. */
async function makeLane(parts: LaneParts, files: FinishedFiles): Promise<Lane> {
  const { context, online, watched, receiver, fail } = parts;
  const { dir } = watched;
  const sends = sendsOf(context);
  const id = watchIdOf(dir, receiver.device_id);
  if (sends.claim(id) === null) {
    const message = `Another program watches ${oneLine(dir)} for ${oneLine(receiver.name)}.`;
    throw new CliError(message, { code: 'taken' });
  }
  const settled = await settledOf(parts, id, files);
  const known = new Map<string, string>();
  const queue: WatchedFile[] = [];
  const most = online.concurrency === undefined ? AT_ONCE : AT_ONCE_SLOWLY;
  let running = 0;

  function dealtWith({ name, stamp }: WatchedFile): void {
    settled.set(name, stamp);
    known.delete(name);
  }

  /** Decides what follows a failure. A file whose transfer ended is dealt with; one that was not offered is tried again. */
  async function onFailure(file: WatchedFile, error: unknown): Promise<void> {
    const { code, retryAfterMs } = failureOf(error);
    if (STOPS.includes(code)) throw error;
    const now = await findSettled(folderOf(context), id);
    if (now?.get(file.name) === file.stamp) {
      dealtWith(file);
      return say(context, online, error);
    }
    // It changed or went while it was read. If it is still there, it is found again.
    if (!(await isSame(dir, file))) return void known.delete(file.name);
    const mayHelp = error instanceof BatonClientError && error.action === 'retry';
    if (!mayHelp) throw error;
    online.line.aside(() => context.output.note(`${fileNameOf(file.name)} has to wait: ${failureOf(error).message}`));
    await wait(retryAfterMs ?? RETRY_MS, undefined, { signal: context.signal }).catch(() => {});
    // An offer without a response may have arrived: it is taken back before the file is offered again.
    await sayUnsent({ context, baton: online.baton, sends }, ({ watch }) => watch?.id === id);
    queue.unshift(file);
  }

  async function run(file: WatchedFile, work: () => Promise<void>): Promise<void> {
    running += 1;
    try {
      await work().then(
        () => dealtWith(file),
        (error: unknown) => onFailure(file, error),
      );
    } catch (error) {
      fail(error);
    } finally {
      running -= 1;
    }
    pump();
  }

  function pump(): void {
    while (running < most && !context.signal.aborted) {
      const file = queue.shift();
      if (file === undefined) return;
      void run(file, async () => {
        if (await isSame(dir, file)) await sendFile(parts, id, file);
        else known.delete(file.name);
      });
    }
  }

  for (const entry of await sends.list()) {
    if (entry.watch?.id !== id) continue;
    const { name, stamp } = entry.watch;
    known.set(name, stamp);
    void run({ name, stamp }, () => goOn(context, online, entry, false));
  }
  return {
    see(file) {
      if (settled.get(file.name) === file.stamp || known.get(file.name) === file.stamp) return;
      known.set(file.name, file.stamp);
      queue.push(file);
      pump();
    },
  };
}

async function folderAt(dir: string): Promise<string> {
  const isFolder = await stat(dir).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (isFolder) return realpath(dir);
  throw new CliError(`${oneLine(dir)} is not a folder.`, { status: EXIT.notFound, code: 'not_found' });
}

/**
 * Sends each new finished file of a folder once to every receiver, until it is interrupted. Files that came while the
 * program did not run are sent too.
 */
export async function watchFolder(context: Context, online: Online, given: Watched): Promise<never> {
  const { baton } = online;
  const watched = { ...given, dir: await folderAt(given.dir) };
  const { dir, receivers, excludes } = watched;
  const files = watchFiles(dir, excludedBy(excludes));
  try {
    return await new Promise<never>((_, fail) => {
      online.over.catch(fail);
      const look = async (): Promise<never> => {
        baton.start();
        await baton.untilOnline({ signal: context.signal });
        await sayUnsent({ context, baton, sends: sendsOf(context) }, () => false);
        const lanes: Lane[] = [];
        for (const receiver of receivers) {
          lanes.push(await makeLane({ context, online, watched, receiver, fail }, files));
        }
        const names = receivers.map(({ name }) => oneLine(name)).join(', ');
        context.output.note(`Watching ${oneLine(dir)} for ${names} ...`);
        for (;;) {
          for (const file of await files.finished()) for (const lane of lanes) lane.see(file);
          await wait(LOOK_MS, undefined, { signal: context.signal });
        }
      };
      look().catch((error: unknown) => fail(context.signal.aborted ? context.signal.reason : error));
    });
  } finally {
    files.stop();
  }
}
