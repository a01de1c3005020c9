import { createHash } from 'node:crypto';

/*
 * The page at the http address of `npm start -- --lan`, shown before the browser warns. No authority that a browser knows
 * has signed the certificate, so the page says what people will see, why, and how they can check it.
 */

const STYLE = `
:root { color-scheme: light dark; }
body { margin: 0 auto; max-width: 32rem; padding: 2rem 1rem; background: light-dark(#f5f6f8, #13161b); color: light-dark(#1a1f28, #e8ebf0); font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; line-height: 1.25; }
a { display: block; margin: 1.5rem 0; padding: .875rem 1rem; border-radius: .5rem; background: light-dark(#1f5fbf, #8ab8ff); color: light-dark(#fff, #0e1a2c); font-weight: 600; text-align: center; text-decoration: none; }
li { margin-block: .5rem; }
code { display: block; padding: .75rem; border-radius: .5rem; background: light-dark(#eceef2, #262b34); font: .875rem/1.5 ui-monospace, monospace; }
small { color: light-dark(#566070, #a2acba); }
`;

const WORDS = {
  en: {
    title: 'One warning, then Baton',
    why: 'Your browser will say that the connection is not private. That is because this certificate was made on the computer a moment ago, and nobody has vouched for it. The connection is encrypted all the same.',
    steps: [
      'Chrome, Edge: “Advanced”, then “Proceed”.',
      'Safari: “Show Details”, then “visit this website”.',
      'Firefox: “Advanced”, then “Accept the Risk and Continue”.',
    ],
    check: 'To be sure that it is this one, compare its SHA-256 with what the terminal says:',
    go: 'Continue to Baton',
    limits:
      'For trying it out: anybody on this network can sign in under any name. Notifications and installing need a certificate that the browser trusts.',
  },
  de: {
    title: 'Eine Warnung, dann Baton',
    why: 'Dein Browser wird sagen, dass die Verbindung nicht privat ist. Der Grund: Dieses Zertifikat wurde gerade eben auf dem Rechner gemacht, und niemand bürgt dafür. Verschlüsselt ist die Verbindung trotzdem.',
    steps: [
      'Chrome, Edge: „Erweitert“, dann „Weiter“.',
      'Safari: „Details einblenden“, dann „diese Website öffnen“.',
      'Firefox: „Erweitert“, dann „Risiko akzeptieren und fortfahren“.',
    ],
    check: 'Um sicher zu sein, dass es dieses ist, vergleiche sein SHA-256 mit dem im Terminal:',
    go: 'Weiter zu Baton',
    limits:
      'Zum Ausprobieren: Jeder in diesem Netz kann sich unter jedem Namen anmelden. Mitteilungen und Installieren brauchen ein Zertifikat, dem der Browser vertraut.',
  },
};

const POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; base-uri 'none'; frame-ancestors 'none'`;

const languageOf = (accepted = '') => (/^\s*de\b/i.test(accepted) ? 'de' : 'en');

/** Makes a handler that answers every http request with the page. `url` is the https address of Baton. */
export function explainCertificate({ url, fingerprint }) {
  return (req, res) => {
    const language = languageOf(req.headers['accept-language']);
    const { title, why, steps, check, go, limits } = WORDS[language];
    const items = steps.map((step) => `<li>${step}</li>`).join('\n');
    res.writeHead(200, {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': POLICY,
      'X-Content-Type-Options': 'nosniff',
      'Cache-Control': 'no-store',
      Connection: 'close',
    });
    res.end(`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${title}</h1>
<p>${why}</p>
<ul>
${items}
</ul>
<a href="${url}/">${go}</a>
<p>${check}</p>
<code>${fingerprint}</code>
<p><small>${limits}</small></p>
</body>
</html>
`);
  };
}
