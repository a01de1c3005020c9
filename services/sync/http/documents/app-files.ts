import type { IncomingMessage, ServerResponse } from 'node:http';
import { ASKED_ANEW, KEPT, makeBuiltFiles } from './built-files.ts';

/** Where the build puts the web app, relative to this module in dist/. */
const FOLDER = new URL('../../../../web/', import.meta.url);

/** The only asset with the same name in every version: it repairs a page whose other files belong to another version. */
const BOOT = 'boot.js';

/**
 * The rights of the page of the app: it uses only code, style and calls of its own origin. Pictures may also come from this
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

interface Where {
  login?: Login;
  folder?: URL;
}

/** Serves the files of the web app. */
export function makeAppFiles({ login = 'none', folder = FOLDER }: Where = {}) {
  const { find, send } = makeBuiltFiles({
    folder,
    changed: { [PAGE]: (text) => text.replace(LOGIN_PLACE, loginTag(login)) },
  });

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
    /** Sends the service worker. Only this response, and no page, decides what the worker may fetch and run. */
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
