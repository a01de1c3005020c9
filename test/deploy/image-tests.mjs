import assert from 'node:assert/strict';
import { must } from './docker.mjs';

const MB = 1_000_000;
const LARGEST_MB = 60;

const sizeOf = (image) => Number(must('docker', ['image', 'inspect', '--format', '{{.Size}}', image]));

/** The strictest settings that an orchestrator may use. */
const HARDENED = [
  '--rm',
  '--network',
  'none',
  '--read-only',
  '--cap-drop',
  'ALL',
  '--security-opt',
  'no-new-privileges',
];

const inImage = (image, script) => JSON.parse(must('docker', ['run', ...HARDENED, image, 'node', '-e', script]));

const LIST = `
const { readdirSync, existsSync } = require('node:fs');
console.log(JSON.stringify({
  uid: process.getuid(),
  files: readdirSync('/app', { recursive: true }),
  shell: ['/bin/sh', '/bin/bash', '/usr/bin/npm', '/usr/local/bin/npm'].filter(existsSync),
  env: process.env,
}))`;

export async function testImage({ test, image, runtimeBase }) {
  await test(`the image is less than ${LARGEST_MB} MB above its base`, () => {
    const above = (sizeOf(image) - sizeOf(runtimeBase)) / MB;
    assert.ok(above > 0 && above < LARGEST_MB, `${above} MB`);
    return `${above.toFixed(1)} MB above ${(sizeOf(runtimeBase) / MB).toFixed(0)} MB`;
  });
  await test('it holds two programs, scripts of the store and licences: no packages, and it asks for no shell', () => {
    const { uid, files, shell, env } = inImage(image, LIST);
    assert.equal(uid, 65_532);
    assert.deepEqual(shell, []);
    assert.deepEqual(files.filter((path) => /node_modules|\.ts$|\.map$/.test(path)).sort(), [
      'dist/services/broker/main.cjs.map',
      'dist/services/sync/main.cjs.map',
    ]);
    assert.ok(files.includes('dist/services/sync/messages/lua/message-accept.lua'));
    assert.ok(files.includes('LICENSE') && files.includes('THIRD-PARTY-LICENCES.txt'));
    assert.equal(env.NODE_ENV, 'production');
    assert.ok(files.includes('dist/web/index.html') && files.includes('dist/web/sw.js'));
    assert.match(env.NODE_OPTIONS, /--max-old-space-size-percentage=50 --max-semi-space-size=16/);
  });
  await test('the licences name every package that production needs', () => {
    const script = `console.log(JSON.stringify(require('node:fs').readFileSync('/app/THIRD-PARTY-LICENCES.txt', 'utf8')))`;
    const text = inImage(image, script);
    for (const name of ['express', 'ioredis', 'web-push', 'jose', 'undici', 'pino', 'openid-client'])
      assert.match(text, new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(\\S+\\)$`, 'm'));
    assert.match(text, /Permission is hereby granted/);
  });
  await test('without configuration it says everything that is missing, and ends with 78', () => {
    const say = `const { spawnSync } = require('node:child_process');
      const done = (...args) => { const { status, stderr } = spawnSync('node', args, { encoding: 'utf8' }); return { status, stderr }; };
      console.log(JSON.stringify([done('dist/replica.js'), done('dist/broker.js'), done('--import=/app/dist/tracing.js', 'dist/replica.js')]))`;
    const [replica, broker, traced] = inImage(image, say);
    assert.deepEqual(traced, replica);
    assert.equal(replica.status, 78);
    assert.match(replica.stderr, /APP_IDENTITY is required/);
    assert.match(replica.stderr, /APP_REDIS_URL is required/);
    assert.equal(broker.status, 78);
    assert.match(broker.stderr, /BROKER_TOKENS is required/);
  });
}
