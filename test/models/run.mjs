import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../../deploy/local/setup/tree.mjs';
import { MODELS } from './mutants.mjs';
import { linesIn, NOTED, notingModule } from './steps.mjs';
import { findTlc } from './tlc.mjs';

/*
 * `npm run test:model`: TLC checks each model, and each mutant of it, which must break the property that it names.
 * `npm run test:model -- join lease` checks only these. `--write` writes the steps of models to steps.txt. README.md says
 * what a model is.
 */

const HERE = join(ROOT, 'test/models');
const AT_ONCE = 2;
const JAVA = ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xmx1g'];

/** The exit codes of TLC when a property is broken: an invariant, a temporal property. */
const BROKEN = new Set([12, 13]);

const say = (text) => process.stdout.write(`${text}\n`);
const textOf = (name, kind) => readFileSync(join(HERE, `${name}.${kind}`), 'utf8');

/** Runs TLC on a module in a folder of its own; resolves to its exit code and its output. `counts` also counts each step, which
 * takes half of the time. */
async function runTlc(jar, { name, text, config, beside = [], counts = false }) {
  const folder = mkdtempSync(join(tmpdir(), 'baton-model-'));
  for (const other of beside) writeFileSync(join(folder, `${other}.tla`), textOf(other, 'tla'));
  writeFileSync(join(folder, `${name}.tla`), text);
  writeFileSync(join(folder, `${name}.cfg`), config);
  const args = ['-lncheck', 'final', '-deadlock', '-nowarning', '-workers', '1', '-metadir', folder];
  if (counts) args.push('-coverage', '1');
  const tmp = `-Djava.io.tmpdir=${folder}`;
  const child = spawn('java', [...JAVA, tmp, '-cp', jar, 'tlc2.TLC', ...args, `${name}.tla`], { cwd: folder });
  let output = '';
  child.stdout.on('data', (part) => (output += part));
  child.stderr.on('data', (part) => (output += part));
  const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  rmSync(folder, { recursive: true, force: true });
  return { code, output };
}

/** Returns the names of the properties that a configuration checks. */
const propertiesOf = (config) =>
  [...config.matchAll(/^(?:INVARIANTS?|PROPERT(?:Y|IES)) (.*)$/gm)].flatMap(([, names]) => names.split(' '));

/** Returns the actions that no behaviour takes. A model in which something never happens proves nothing about it. */
function neverTaken(output) {
  const last = new Map();
  for (const [, action, count] of output.matchAll(/^<(\w+) line [^>]*>: \d+:(\d+)$/gm)) last.set(action, Number(count));
  return last.size === 0 ? ['any action'] : [...last].filter(([, count]) => count === 0).map(([action]) => action);
}

/** Returns the missing ones of the files that a model names for its steps. */
const missingFiles = (text) =>
  [...text.matchAll(/(?:services|shared)\/[\w./-]+\.\w+/g)]
    .map(([path]) => path)
    .filter((path) => !existsSync(join(ROOT, path)));

async function checkModel(jar, name) {
  const [text, config] = [textOf(name, 'tla'), textOf(name, 'cfg')];
  const lacking = missingFiles(text);
  if (lacking.length > 0) return { ok: false, why: `there is no ${lacking.join(', ')}` };
  const { code, output } = await runTlc(jar, { name, text, config, counts: true });
  if (code !== 0) return { ok: false, why: output };
  const never = neverTaken(output);
  if (never.length > 0) return { ok: false, why: `never taken: ${never.join(', ')}` };
  const [, states = 'no'] = /, (\d+) distinct states found, 0 states left on queue\.$/m.exec(output) ?? [];
  return { ok: true, why: `${states} states` };
}

const STEPS = join(HERE, 'steps.txt');
const stepsOf = (name) =>
  readFileSync(STEPS, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith(`${name} `));

/** Has TLC print steps of a model. Throws if it cannot. */
async function printSteps(jar, { name, model }) {
  const made = notingModule(name, textOf(model, 'cfg'));
  const { code, output } = await runTlc(jar, { name: `${name}Steps`, ...made, beside: [model] });
  if (code !== 0) throw new Error(output);
  return linesIn(name, output);
}

/** Checks that the steps that checkers of runs read are those of the model. */
async function checkSteps(jar, noted) {
  const [made, kept] = [await printSteps(jar, noted), stepsOf(noted.name)];
  const odd = [...made.filter((line) => !kept.includes(line)), ...kept.filter((line) => !made.includes(line))];
  if (odd.length > 0) return { ok: false, why: `--write steps.txt, which differs in: ${odd.slice(0, 5).join('; ')}` };
  return { ok: made.length > 0, why: `${made.length} steps` };
}

/** Puts the faults of a mutant into a model. Each replaced text must occur exactly once. */
function mutated(text, changes) {
  return changes.reduce((made, [from, to]) => {
    if (made.split(from).length !== 2) throw new Error(`${made.split(from).length - 1} times in the model: ${from}`);
    return made.replace(from, () => to);
  }, text);
}

async function checkMutant(jar, name, { changes, breaks }) {
  const config = textOf(name, 'cfg');
  const all = propertiesOf(config);
  if (!all.includes(breaks)) return { ok: false, why: `${breaks} is not checked` };
  // The other properties are left out, because they may break too, and earlier.
  const only = config.replaceAll(/^(INVARIANTS?|PROPERT(?:Y|IES)) .*$/gm, (line, kind) =>
    line.split(' ').includes(breaks) ? `${kind} ${breaks}` : '',
  );
  const { code, output } = await runTlc(jar, { name, text: mutated(textOf(name, 'tla'), changes), config: only });
  if (BROKEN.has(code)) return { ok: true, why: `breaks ${breaks}` };
  return { ok: false, why: code === 0 ? `${breaks} holds all the same` : output };
}

function jobsOf(jar, names) {
  return names.flatMap((name) => [
    { title: name, run: () => checkModel(jar, name) },
    ...NOTED.filter(({ model }) => model === name).map((noted) => ({
      title: `${name}: its steps${noted.name === name ? '' : `, ${noted.name}`}`,
      run: () => checkSteps(jar, noted),
    })),
    ...MODELS[name].map((mutant) => ({ title: `${name}: ${mutant.title}`, run: () => checkMutant(jar, name, mutant) })),
  ]);
}

const isWriting = process.argv.includes('--write');
const wanted = process.argv.slice(2).filter((word) => word !== '--write');
const unknown = wanted.filter((name) => !Object.hasOwn(MODELS, name));
if (unknown.length > 0) {
  process.stderr.write(`There is no model ${unknown.join(', ')}; there are ${Object.keys(MODELS).join(', ')}.\n`);
  process.exit(2);
}
const jar = await findTlc();
if (isWriting) {
  const lines = await Promise.all(NOTED.map((noted) => printSteps(jar, noted)));
  writeFileSync(STEPS, `${lines.flat().join('\n')}\n`);
}
const jobs = jobsOf(jar, wanted.length > 0 ? wanted : Object.keys(MODELS));
let [next, failed] = [0, 0];
async function work() {
  for (let job = jobs[next++]; job !== undefined; job = jobs[next++]) {
    const { title, run } = job;
    const { ok, why } = await run().catch((error) => ({ ok: false, why: error.message }));
    if (!ok) failed += 1;
    say(`${ok ? 'ok    ' : 'not ok'} ${title}: ${why.trimEnd()}`);
  }
}
await Promise.all(Array.from({ length: AT_ONCE }, work));
say(`${jobs.length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
