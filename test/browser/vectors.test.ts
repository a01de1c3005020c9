import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { skipUnless } from '../support/runner/skips.ts';
import { vectorChecks } from '../support/sealed/vector-checks.ts';
import { rfcVectors, sealedVectors } from '../support/sealed/vector-files.ts';
import { firefoxPath } from './bare-firefox.ts';
import { hasWebKit } from './bare-webkit.ts';
import { launchChromium, withChromium } from './chromium.ts';
import { openFirefoxPage } from './firefox-page.ts';
import { openWebKitPage } from './webkit-page.ts';

/*
 * The vectors of the sealed parts in the browsers, which have other cryptography than Node. `test/unit/client/sealed` has the
 * same checks on Node.
 */

const withFirefox = skipUnless(firefoxPath !== undefined, 'needs Firefox');
const withWebKit = skipUnless(hasWebKit, 'needs WebKit');
const TITLES = vectorChecks(sealedVectors(), rfcVectors()).map(({ title }) => title);
const pathOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const ROLLDOWN = pathOf('../../node_modules/.bin/rolldown');

interface Outcome {
  title: string;
  got: unknown;
  wanted: unknown;
}

let server: Server;
let url: string;
beforeAll(async () => {
  // The bundler has a process of its own, because it does not take objects of the realm in which jest runs a file.
  const page = execFileSync(ROLLDOWN, [pathOf('page/vectors.ts'), '--format', 'iife'], { encoding: 'utf8' });
  const files = new Map<string, { type: string; body: string | Buffer }>([
    ['/', { type: 'text/html', body: '<!doctype html><title>Vectors</title><script src="page.js"></script>' }],
    ['/page.js', { type: 'text/javascript', body: page }],
  ]);
  for (const name of ['sealed.json', 'rfc9180.json']) {
    const body = readFileSync(pathOf(`../../shared/client/vectors/${name}`));
    files.set(`/${name}`, { type: 'application/json', body });
  }
  server = createServer((req, res) => {
    const file = files.get(req.url ?? '');
    res.writeHead(file === undefined ? 404 : 200, { 'Content-Type': file?.type ?? 'text/plain' }).end(file?.body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://localhost:${(server.address() as AddressInfo).port}/`;
}, 60_000);
afterAll(async () => {
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
});

function judge(said: unknown): void {
  const outcomes = JSON.parse(String(said)) as Outcome[];
  expect(outcomes.map(({ title }) => title)).toEqual(TITLES);
  expect(outcomes.filter(({ got, wanted }) => JSON.stringify(got) !== JSON.stringify(wanted))).toEqual([]);
}

withChromium.test('Chromium opens and refuses what every implementation has to', async () => {
  const browser = await launchChromium();
  try {
    const page = await browser.newPage();
    await page.goto(url);
    judge(await page.evaluate('checkVectors()'));
  } finally {
    await browser.close();
  }
});

withFirefox.test('Firefox opens and refuses what every implementation has to', async () => {
  const fox = await openFirefoxPage(url);
  try {
    judge(await fox.run('checkVectors()'));
  } finally {
    await fox.stop();
  }
});

withWebKit.test('WebKit opens and refuses what every implementation has to', async () => {
  const kit = await openWebKitPage(url);
  try {
    judge(await kit.run('checkVectors()'));
  } finally {
    await kit.stop();
  }
});
