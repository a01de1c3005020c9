import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { BatonError } from '../../../../shared/contract/errors.ts';
import { acceptedEncoding } from '../../../../shared/service-kit/http/accepts.ts';

/** Where the build puts the web app, relative to this module in dist/. */
const FOLDER = new URL('../../../../web/', import.meta.url);

/** An asset's name holds the hash of its content, so it is kept for ever. Files with a fixed name, a few KB, come anew. */
const KEPT = 'public, max-age=31536000, immutable';
const ASKED_ANEW = 'no-cache';
/** The only asset with the same name in every version: it repairs a page whose other files belong to another version. */
const BOOT = 'boot.js';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
};

/**
 * What the page of the app may do: use code, style and calls of its own origin alone. Pictures may also come from this
 * browser (`blob:`). Text never becomes code: anything that would be a script must pass the app's one policy.
 */
const PAGE_POLICY = [
  "default-src 'self'",
  "object-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' blob:",
  "media-src 'self' blob:",
  "manifest-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types baton',
].join('; ');

/** A file, plain and compressed. All files together take a few hundred KB of memory. */
interface Served {
  readonly type: string;
  readonly plain: Buffer;
  readonly packed: ReadonlyMap<string, Buffer>;
}

/** How a browser signs in: at the auth broker, with a bare name (identity `dev`), or not on its own. */
export type Login = 'broker' | 'development' | 'none';

const PAGE = 'index.html';
/** The element that tells the page how a browser signs in here. */
const LOGIN_PLACE = '<meta name="baton-login" content="" />';
const loginTag = (login: Login): string => LOGIN_PLACE.replace('""', `"${login}"`);

/** Where the page tells a browser without scripts what it can open instead. */
const PLAIN_PLACE = '<!-- plain -->';
const CODE_PART = /^[\w-]{1,128}$/;

/** Returns the address of the page that needs no script and asks about the same code; null when there is no code. */
function plainAddress(req: IncomingMessage): string | null {
  const query = new URLSearchParams(/\?(.*)/.exec(req.url ?? '')?.[1]);
  const [id, code] = [query.get('r') ?? '', query.get('c') ?? ''];
  return CODE_PART.test(id) && CODE_PART.test(code) ? `/link/plain?r=${id}&amp;c=${code}` : null;
}

type Names = Readonly<Record<string, readonly string[]>>;

/** In order of preference. */
const ENCODINGS = [
  { encoding: 'br', ending: '.br' },
  { encoding: 'gzip', ending: '.gz' },
] as const;

interface Where {
  login?: Login;
  folder?: URL;
}

/** Makes a function that finds a file of the build by its name. @throws not_found */
function makeFinder({ login = 'none', folder = FOLDER }: Where): (name: string) => Promise<Served> {
  const known = new Map<string, Promise<Served>>();
  let names: Promise<Names> | null = null;

  const read = (name: string): Promise<Buffer> => readFile(new URL(name, folder));

  /** Returns the name of each file of the build, with the endings under which the build also wrote it compressed. */
  function listed(): Promise<Names> {
    names ??= read('files.json').then((text) => JSON.parse(text.toString()) as Names);
    names.catch(() => {
      names = null;
    });
    return names;
  }

  /** Loads the page, which differs between installations. It is two KB, and compressed here. */
  async function loadPage(): Promise<Served> {
    const plain = Buffer.from((await read(PAGE)).toString().replace(LOGIN_PLACE, loginTag(login)));
    const packed = new Map([
      ['br', brotliCompressSync(plain)],
      ['gzip', gzipSync(plain)],
    ]);
    return { type: TYPES['.html'] ?? '', plain, packed };
  }

  async function load(name: string, endings: readonly string[]): Promise<Served> {
    if (name === PAGE) return loadPage();
    const plain = await read(name);
    const chosen = ENCODINGS.filter(({ ending }) => endings.includes(ending));
    const packed = await Promise.all(
      chosen.map(async ({ encoding, ending }) => [encoding, await read(name + ending)] as const),
    );
    const type = TYPES[extname(name)] ?? 'application/octet-stream';
    return { type, plain, packed: new Map(packed) };
  }

  return async function find(name) {
    const all = await listed();
    if (!Object.hasOwn(all, name)) throw new BatonError('not_found', 'The app has no such file');
    const found = known.get(name) ?? load(name, all[name] ?? []);
    known.set(name, found);
    found.catch(() => known.delete(name));
    return found;
  };
}

/** Serves the files of the web app. They are read on request, so that a starting replica reads none of them. */
export function makeAppFiles(where: Where = {}) {
  const find = makeFinder(where);

  /** Sends a file, compressed when the client accepts that. @throws not_found */
  async function send(name: string, cacheControl: string, req: IncomingMessage, res: ServerResponse): Promise<null> {
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
  }

  return {
    page(req: IncomingMessage, res: ServerResponse): Promise<null> {
      res.setHeader('Content-Security-Policy', PAGE_POLICY);
      return send(PAGE, ASKED_ANEW, req, res);
    },
    /** Sends the page of the app to which a code leads. It links a browser without scripts to the page that needs none. */
    async linkPage(req: IncomingMessage, res: ServerResponse): Promise<null> {
      const address = plainAddress(req);
      if (address === null) return this.page(req, res);
      const { type, plain } = await find(PAGE);
      const link = `<a href="${address}">Without JavaScript</a>`;
      const body = Buffer.from(plain.toString().replace(PLAIN_PLACE, link));
      res.setHeader('Content-Security-Policy', PAGE_POLICY);
      res.setHeader('Content-Type', type);
      // The page holds the code.
      res.setHeader('Cache-Control', 'no-store');
      res.setHeader('Content-Length', body.length);
      res.end(body);
      return null;
    },
    /** Sends the service worker. This response alone, and no page, decides what the worker may fetch and run. */
    worker(req: IncomingMessage, res: ServerResponse): Promise<null> {
      res.setHeader('Content-Security-Policy', "default-src 'none'; script-src 'self'; connect-src 'self'");
      return send('sw.js', ASKED_ANEW, req, res);
    },
    asset(file: string, req: IncomingMessage, res: ServerResponse): Promise<null> {
      // While two versions are served, a cache on the way must not remember that one of them lacks this file.
      res.setHeader('Cache-Control', 'no-store');
      return send(`assets/${file}`, file === BOOT ? ASKED_ANEW : KEPT, req, res);
    },
  };
}

export type AppFiles = ReturnType<typeof makeAppFiles>;
