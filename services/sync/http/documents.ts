import type { Response } from 'express';
import type { documentRoutes } from '../../../shared/contract/documents.ts';
import { BatonError } from '../../../shared/contract/errors.ts';
import { docsPage, homePage } from './docs-page.ts';
import type { HandlersOf } from './handler.ts';
import { makeIcon } from './icon.ts';
import { openApiDocument } from './openapi.ts';

export type Health = 'ok' | 'draining' | 'store_unavailable';

const DOCUMENT_HEADERS = { html: 'text/html; charset=utf-8', json: 'application/json; charset=utf-8' };

/** The documents are made once, at start: they depend on nothing but the tables. */
export function makeDocumentHandlers({ health }: { health: () => Health }): HandlersOf<typeof documentRoutes> {
  const texts = { openApi: JSON.stringify(openApiDocument()), docs: docsPage(), home: homePage() };
  const icon = makeIcon();
  const write = (res: Response, kind: keyof typeof DOCUMENT_HEADERS, text: string): null => {
    res.setHeader('Content-Type', DOCUMENT_HEADERS[kind]);
    res.send(text);
    return null;
  };
  return {
    getOpenApi: ({ res }) => write(res, 'json', texts.openApi),
    getDocs: ({ res }) => write(res, 'html', texts.docs),
    getHome: ({ res }) => write(res, 'html', texts.home),
    getIcon({ res }) {
      res.setHeader('Cache-Control', 'public, max-age=86400');
      res.type('image/x-icon').send(icon);
      return null;
    },
    getHealth() {
      const state = health();
      if (state !== 'ok') throw new BatonError(state);
      return { status: 200, body: { status: 'ok' } };
    },
  };
}
