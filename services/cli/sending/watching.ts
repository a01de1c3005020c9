import { realpath, stat } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import type { Context } from '../context.ts';
import { CliError, EXIT, failureOf } from '../failure.ts';
import { oneLine } from '../output.ts';
import { excludedBy } from './excluding.ts';
import { watchFiles } from './finished-files.ts';
import { type Lane, makeLane, type Watched } from './lane.ts';
import type { Online } from './online.ts';
import { sendsOf } from './sends.ts';
import { sayUnsent } from './unsent.ts';

const LOOK_MS = 1_000;

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
        let said = '';
        for (;;) {
          try {
            for (const file of await files.finished()) for (const lane of lanes) lane.see(file);
            said = '';
          } catch (error) {
            // The folder may be on a drive that is away for a while.
            const { message } = failureOf(error);
            if (message !== said) context.output.note(message);
            said = message;
          }
          await wait(LOOK_MS, undefined, { signal: context.signal });
        }
      };
      look().catch((error: unknown) => fail(context.signal.aborted ? context.signal.reason : error));
    });
  } finally {
    files.stop();
  }
}
