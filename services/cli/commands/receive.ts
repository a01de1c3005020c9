import { constants } from 'node:fs';
import { access, mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { receiveRecords } from '../../../shared/client/node.ts';
import type { Context } from '../context.ts';
import { CliError, usageError } from '../failure.ts';
import { takeAll } from '../receiving/crew.ts';
import { sayLeft } from '../receiving/left.ts';
import type { ReceiveOptions } from '../receiving/take.ts';

/** Checks, before anything is offered, that files can be stored in the folder. */
async function checkFolder(dir: string): Promise<void> {
  const folder = resolve(dir);
  try {
    await mkdir(folder, { recursive: true });
    await access(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new CliError(`Files cannot be stored in ${folder}: ${(error as Error).message}`, { code: 'sink_failed' });
  }
}

/** Takes offered transfers until it is interrupted; with `once` only the first one. */
export async function receive(context: Context, options: ReceiveOptions) {
  const { output, settings, signal } = context;
  if (!options.yes && !process.stdin.isTTY) throw usageError('There is no terminal to ask on: say --yes.');
  if (options.dir === '-' && output.isJson) throw usageError('--dir - and --json both want standard output.');
  if (options.dir !== '-') await checkFolder(options.dir);
  const records = receiveRecords(join(settings.folder, 'receives'));
  const isEndless = options.once !== true && options.dir !== '-';
  const withClient = isEndless ? context.withEndlessClient : context.withClient;
  await withClient(async (baton, url) => {
    await sayLeft(context, baton, records);
    const taking = takeAll(context, { baton, url }, options, records);
    baton.start();
    await Promise.race([baton.untilOnline({ signal }), taking]);
    output.note(
      options.dir === '-' ? 'Waiting for a file ...' : `Waiting for files; they go to ${resolve(options.dir)} ...`,
    );
    await taking;
  });
}
