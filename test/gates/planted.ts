import { readFileSync } from 'node:fs';

/** One violation: what it is, and where it is planted. */
interface Planted {
  what: string;
  file: string;
  text: string;
}

/** The parts that HTTP code receives and does not import. */
const BEHIND_HTTP = ['streams', 'presence', 'replicas', 'signals'];

const lines = (count: number, line: string) => `${line}\n`.repeat(count);
/** A word that a rule forbids in the text of the repository, this file included. */
const workFolder = ['', 'work', ''].join('/');

const textOf = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const METRICS = 'services/sync/telemetry/lifecycle-metrics.ts';

/** Returns a rule of Prometheus in a file of its own. */
const ruleFile = (alert: string, expr: string): string =>
  [
    'groups:',
    '  - name: planted',
    '    rules:',
    `      - alert: ${alert}`,
    `        expr: ${expr}`,
    '        labels: { severity: warning }',
    `        annotations: { summary: Oh, runbook_url: deploy/runbooks/${alert}.md }`,
    '',
  ].join('\n');
/** The first word that the glossary has retired. */
const RETIRED = 'room';
/** A retired word that has no ordinary meaning besides. */
const UNSAID = 'owed';

/** Violations that the linter must name by rule. */
export const LINT: (Planted & { rule: string })[] = [
  {
    what: 'a module that speaks Redis',
    rule: 'eslint(no-restricted-imports)',
    file: 'services/sync/planted/speaks-redis.ts',
    text: "import type { Redis } from 'ioredis';\nexport type R = Redis;\n",
  },
  {
    what: 'a rule that knows Express',
    rule: 'eslint(no-restricted-imports)',
    file: 'services/sync/planted/knows-express.ts',
    text: "import type { Request } from 'express';\nexport type R = Request;\n",
  },
  {
    what: 'Express in redis/',
    rule: 'eslint(no-restricted-imports)',
    file: 'services/sync/redis/planted.ts',
    text: "import type { Request } from 'express';\nexport type R = Request;\n",
  },
  {
    what: 'ioredis in http/',
    rule: 'eslint(no-restricted-imports)',
    file: 'services/sync/http/planted.ts',
    text: "import type { Redis } from 'ioredis';\nexport type R = Redis;\n",
  },
  {
    what: 'ioredis in a routes.ts',
    rule: 'eslint(no-restricted-imports)',
    file: 'services/sync/planted/routes.ts',
    text: "import type { Redis } from 'ioredis';\nexport type R = Redis;\n",
  },
  {
    what: "another module's store, as a type",
    rule: 'eslint(no-restricted-imports)',
    file: 'services/sync/planted/neighbour.ts',
    text: "import type { Put } from '../planted-too/store.ts';\nexport type P = Put;\n",
  },
  {
    what: "another module's store, imported late",
    rule: 'eslint(no-restricted-imports)',
    file: 'services/sync/planted/late-neighbour.ts',
    text: "export const store = await import('../planted-too/store.ts');\n",
  },
  {
    what: 'a store outside the composition root',
    rule: 'eslint(no-restricted-imports)',
    file: 'services/sync/planted-main.ts',
    text: "import type { Put } from './planted-too/store.ts';\nexport type P = Put;\n",
  },
  {
    what: 'a product that knows its tests',
    rule: 'eslint(no-restricted-imports)',
    file: 'services/sync/planted/knows-tests.ts',
    text: "import { word } from '../../../test/planted/word.ts';\nexport const w = word;\n",
  },
  {
    what: 'shared code that knows the replica',
    rule: 'eslint(no-restricted-imports)',
    file: 'shared/service-kit/planted/knows-replica.ts',
    text: "import type { Egg } from '../../../services/sync/planted/egg.ts';\nexport type E = Egg;\n",
  },
  {
    what: 'shared code that knows the broker',
    rule: 'eslint(no-restricted-imports)',
    file: 'shared/service-kit/http/planted/knows-broker.ts',
    text: "import type { Keys } from '../../../../services/broker/redis/keys.ts';\nexport type K = Keys;\n",
  },
  {
    what: 'a broker that knows the replica',
    rule: 'eslint(no-restricted-imports)',
    file: 'services/broker/planted.ts',
    text: "import type { Egg } from '../sync/planted/egg.ts';\nexport type E = Egg;\n",
  },
  {
    what: 'a replica that knows the broker',
    rule: 'eslint(no-restricted-imports)',
    file: 'services/sync/redis/planted-broker.ts',
    text: "import type { Keys } from '../../broker/redis/keys.ts';\nexport type K = Keys;\n",
  },
  {
    what: 'Redis code that knows HTTP',
    rule: 'eslint(no-restricted-imports)',
    file: 'shared/service-kit/redis/scripts/planted.ts',
    text: "import type { RequestContext } from '../../http/request-context.ts';\nexport type R = RequestContext;\n",
  },
  {
    what: 'HTTP code that knows Redis',
    rule: 'eslint(no-restricted-imports)',
    file: 'services/sync/http/limits/planted.ts',
    text: "import type { Keys } from '../../redis/keys.ts';\nexport type K = Keys;\n",
  },
  ...BEHIND_HTTP.map((module) => ({
    what: `HTTP code that knows ${module}`,
    rule: 'eslint(no-restricted-imports)',
    file: `services/sync/http/planted-${module}.ts`,
    text: `import type { Put } from '../${module}/planted.ts';\nexport type P = Put;\n`,
  })),
  {
    what: 'a function of 61 lines',
    rule: 'eslint(max-lines-per-function)',
    file: 'services/sync/planted/long-function.ts',
    text: `export function f(): number {\n  let a = 0;\n${lines(58, '  a += 1;')}  return a;\n}\n`,
  },
  {
    what: 'a contract that needs Node',
    rule: 'eslint(no-restricted-imports)',
    file: 'shared/contract/planted.ts',
    text: "import { readFileSync } from 'node:fs';\nexport const r = readFileSync;\n",
  },
  {
    what: 'a contract that knows the client',
    rule: 'eslint(no-restricted-imports)',
    file: 'shared/contract/modules/planted-too.ts',
    text: "import { r } from '../../client/planted.ts';\nexport const again = [r];\n",
  },
  {
    what: 'a client that knows the service',
    rule: 'eslint(no-restricted-imports)',
    file: 'shared/client/planted.ts',
    text: "import type { Put } from '../../services/sync/planted-too/store.ts';\nexport const r: Put = 1;\n",
  },
  {
    what: 'a part of the client that knows the service',
    rule: 'eslint(no-restricted-imports)',
    file: 'shared/client/http/planted.ts',
    text: "import type { Put } from '../../../services/sync/planted-too/store.ts';\nexport const r: Put = 1;\n",
  },
  {
    what: 'a client that runs only in Node',
    rule: 'eslint(no-restricted-globals)',
    file: 'shared/client/files/planted.ts',
    text: "export const bytes = Buffer.from('');\n",
  },
  {
    what: 'a second reader of the environment',
    rule: 'eslint(no-restricted-properties)',
    file: 'services/sync/planted/reads-environment.ts',
    text: 'const { env } = process;\nexport const home = env.HOME;\n',
  },
  {
    what: 'a reader of the environment through the module',
    rule: 'eslint(no-restricted-imports)',
    file: 'services/sync/planted/imports-environment.ts',
    text: "import { env } from 'node:process';\nexport const home = env.HOME;\n",
  },
  {
    what: 'a promise that nobody waits for',
    rule: 'typescript(no-floating-promises)',
    file: 'services/sync/planted/floats.ts',
    text: 'const ring = async () => 1;\nexport function go(): void {\n  ring();\n}\n',
  },
  {
    what: 'an async function where nobody waits',
    rule: 'typescript(no-misused-promises)',
    file: 'services/sync/planted/misuses.ts',
    text: 'export const go = () => [1].forEach(async () => {\n  await Promise.resolve();\n});\n',
  },
  {
    what: 'a switch that forgets a case',
    rule: 'typescript(switch-exhaustiveness-check)',
    file: 'services/sync/planted/forgets.ts',
    text: "export function f(v: 'a' | 'b'): void {\n  switch (v) {\n    case 'a':\n      return;\n  }\n}\n",
  },
  {
    what: 'a thrown string',
    rule: 'typescript(only-throw-error)',
    file: 'services/sync/planted/throws-text.ts',
    text: "export function f(): never {\n  throw 'oh';\n}\n",
  },
  {
    what: 'a cycle, of types alone too',
    rule: 'import(no-cycle)',
    file: 'services/sync/planted/hen.ts',
    text: "import type { Egg } from './egg.ts';\nexport interface Hen {\n  from: Egg;\n}\n",
  },
  {
    what: 'a default export',
    rule: 'import(no-default-export)',
    file: 'services/sync/planted/default.ts',
    text: 'export default 1;\n',
  },
  {
    what: 'a barrel',
    rule: 'oxc(no-barrel-file)',
    file: 'services/sync/planted/barrel.ts',
    text: "export * from './hen.ts';\n",
  },
  {
    what: 'a file name that is not kebab-case',
    rule: 'unicorn(filename-case)',
    file: 'services/sync/planted/CamelCase.ts',
    text: 'export const a = 1;\n',
  },
  {
    what: 'a test that sleeps',
    rule: 'eslint(no-restricted-imports)',
    file: 'test/planted/sleeps.ts',
    text: "import { setTimeout } from 'node:timers/promises';\nexport const s = setTimeout;\n",
  },
  {
    what: 'a test that is skipped without a reason',
    rule: 'jest(no-disabled-tests)',
    file: 'test/planted/skips.test.ts',
    text: "test.skip('it rains', () => {\n  expect(1).toBe(2);\n});\n",
  },
];

