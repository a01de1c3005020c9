import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/*
 * Helm 4 and 3, kubeconform, helm-unittest and the evaluator of Pod Security Standards, in the versions of tools/go.mod. They
 * are built once and kept outside the checkout, so that the next checkout has them too.
 */

const SOURCES = fileURLToPath(new URL('tools', import.meta.url));
const GO = [1, 26];

const TOOLS = {
  helm4: 'helm.sh/helm/v4/cmd/helm',
  helm3: 'helm.sh/helm/v3/cmd/helm',
  kubeconform: 'github.com/yannh/kubeconform/cmd/kubeconform',
  'helm-unittest': 'github.com/helm-unittest/helm-unittest/cmd/helm-unittest',
  podsecurity: './podsecurity',
};

function goVersion() {
  const { status, stdout } = spawnSync('go', ['env', 'GOVERSION'], { cwd: SOURCES, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : null;
}

function isNewEnough(version) {
  const [major, minor] = /(\d+)\.(\d+)/.exec(version)?.slice(1).map(Number) ?? [0, 0];
  return major > GO[0] || (major === GO[0] && minor >= GO[1]);
}

/** Modules could not be fetched. That says nothing about the chart. */
export class Unfetched extends Error {}

const UNFETCHED = /reading https?:|dial tcp|i\/o timeout|no such host|TLS handshake|connection (?:refused|reset)/;

/** Runs `go` and returns its output. Throws with its complaint. */
function go(args, cwd = SOURCES) {
  const { status, stdout, stderr, error } = spawnSync('go', args, {
    cwd,
    encoding: 'utf8',
    maxBuffer: 64 << 20,
    env: { ...process.env, GOFLAGS: '-buildvcs=false', GOTOOLCHAIN: 'local' },
  });
  if (status !== 0) {
    const what = `go ${args.join(' ')} failed:\n${error?.message ?? ''}${stderr}${stdout}`;
    throw UNFETCHED.test(what) ? new Unfetched(what) : new Error(what);
  }
  return stdout;
}

/** Downloads a module, `path@version`, and returns its folder. */
export function moduleFolder(name, cwd) {
  return JSON.parse(go(['mod', 'download', '-json', name], cwd)).Dir;
}

const cacheFolder = () => join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'baton-chart');

/** Returns a folder for this content alone. Everything in it is up to date. */
export function cached(kind, ...content) {
  const folder = join(
    cacheFolder(),
    `${kind}-${createHash('sha256').update(content.join('\n')).digest('hex').slice(0, 16)}`,
  );
  mkdirSync(folder, { recursive: true });
  return folder;
}

/**
 * Returns the paths of `programs`, which are Go packages by the names that they get, built in the module of the folder
 * `sources`; or `{missing}`, a sentence that says why there are none. `content` names the files of that folder that decide what
 * is built. `install` builds missing programs, and `how` tells people how to do that.
 */
export function findPrograms({ sources, kind, content, programs, linkFlags = '-s -w', install, how }) {
  const version = goVersion();
  if (version === null || !isNewEnough(version)) return { missing: `needs Go ${GO.join('.')} to build ${kind}` };
  const texts = content.map((name) => readFileSync(join(sources, name), 'utf8'));
  const folder = cached(kind, version, ...texts);
  const paths = Object.fromEntries(Object.keys(programs).map((name) => [name, join(folder, name)]));
  const absent = Object.keys(programs).filter((name) => !existsSync(paths[name]));
  if (absent.length > 0 && !install) return { missing: `needs ${absent.join(', ')}: ${how}` };
  for (const name of absent) {
    const startedAt = Date.now();
    go(['build', '-trimpath', `-ldflags=${linkFlags}`, '-o', paths[name], programs[name]], sources);
    console.log(`built ${name} in ${Math.round((Date.now() - startedAt) / 1000)} s`);
  }
  return { paths };
}

/** Finds Helm and the validators. */
export const findTools = ({ install }) =>
  findPrograms({
    sources: SOURCES,
    kind: 'tools',
    content: ['go.mod', 'go.sum', 'podsecurity/main.go'],
    programs: TOOLS,
    install,
    how: 'npm run test:chart -- --install builds them in some minutes',
  });
