import { cpSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const DIST = fileURLToPath(new URL('../../dist/', import.meta.url));
const HASHED = /^(.+-)([\w-]{8})(\.\w+)$/;
const TEXT = /\.(html|js|css|json|svg|webmanifest)$/;

/** The build in the form of another version: no asset has the same name as here, and the service worker differs. */
export interface OtherBuild {
  /** The file from which a replica of it starts. */
  readonly main: string;
  remove(): void;
}

/** Gives every asset another name, in all texts that name it. Compressed files are left out. */
function renameAssets(web: string): void {
  const assets = join(web, 'assets');
  for (const folder of [web, assets]) {
    for (const name of readdirSync(folder)) if (/\.(br|gz)$/.test(name)) rmSync(join(folder, name));
  }
  const renamed = new Map<string, string>();
  for (const name of readdirSync(assets)) {
    const [, stem, , ending] = HASHED.exec(name) ?? [];
    if (stem !== undefined) renamed.set(name, `${stem}00000000${ending}`);
  }
  for (const [name, next] of renamed) renameSync(join(assets, name), join(assets, next));
  const names = readdirSync(web, { recursive: true }).map(String);
  for (const path of names.filter((name) => TEXT.test(name)).map((name) => join(web, name))) {
    let text = readFileSync(path, 'utf8');
    for (const [name, next] of renamed) text = text.replaceAll(name, next);
    writeFileSync(path, text);
  }
}

/** Makes a copy of the build, which its replicas serve like any other. */
export function makeOtherBuild(): OtherBuild {
  const folder = mkdtempSync(join(tmpdir(), 'baton-other-build-'));
  cpSync(DIST, folder, { recursive: true, filter: (path) => !path.endsWith('.map') });
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  const web = join(folder, 'web');
  renameAssets(web);
  const files = JSON.parse(readFileSync(join(web, 'files.json'), 'utf8')) as Record<string, string[]>;
  writeFileSync(
    join(web, 'files.json'),
    JSON.stringify(Object.fromEntries(Object.keys(files).map((name) => [name, []]))),
  );
  const worker = readFileSync(join(web, 'sw.js'), 'utf8');
  writeFileSync(join(web, 'sw.js'), worker.replace(/baton-[0-9a-f]{16}/g, 'baton-0000000000000000'));
  return { main: join(folder, 'services/sync/main.js'), remove: () => rmSync(folder, { recursive: true }) };
}