/** Violations that the gates of `npm run check` must name by file. */
/** `names` is what the gate names instead of the file. */
export const CHECK: (Planted & { gate: string; names?: string })[] = [
  {
    gate: 'types',
    what: 'a wrong type',
    file: 'test/planted/wrong-type.ts',
    text: "export const count: number = 'one';\n",
  },
  {
    gate: 'page types',
    what: 'a language without one of the texts',
    file: 'services/web/texts/planted.ts',
    text: "import { english, type Texts } from './english.ts';\nexport const other: Texts = { ...english, search: { title: '', label: '', none: '' } };\n",
  },
  {
    gate: 'lint',
    what: 'a lint error',
    file: 'services/sync/planted/any.ts',
    text: 'export const a = (b: any) => b;\n',
  },
  {
    gate: 'format',
    what: 'a crooked line',
    file: 'test/planted/crooked.ts',
    text: 'export const   crooked = "so"\n',
  },
  { gate: 'dead code', what: 'a dead file', file: 'services/sync/planted/dead.ts', text: 'export const a = 1;\n' },
  {
    gate: 'dead code',
    what: 'a dead export of a living file',
    file: 'services/sync/planted/half-dead.ts',
    text: 'export const alive = 1;\nexport const dead = 2;\n',
  },
  {
    gate: 'generated',
    what: 'a generated part that was written by hand',
    file: 'planted.md',
    text: '<!-- generated:planted -->\n\nby hand\n\n<!-- /generated:planted -->\n',
  },
  { gate: 'file size', what: 'a long file', file: 'services/sync/planted/long.ts', text: lines(351, '// so on') },
  { gate: 'file size', what: 'a long test', file: 'test/planted/long.ts', text: lines(501, '// so on') },
  { gate: 'file size', what: 'a long script', file: 'services/sync/planted/long.lua', text: lines(61, 'local a') },
  { gate: 'file names', what: 'a drawer', file: 'services/sync/planted/text-utils.ts', text: 'export const a = 1;\n' },
  { gate: 'file names', what: 'a script that shouts', file: 'services/sync/planted/Do.lua', text: 'return 1\n' },
  {
    gate: 'scripts',
    what: 'Lua that another module keeps for itself',
    file: 'services/sync/planted/look.lua',
    text: '-- uses: clock signin/login\nreturn 1\n',
  },
  {
    gate: 'scripts',
    what: 'a script of nine keys',
    file: 'services/sync/planted/scripts.ts',
    text: "// defineScript('many', { keys: ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']\n",
  },
  {
    gate: 'monitoring',
    what: 'a metric that nobody looks at',
    names: 'baton_planted_total',
    file: METRICS,
    text: textOf(METRICS).replace(
      '  draining: gauge(',
      "  planted_total: counter('Nobody looks at it'),\n  draining: gauge(",
    ),
  },
  {
    gate: 'monitoring',
    what: 'an alert on a metric that there is not',
    file: 'helm/baton/files/rules/planted-metric.yaml',
    text: ruleFile('BusStale', 'rate(baton_no_such_total[5m]) > 0'),
  },
  {
    gate: 'monitoring',
    what: 'an alert on a label that there is not',
    file: 'helm/baton/files/rules/planted-label.yaml',
    text: ruleFile('BusStale', `'sum by (job) (baton_streams{account="ann"}) > 0'`),
  },
  {
    gate: 'monitoring',
    what: 'an alert by a label that there is not',
    file: 'helm/baton/files/rules/planted-group.yaml',
    text: ruleFile('BusStale', 'sum by (account) (baton_streams) > 0'),
  },
  {
    gate: 'monitoring',
    what: 'an alert without a runbook',
    file: 'helm/baton/files/rules/planted-alert.yaml',
    text: ruleFile('NoSuchPage', 'baton_streams > 0'),
  },
  {
    gate: 'monitoring',
    what: 'a runbook without an alert',
    file: 'deploy/runbooks/NoSuchAlert.md',
    text: '# NoSuchAlert\n\n## What users notice\n\n## How to confirm it\n\n## What to do\n',
  },
  {
    gate: 'monitoring',
    what: 'a runbook that does not say what to do',
    file: 'deploy/runbooks/StreamImbalance.md',
    text: '# StreamImbalance\n\nOne replica has more streams than the others.\n',
  },
  {
    gate: 'monitoring',
    what: 'a runbook that names a panel of another dashboard',
    names: 'the dashboard named before "Memory" has no such panel',
    file: 'deploy/runbooks/StreamCapacityHigh.md',
    text: textOf('deploy/runbooks/StreamCapacityHigh.md').replace('"Streams"', '"Memory"'),
  },
  {
    gate: 'monitoring',
    what: 'a runbook that names a dashboard that there is not',
    names: 'there is no dashboard *planted*',
    file: 'deploy/runbooks/RelayFailures.md',
    text: textOf('deploy/runbooks/RelayFailures.md').replace('*relay*', '*planted*'),
  },
  {
    gate: 'monitoring',
    what: 'a dashboard that asks for what there is not',
    file: 'deploy/monitoring/dashboards.mjs',
    text: textOf('deploy/monitoring/dashboards.mjs').replace('sum(baton_streams)', 'sum(baton_streems)'),
  },
  {
    gate: 'retired words',
    what: 'a file named by a retired word',
    file: `services/sync/planted/message-${RETIRED}.ts`,
    text: 'export const a = 1;\n',
  },
  {
    gate: 'retired words',
    what: 'an export named by a retired word',
    file: 'services/sync/planted/tells.ts',
    text: `export const open${RETIRED[0]?.toUpperCase()}${RETIRED.slice(1)}s = 1;\n`,
  },
  {
    gate: 'retired words',
    what: 'a private name with a retired word',
    file: 'services/sync/planted/waits.ts',
    text: `export class Waits {\n  #${RETIRED}Ms = 1;\n  get ms(): number {\n    return this.#${RETIRED}Ms;\n  }\n}\n`,
  },
  {
    gate: 'retired words',
    what: 'a comment that says a retired word',
    file: 'services/sync/planted/says.ts',
    text: `/** It is ${UNSAID} what it lacks. */\nexport const b = 1;\n`,
  },
  {
    gate: 'sentences',
    what: 'a comment that hides its subject',
    file: 'services/sync/planted/hides.ts',
    text: `/** ${'Of'} several rings the newest counts. */\nexport const c = 1;\n`,
  },
  {
    gate: 'guarantees',
    what: 'a test that cites what nobody promises',
    file: 'test/planted/promising.test.ts',
    text: "// Proves G999.\ntest('it is promised', () => expect(1).toBe(1));\n",
  },
  {
    gate: 'guarantees',
    what: 'a promise that no test proves',
    file: 'services/GUARANTEES.md',
    text: `${textOf('services/GUARANTEES.md')}\n- **G998** Nothing goes wrong.\n`,
  },
  {
    gate: 'guarantees',
    what: 'a model of what nobody promises',
    file: 'test/models/planted.tla',
    text: '\\* Proves G999: it holds.\n',
  },
  {
    gate: 'sealed walk',
    what: 'rules of encryption whose file or test does not exist',
    file: 'test/sealed/README.md',
    text: [
      textOf('test/sealed/README.md'),
      '| It holds. | `shared/client/absent.ts` | none: it is planted |',
      '| It holds too. | - | `sealed/guests.test.ts`: no such promise |',
    ].join('\n'),
    names: 'there is no shared/client/absent.ts',
  },
  { gate: 'local words', what: 'a path of one machine', file: 'planted.txt', text: `see ${workFolder}notes\n` },
];

/** Files that the violations need. */
export const PROPS: { file: string; text: string }[] = [
  { file: 'test/planted/word.ts', text: "export const word = 'test';\n" },
  { file: 'services/sync/planted-too/store.ts', text: 'export type Put = number;\n' },
  ...BEHIND_HTTP.map((module) => ({ file: `services/sync/${module}/planted.ts`, text: 'export type Put = number;\n' })),
  {
    file: 'services/sync/planted/egg.ts',
    text: "import type { Hen } from './hen.ts';\nexport interface Egg {\n  from: Hen;\n}\n",
  },
  {
    file: 'test/planted/living.test.ts',
    text: "import { alive } from '../../services/sync/planted/half-dead.ts';\ntest('it lives', () => expect(alive).toBe(1));\n",
  },
  {
    file: 'deploy/check/generated.mjs',
    text: "export const GENERATED = [{ file: 'planted.md', section: 'planted', make: () => 'from code' }];\n",
  },
];
