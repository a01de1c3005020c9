import { build } from '../build/build.mjs';
import { runTool } from '../local/setup/command.mjs';
import { installPackages, requireNode } from '../local/setup/setup.mjs';
import { findDrift } from './generate.mjs';
import { findUnprovenGuarantees } from './guarantees.mjs';
import { findBrokenWalk } from './sealed-walk.mjs';
import { findMonitoringFlaws } from './monitoring.mjs';
import {
  findDrawers,
  findLocalWords,
  findLongFiles,
  findOddScripts,
  findRetiredWords,
  findScriptsOfManyKeys,
  findScriptsThatReach,
  findSubjectsLast,
} from './text-rules.mjs';
import { ROOT } from '../local/setup/tree.mjs';

/*
 * `npm run check`: everything that can be checked without running the code. It prints one line for each gate, the
 * findings of gates that refuse, and counts at the end. `test/gates` proves that each gate works.
 */

async function tool(name, args) {
  const { code, output } = await runTool(name, args);
  return { ok: code === 0, output };
}

const rule = (find) => async () => {
  const found = await find();
  return { ok: found.length === 0, output: found.join('\n') };
};

/** One build for all gates that check build outputs. */
let building = null;
const onBuild = (find) => async () => {
  building ??= build();
  const built = await building;
  if (!built.ok) return { ok: false, output: `the build failed:\n${built.output}` };
  return rule(find)();
};

async function drift() {
  const found = await findDrift();
  return found.length === 0 ? [] : [...found, 'npm run generate brings them up to date'];
}

const GATES = {
  types: () => tool('tsc', ['-p', 'tsconfig.json']),
  // Pages have other globals than services.
  'page types': () => tool('tsc', ['-p', 'services/web/tsconfig.json']),
  lint: () => tool('oxlint', []),
  format: () => tool('biome', ['format', '--reporter=summary', '--max-diagnostics=none']),
  'dead code': () => tool('knip', ['--no-progress', '--treat-config-hints-as-errors']),
  generated: onBuild(drift),
  monitoring: onBuild(() => findMonitoringFlaws((path) => import(`${ROOT}dist/${path}`))),
  'file size': rule(findLongFiles),
  'file names': rule(() => [...findDrawers(), ...findOddScripts()]),
  scripts: rule(() => [...findScriptsThatReach(), ...findScriptsOfManyKeys()]),
  'local words': rule(findLocalWords),
  'retired words': rule(findRetiredWords),
  sentences: rule(findSubjectsLast),
  guarantees: rule(findUnprovenGuarantees),
  'sealed walk': rule(findBrokenWalk),
};

async function pass([name, gate]) {
  const startedAt = Date.now();
  const { ok, output } = await gate().catch((error) => ({ ok: false, output: error.stack }));
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
  process.stdout.write(
    `${ok ? 'ok  ' : 'FAIL'}  ${name.padEnd(13)} ${seconds} s\n${ok ? '' : `${output.trimEnd()}\n`}`,
  );
  return ok;
}

requireNode();
installPackages();
const verdicts = await Promise.all(Object.entries(GATES).map(pass));
const failed = verdicts.filter((ok) => !ok).length;
process.stdout.write(`${verdicts.length - failed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
