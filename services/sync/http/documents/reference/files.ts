import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { KEPT, makeBuiltFiles } from '../built-files.ts';

/** Where the build puts the files, relative to this module in dist/. */
const FOLDER = new URL('../../../../../reference/', import.meta.url);

/** Serves the files of the reference page. */
export function makeReferenceFiles(folder: URL = FOLDER) {
  const { send } = makeBuiltFiles({ folder });
  return {
    /** Returns the served name of each file, by its name at the source. @throws when the build did not make them */
    names: async () =>
      JSON.parse(await readFile(new URL('names.json', folder), 'utf8')) as Readonly<Record<string, string>>,
    /** Sends a file. @throws not_found */
    send: (file: string, req: IncomingMessage, res: ServerResponse) => send(file, KEPT, req, res),
  };
}

export type ReferenceFiles = ReturnType<typeof makeReferenceFiles>;
