import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../deploy/local/setup/redis.mjs';
import { installPackages, requireNode } from '../../deploy/local/setup/setup.mjs';
import { ROOT } from '../../deploy/local/setup/tree.mjs';
import { makeBases, nodeVersionOfImages } from './bases.mjs';
import { must, startEngine, useCompose, whyNot } from './docker.mjs';
import { testMode, testSite, testUse } from './compose-tests.mjs';
import { testImage } from './image-tests.mjs';
import { makeSite } from './site.mjs';
import { makeSuite } from './suite.mjs';

/*
 * `npm run test:deploy`: builds the image on bases that are made here, starts it as strictly as an orchestrator would,
 * and runs docker-compose.yml like a user. It needs Docker's engine and Compose v2, and leaves nothing behind.
 */

requireNode();
installPackages();
const startedAt = Date.now();
const { test, say, counts } = makeSuite();
const folder = mkdtempSync(join(tmpdir(), 'baton-deploy-'));
const missing = whyNot() ?? useCompose(join(folder, 'docker'));
if (missing !== null) {
  rmSync(folder, { recursive: true, force: true });
  say(`skipped: ${missing}\n0 passed, 0 failed`);
  process.exit(0);
}

const project = `baton-test-${process.pid}`;
const prefix = `${project}-`;
const endings = [];
let ending = null;

/** Undoes everything, the last action first. */
const end = () => {
  ending ??= (async () => {
    for (const undo of endings.reverse()) await Promise.resolve(undo()).catch((error) => say(error.message));
  })();
  return ending;
};
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => void end().then(() => process.exit(1)));

endings.push(async () => rmSync(folder, { recursive: true, force: true }));
const engine = await startEngine(join(folder, 'engine'));
endings.push(engine.stop);

/** Returns what docker-compose.yml takes from its environment, so that only packages have to be fetched. */
async function prepare() {
  const bases = makeBases({ folder: join(folder, 'bases'), prefix, nodeVersion: nodeVersionOfImages(ROOT) });
  const image = `${prefix}baton`;
  if (!engine.own) endings.push(async () => must('docker', ['image', 'rm', '--force', image, ...Object.values(bases)]));
  return {
    BATON_IMAGE: image,
    BATON_BUILD_BASE: bases.build,
    BATON_RUNTIME_BASE: bases.runtime,
    BATON_BUILD_NETWORK: 'host',
    BATON_REDIS_IMAGE: bases.redis,
    BATON_NGINX_IMAGE: bases.nginx,
    BATON_PORT: String(await freePort()),
    BATON_NETWORK: `172.31.${randomInt(80, 250)}`,
    // The builder has no frontend of its own, because that would be one more image to fetch.
    DOCKER_BUILDKIT: '0',
  };
}

async function testAll() {
  const env = await prepare();
  const siteOf = ({ profiles = [], env: own = {} } = {}) =>
    makeSite({ root: ROOT, project, env: { ...env, ...own }, profiles });
  const site = siteOf();
  endings.push(async () => site.down());
  const built = await test('docker compose build makes the image', async () =>
    void (await site.compose('build', 'secrets')));
  if (!built) return;
  await testImage({ test, image: env.BATON_IMAGE, runtimeBase: env.BATON_RUNTIME_BASE });
  await testSite({ test, site });
  if (counts.failed === 0) await testUse({ test, site });
  if (counts.failed > 0) say(await site.logs());
  await site.down();
  for (const mode of ['sentinel', 'cluster']) {
    // This process keeps connections to the earlier port, which nobody answers any more, so each mode has another port.
    const own = { BATON_REDIS: mode, BATON_PORT: String(await freePort()) };
    await testMode({ test, mode, site: siteOf({ profiles: [mode], env: own }) });
  }
}

await testAll().catch((error) => {
  counts.failed += 1;
  say(`FAIL  ${error.stack}`);
});
await end();
say(`${((Date.now() - startedAt) / 1000).toFixed(0)} s`);
say(`${counts.passed} passed, ${counts.failed} failed`);
process.exit(counts.failed === 0 ? 0 : 1);
