import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { buildOrExit } from '../build/build.mjs';
import { filesUnder, ROOT } from '../local/setup/tree.mjs';

/*
 * Assembles the content of Baton's image in a folder. `app` has the two services with their packages, the scripts of
 * the store, the programs that docker-compose.yml runs beside them, and licences. `mounts` has the mount points of
 * volumes, so that they belong to the user of the image. Usage: node deploy/image/assemble.mjs <folder>
 */

/** The entry of each service in the image, whatever the folders of the sources are called. */
const SERVICES = { replica: 'services/sync/main', broker: 'services/broker/main' };

const MOUNTS = {
  secrets: ['replica', 'broker', 'edge', 'redis', 'sentinel'],
  data: ['redis', 'redis-2', 'redis-3', 'sentinel', 'sentinel-2', 'sentinel-3'],
};

const folder = process.argv[2];
if (folder === undefined) {
  process.stderr.write('usage: node deploy/image/assemble.mjs <folder>\n');
  process.exit(2);
}

const put = (from, to = from) => {
  mkdirSync(dirname(join(folder, 'app', to)), { recursive: true });
  cpSync(join(ROOT, from), join(folder, 'app', to));
};

await buildOrExit();
for (const [name, entry] of Object.entries(SERVICES)) {
  for (const ending of ['js', 'cjs', 'cjs.map']) put(`dist/${entry}.${ending}`);
  writeFileSync(join(folder, 'app/dist', `${name}.js`), `import './${entry}.js';\n`);
}
// For `node --import`. It is loaded on its own, and only on request.
put('dist/services/tracing/main.js', 'dist/tracing.js');
for (const script of filesUnder('services').filter((path) => path.endsWith('.lua'))) put(`dist/${script}`);
for (const files of ['reference', 'web'])
  cpSync(join(ROOT, 'dist', files), join(folder, 'app/dist', files), { recursive: true });
put('dist/THIRD-PARTY-LICENCES.txt', 'THIRD-PARTY-LICENCES.txt');
put('LICENSE');
for (const file of ['users.acl', 'sentinels.conf']) put(`deploy/redis/${file}`, `dist/${file}`);
for (const program of ['health.mjs', 'secrets.mjs', 'cluster.mjs']) put(`deploy/image/${program}`, `dist/${program}`);
const { name, version, license, type } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
writeFileSync(join(folder, 'app/package.json'), `${JSON.stringify({ name, version, license, type })}\n`);
for (const [top, places] of Object.entries(MOUNTS)) {
  for (const place of places) mkdirSync(join(folder, 'mounts', top, place), { recursive: true });
}
// The checkout may be one that only its owner can read. The user of the image is another.
for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
  chmodSync(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o644);
}
