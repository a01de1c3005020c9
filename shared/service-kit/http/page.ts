import { createHash } from 'node:crypto';

/** The only style. The content security policy allows it by its hash. */
const STYLE = `
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 38rem; margin: 0 auto; padding: 2.5rem 1rem; overflow-wrap: anywhere;
  background: light-dark(#f5f6f8, #13161b); color: light-dark(#1a1f28, #e8ebf0); }
h1 { font-size: 1.5rem; line-height: 1.25; letter-spacing: -.015em; }
a { color: light-dark(#1f5fbf, #8ab8ff); }
table { border-collapse: collapse; width: 100%; margin: 1rem 0; }
th, td { text-align: start; vertical-align: top; padding: .5rem .75rem .5rem 0; border-bottom: 1px solid light-dark(#dde1e8, #313844); }
th { font-weight: 400; color: light-dark(#566070, #a2acba); }
code, pre { overflow-wrap: anywhere; font: .9em ui-monospace, monospace; }
pre { overflow-x: auto; padding: .75rem; background: light-dark(#eceef2, #262b34); border-radius: .5rem; }
input:not([type]), button { box-sizing: border-box; width: 100%; min-height: 2.75rem; padding: .5rem 1rem; border-radius: .5rem; font: inherit; }
input:not([type]) { display: block; margin-top: .25rem; border: 1px solid light-dark(#7f8896, #768091); background: light-dark(#fff, #1b1f26); color: inherit; }
button { border: 1px solid light-dark(#dde1e8, #313844); background: light-dark(#fff, #1b1f26); color: inherit; font-weight: 550; cursor: pointer; }
fieldset { margin: 1rem 0; padding: .5rem 1rem; border: 1px solid light-dark(#dde1e8, #313844); border-radius: .5rem; }
legend { padding: 0 .25rem; color: light-dark(#566070, #a2acba); }
form > p:first-of-type > button, form > p:only-of-type > button { border-color: transparent; background: light-dark(#1a1f28, #e8ebf0); color: light-dark(#f5f6f8, #13161b); }
:focus-visible { outline: 2px solid light-dark(#1f5fbf, #8ab8ff); outline-offset: 2px; }
`;

export const PAGE_STYLE_HASH = `sha256-${createHash('sha256').update(STYLE).digest('base64')}`;

export const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** Returns a whole page without script and without anything from other origins. `body` is HTML. */
export const page = (title: string, body: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
${body}
</body>
</html>
`;
