import { ERRORS } from '../../../../../shared/contract/errors.ts';
import { escapeHtml as text } from '../../../../../shared/service-kit/http/page.ts';

const RETRY = { never: 'no', later: 'later', refresh: 'after signing in again' } as const;

const row = (tag: 'th' | 'td', cells: readonly string[]): string =>
  cells.map((cell) => `<${tag}>${cell}</${tag}>`).join('');

const errorRows = (): string[] =>
  Object.entries(ERRORS).map(
    ([code, { status, title, retry }]) =>
      `<tr id="error-${code}">${row('td', [`<code>${code}</code>`, String(status), text(title), RETRY[retry]])}</tr>`,
  );

/** Files of the page, by their names at the source. */
const PAGE_FILES = {
  script: 'swagger-ui-bundle.js',
  style: 'swagger-ui.css',
  ownScript: 'start.js',
  ownStyle: 'page.css',
  licence: 'license.txt',
} as const;

/**
 * Returns the page of the API reference. Swagger UI shows the OpenAPI document. The errors are listed below it, even
 * without a script: the `type` of every problem document leads there. Script and style are separate files, as the content
 * policy demands.
 * @param addressOf where a file of the build is served, by its name at the source
 */
export const referencePage = (addressOf: (name: string) => string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Baton: the wire contract</title>
<link rel="stylesheet" href="${addressOf(PAGE_FILES.style)}">
<link rel="stylesheet" href="${addressOf(PAGE_FILES.ownStyle)}">
<script src="${addressOf(PAGE_FILES.script)}" defer></script>
<script src="${addressOf(PAGE_FILES.ownScript)}" defer></script>
</head>
<body>
<nav><a href="/api/openapi.json">openapi.json</a> <a href="#errors">Errors</a></nav>
<div id="reference"><noscript>Routes and events are shown by a script; <a href="/api/openapi.json">openapi.json</a> has them all.</noscript></div>
<section>
<h2 id="errors">Errors</h2>
<p><code>application/problem+json</code> (RFC 9457); <code>code</code> is the stable part.</p>
<table>
<tr>${row('th', ['code', 'status', 'meaning', 'try again'])}</tr>
${errorRows().join('\n')}
</table>
<p><a href="${addressOf(PAGE_FILES.licence)}">Swagger UI, Apache License 2.0</a></p>
</section>
</body>
</html>
`;
