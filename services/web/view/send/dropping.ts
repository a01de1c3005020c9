import type { App } from '../../engine/app.ts';
import { transferredFiles } from '../../files/choosing.ts';
import { saySkipped } from './odd-names.ts';
import { sendFiles } from './sending.ts';

/** Sends dropped files, and names those that cannot be sent. */
export async function sendDropped(app: App, to: Parameters<typeof sendFiles>[1], data: DataTransfer): Promise<boolean> {
  const { files, skipped } = await transferredFiles(data);
  saySkipped(skipped, files.length === 0);
  return sendFiles(app, to, files);
}
