import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { BatonError } from '../../../../shared/contract/errors.ts';
import { acceptedEncoding } from '../../../../shared/service-kit/http/accepts.ts';

/**
 * A file whose name holds the hash of its content is kept for ever. Files with a fixed name, a few KB, are requested again.
 */
export const KEPT = 'public, max-age=31536000, immutable';
export const ASKED_ANEW = 'no-cache';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
};

/** A file, plain and compressed. All files together take a few MB of memory. */
interface Served {
  readonly type: string;
  readonly plain: Buffer;
  readonly packed: ReadonlyMap<string, Buffer>;
}

type Names = Readonly<Record<string, readonly string[]>>;

/** In order of preference. */
const ENCODINGS = [
  { encoding: 'br', ending: '.br' },
  { encoding: 'gzip', ending: '.gz' },
] as const;

interface BuiltFilesParts {
  /** Has `files.json`: the name of each file, with the endings under which the build also wrote it compressed. */
  folder: URL;
  /** Files that differ between installations, by name: what becomes of their text. They are compressed here. */
  changed?: Readonly<Record<string, (text: string) => string>>;
}

/** Serves files that the build wrote. They are read on request, so that a starting replica reads none of them. */
export function makeBuiltFiles({ folder, changed = {} }: BuiltFilesParts) {
  const known = new Map<string, Promise<Served>>();
  let names: Promise<Names> | null = null;

  const read = (name: string): Promise<Buffer> => readFile(new URL(name, folder));

  function listed(): Promise<Names> {
    names ??= read('files.json').then((text) => JSON.parse(text.toString()) as Names);
    names.catch(() => {
      names = null;
    });
    return names;
  }

  async function packedOf(name: string, endings: readonly string[]): Promise<[string, Buffer][]> {
    const chosen = ENCODINGS.filter(({ ending }) => endings.includes(ending));
    return Promise.all(chosen.map(async ({ encoding, ending }) => [encoding, await read(name + ending)]));
  }

  async function load(name: string, endings: readonly string[]): Promise<Served> {
    const type = TYPES[extname(name)] ?? 'application/octet-stream';
    const change = changed[name];
    const written = await read(name);
    if (change === undefined) return { type, plain: written, packed: new Map(await packedOf(name, endings)) };
    const plain = Buffer.from(change(written.toString()));
    const packed = new Map([
      ['br', brotliCompressSync(plain)],
      ['gzip', gzipSync(plain)],
    ]);
    return { type, plain, packed };
  }

  /** Finds a file by its name. @throws not_found */
  async function find(name: string): Promise<Served> {
    const all = await listed();
    if (!Object.hasOwn(all, name)) throw new BatonError('not_found', 'There is no such file');
    const found = known.get(name) ?? load(name, all[name] ?? []);
    known.set(name, found);
    found.catch(() => known.delete(name));
    return found;
  }

  return {
    find,

    /** Sends a file, compressed when the client accepts that. @throws not_found */
    async send(name: string, cacheControl: string, req: IncomingMessage, res: ServerResponse): Promise<null> {
      const { type, plain, packed } = await find(name);
      res.setHeader('Content-Type', type);
      res.setHeader('Cache-Control', cacheControl);
      if (packed.size > 0) res.setHeader('Vary', 'Accept-Encoding');
      const encoding = acceptedEncoding(req, [...packed.keys()]);
      const body = (encoding === null ? undefined : packed.get(encoding)) ?? plain;
      if (body !== plain && encoding !== null) res.setHeader('Content-Encoding', encoding);
      res.setHeader('Content-Length', body.length);
      res.end(body);
      return null;
    },
  };
}
