import type { ServerResponse } from 'node:http';
import type { documentRoutes } from '../../../../shared/contract/modules/documents.ts';
import { BatonError } from '../../../../shared/contract/errors.ts';
import type { HandlersOf } from '../handler.ts';
import { type AppFiles, type Login, makeAppFiles } from './app-files.ts';
import { makeIcon } from './icon.ts';
import { openApiDocument } from './openapi/document.ts';
import { makeReferenceFiles, type ReferenceFiles } from './reference/files.ts';
import { referencePage } from './reference/page.ts';

export type Health = 'ok' | 'draining' | 'store_unavailable';

const TYPES = { html: 'text/html; charset=utf-8', json: 'application/json; charset=utf-8', icon: 'image/x-icon' };

interface DocumentParts {
  health: () => Health;
  login?: Login;
  /** For tests, which run beside the build. */
  files?: ReferenceFiles;
  app?: AppFiles;
}

/** Sends the browser to the app, and leaves the body unread. The server bounds how much of it the sender may still send. */
function toApp(res: ServerResponse): { status: 303 } {
  res.setHeader('Location', '/');
  // Node sets this only for GET, and HEAD must have the headers of GET.
  res.setHeader('Content-Length', 0);
  return { status: 303 };
}

/** Makes the handlers of documents. The OpenAPI document is made once, on request, because it depends only on the tables. */
export function makeDocumentHandlers({
  health,
  files = makeReferenceFiles(),
  login = 'none',
  app = makeAppFiles({ login }),
}: DocumentParts): HandlersOf<typeof documentRoutes> {
  let openApi: string | null = null;
  const icon = makeIcon();
  const write = (res: ServerResponse, kind: keyof typeof TYPES, content: string | Buffer): null => {
    res.setHeader('Content-Type', TYPES[kind]);
    res.setHeader('Content-Length', Buffer.byteLength(content));
    res.end(content);
    return null;
  };
  return {
    getOpenApi({ res }) {
      openApi ??= JSON.stringify(openApiDocument());
      return write(res, 'json', openApi);
    },
    async getDocs({ res }) {
      const names = await files.names();
      return write(
        res,
        'html',
        referencePage((name) => `/reference/${names[name]}`),
      );
    },
    getReferenceFile: ({ params, req, res }) => files.send(params.file, req, res),
    getHome: ({ req, res }) => app.page(req, res),
    getLink: ({ req, res }) => app.linkPage(req, res),
    getJoin: ({ req, res }) => app.page(req, res),
    getAppFile: ({ params, req, res }) => app.asset(params.file, req, res),
    getWorker: ({ req, res }) => app.worker(req, res),
    openShare: ({ res }) => toApp(res),
    postShare: ({ res }) => toApp(res),
    getIcon({ res }) {
      res.setHeader('Cache-Control', 'public, max-age=86400');
      return write(res, 'icon', icon);
    },
    getHealth() {
      const state = health();
      if (state !== 'ok') throw new BatonError(state);
      return { status: 200, body: { status: 'ok' } };
    },
  };
}
