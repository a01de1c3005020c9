import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { must } from './docker.mjs';

/*
 * Base images without a registry of images. Each has some programs of this machine with the libraries that they name,
 * and nothing else. A program on the base `node` needs neither a shell nor any other program.
 */

const LOADER = /(?:=>\s+)?(\/\S+)\s+\(0x/;

/**
 * Adds a file. For a program it also adds every library that it is linked with. All keep the paths that they have here.
 */
function add(root, program, target = program) {
  const put = (from, to) => {
    mkdirSync(dirname(join(root, to)), { recursive: true });
    cpSync(realpathSync(from), join(root, to), { recursive: true });
  };
  put(program, target);
  const { stdout, status } = spawnSync('ldd', [program], { encoding: 'utf8' });
  for (const line of status === 0 ? stdout.split('\n') : []) {
    const [, library] = LOADER.exec(line) ?? [];
    if (library !== undefined && !existsSync(join(root, library))) put(library, library);
  }
}

/** Returns the path of a program. Servers are not always on the PATH of an ordinary user. */
function find(name) {
  const path = (process.env.PATH ?? '')
    .split(':')
    .concat('/usr/sbin', '/usr/local/bin')
    .map((at) => join(at, name));
  const found = path.find(existsSync);
  if (found === undefined) throw new Error(`${name} is not installed`);
  return found;
}

const SYSTEM = {
  '/etc/passwd': 'root:x:0:0:root:/:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n',
  '/etc/group': 'root:x:0:\nnogroup:x:65534:\n',
  '/etc/nsswitch.conf': 'hosts: files dns\n',
};

function makeRoot(folder, fill) {
  rmSync(folder, { recursive: true, force: true });
  for (const sub of ['etc', 'tmp', 'var', 'usr/bin', 'usr/lib', 'usr/lib64', 'usr/sbin'])
    mkdirSync(join(folder, sub), { recursive: true });
  chmodSync(join(folder, 'tmp'), 0o1777);
  // Every Debian has these links.
  for (const name of ['bin', 'sbin', 'lib', 'lib64']) symlinkSync(`usr/${name}`, join(folder, name));
  for (const [path, text] of Object.entries(SYSTEM)) writeFileSync(join(folder, path), text);
  fill(folder);
}

/** Imports a folder as an image. Everybody who may read this tarball may read these files here too. */
function importRoot(folder, image) {
  must('sh', [
    '-c',
    'tar -C "$0" --owner=0 --group=0 --numeric-owner -c . | docker import - "$1" >/dev/null',
    folder,
    image,
  ]);
}

const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';

/** Adds npm as it is set up here, without anything that belongs to a user. */
function addNpm(root) {
  const [npm] = [realpathSync(find('npm'))].map((script) => dirname(dirname(script)));
  cpSync(npm, join(root, 'usr/lib/node_modules/npm'), { recursive: true });
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/bin/npm'));
  for (const program of ['sh', 'env']) add(root, find(program), `/usr/bin/${program}`);
  // These belong to the C library, and only packages that npm installs name them.
  const [, libraries] = /(\/\S+)\/libc\.so/.exec(must('ldd', [find('env')]));
  for (const library of ['librt.so.1', 'libutil.so.1', 'libresolv.so.2']) add(root, join(libraries, library));
  if (existsSync(CERTIFICATES)) add(root, CERTIFICATES);
  const registry = must('npm', ['config', 'get', 'registry']).trim();
  mkdirSync(join(root, 'usr/etc'), { recursive: true });
  const cafile = existsSync(CERTIFICATES) ? `cafile=${CERTIFICATES}\n` : '';
  writeFileSync(join(root, 'usr/etc/npmrc'), `registry=${registry}\n${cafile}`);
}

/** Fetches Node's program in the version of the images from the package registry. */
function fetchNode(folder, version) {
  const name = `node-linux-${process.arch}`;
  must('npm', [
    'install',
    '--prefix',
    folder,
    '--no-save',
    '--no-package-lock',
    '--ignore-scripts',
    '--loglevel=error',
    `${name}@${version}`,
  ]);
  return join(folder, 'node_modules', name, 'bin/node');
}

/** Returns `{build, runtime, redis, nginx}`: the names of images, all made here under `prefix`. */
export function makeBases({ folder, prefix, nodeVersion }) {
  const node = fetchNode(join(folder, 'npm'), nodeVersion);
  const addNode = (root) => add(root, node, '/usr/bin/node');
  const contents = {
    build: (root) => {
      addNode(root);
      addNpm(root);
    },
    runtime: addNode,
    redis: (root) => {
      add(root, find('redis-server'), '/usr/bin/redis-server');
      add(root, find('redis-cli'), '/usr/bin/redis-cli');
    },
    nginx: (root) => {
      add(root, find('nginx'), '/usr/sbin/nginx');
      add(root, find('curl'), '/usr/bin/curl');
      mkdirSync(join(root, 'var/log/nginx'), { recursive: true });
    },
  };
  for (const [name, fill] of Object.entries(contents)) {
    const root = join(folder, name);
    makeRoot(root, fill);
    importRoot(root, `${prefix}${name}`);
    rmSync(root, { recursive: true });
  }
  return Object.fromEntries(Object.keys(contents).map((name) => [name, `${prefix}${name}`]));
}

export const nodeVersionOfImages = (root) =>
  /^node_24=(\S+)$/m.exec(readFileSync(join(root, '.ci/run'), 'utf8'))?.[1] ?? '24';
