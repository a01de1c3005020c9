import { open, readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { BatonError } from '../../../../../shared/contract/errors.ts';
import { acceptedEncoding } from '../../../../../shared/service-kit/http/accepts.ts';

/** Where the build puts the files, relative to this module in dist/. */
const FOLDER = new URL('../../../../../reference/', import.meta.url);

/** A file is served under a name that holds the hash of its content, so that caches may keep it for ever. */
const KEPT = 'public, max-age=31536000, immutable';

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.txt': 'text/plain; charset=utf-8',
};

/** What the build wrote: the name of each file, and the name under which it is served. Pictures have only the second. */
type Manifest = Readonly<Record<string, string>>;

/** Serves the files of the reference page. They are found on request, so that a starting replica reads none of them. */
export function makeReferenceFiles(folder: URL = FOLDER) {
  const names = async () => JSON.parse(await readFile(new URL('manifest.json', folder), 'utf8')) as Manifest;

  return {
    /** Returns the served name of each file. @throws when the build did not make them */
    names,
    /** Sends a file, compressed when the client accepts that. @throws not_found */
    async send(file: string, req: IncomingMessage, res: ServerResponse): Promise<void> {
      const served = Object.values(await names());
      if (!served.includes(file)) throw new BatonError('not_found');
      const type = TYPES[extname(file)] ?? 'application/octet-stream';
      const isSmaller = served.includes(`${file}.gz`);
      const zipped = isSmaller && acceptedEncoding(req, ['gzip']) !== null;
      res.setHeader('Content-Type', type);
      res.setHeader('Cache-Control', KEPT);
      if (isSmaller) res.setHeader('Vary', 'Accept-Encoding');
      if (zipped) res.setHeader('Content-Encoding', 'gzip');
      const content = await open(new URL(zipped ? `${file}.gz` : file, folder));
      res.setHeader('Content-Length', (await content.stat()).size);
      // A response that has begun ends when its receiver goes. A failure before that is an error like any other.
      await pipeline(content.createReadStream(), res).catch((error: unknown) => {
        if (!res.headersSent && !res.destroyed) throw error;
      });
    },
  };
}

export type ReferenceFiles = ReturnType<typeof makeReferenceFiles>;
