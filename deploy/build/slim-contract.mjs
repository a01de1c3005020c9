import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../local/setup/tree.mjs';

/** Whether a file belongs to sealing, which has routes of its own that are loaded with it. */
const ofSealing = (name) => /^sealing[./]/.test(name);

/** Returns the names of one of the contract's tables that the client's own code uses. */
function namesIn(pattern, isOfPart = (name) => !ofSealing(name)) {
  const modules = readdirSync(join(ROOT, 'dist/shared/client'), { recursive: true });
  const texts = modules
    .filter((name) => name.endsWith('.js') && isOfPart(name))
    .map((name) => readFileSync(join(ROOT, 'dist/shared/client', name), 'utf8'));
  return new Set(texts.flatMap((text) => [...text.matchAll(pattern)].map(([, name]) => name)));
}

const picked = (table, names) => Object.fromEntries(Object.entries(table).filter(([name]) => names.has(name)));
const mapped = (table, to) => Object.fromEntries(Object.entries(table).map(([name, row]) => [name, to(row, name)]));
const isLeaf = (value) => typeof value !== 'object' || value === null || value instanceof RegExp;
const keyOf = (value) => JSON.stringify(value, (_, part) => (part instanceof RegExp ? { pattern: `${part}` } : part));

/** Returns the tables as the text of a module. Parts that occur more than once are written once. */
function tablesText(tables) {
  const counts = new Map();
  const count = (value) => {
    const key = keyOf(value);
    counts.set(key, (counts.get(key) ?? 0) + 1);
    if (counts.get(key) === 1 && !isLeaf(value)) Object.values(value).forEach(count);
  };
  count(Object.values(tables));
  const names = new Map();
  const lines = [];
  function inside(value) {
    if (value instanceof RegExp) return `${value}`;
    if (isLeaf(value)) return JSON.stringify(value);
    if (Array.isArray(value)) return `[${value.map(written).join(',')}]`;
    const fields = Object.entries(value).filter(([, field]) => field !== undefined);
    return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${written(field)}`).join(',')}}`;
  }
  function written(value) {
    const key = keyOf(value);
    const isShared = counts.get(key) > 1 && typeof value === 'object' && value !== null;
    if (!isShared) return inside(value);
    if (!names.has(key)) {
      const text = inside(value);
      names.set(key, `f${names.size}`);
      lines.push(`const ${names.get(key)} = ${text};\n`);
    }
    return names.get(key);
  }
  const exports_ = Object.entries(tables).map(([name, table]) => `export const ${name} = ${written(table)};\n`);
  return [...lines, ...exports_].join('');
}

/**
 * Keeps the errors that the client must know: those that its own code names, and those whose status does not tell the
 * reaction. It handles all others as errors of a newer service: by what the response says.
 */
function errorsOf(ERRORS) {
  // Matches any word of the code, because codes are also keys of tables.
  const named = namesIn(/(\w+)/g);
  const isLater = (status) => status === 429 || status >= 500;
  const kept = Object.entries(ERRORS).filter(
    ([code, { status, retry }]) => named.has(code) || (retry === 'later') !== isLater(status),
  );
  const row = ({ status, retry, laterStatus }) => ({
    status,
    laterStatus,
    retry: retry === 'later' && !isLater(status) ? retry : undefined,
  });
  return mapped(Object.fromEntries(kept), row);
}

/**
 * Makes the client's copy of the contract: names, paths, numbers and the forms of responses and events. It leaves out the
 * schemas, the library that makes them, and the routes that a client never calls. A refusal brings its own title.
 */
async function slimTables() {
  const from = (name) => import(join(ROOT, `dist/shared/contract/${name}.js`));
  const [{ ROUTES }, { EVENTS }, { LIMITS }, { ERRORS }, { formOf }] = await Promise.all(
    ['routes', 'events', 'limits', 'errors', 'forms'].map(from),
  );
  const told = (answer) => (answer === null || typeof answer === 'string' ? answer : formOf(answer));
  // Matches any quoted name of a route, because a call may take it from a variable.
  const CALLS = /'(\w+)'/g;
  const called = namesIn(CALLS).add('openStream');
  const short = ({ method, path, idempotent, answers }) => ({
    ...{ method, path, idempotent: idempotent || undefined, answers: mapped(answers, told) },
  });
  const tables = {
    ROUTES: mapped(picked(ROUTES, called), short),
    EVENTS: mapped(EVENTS, ({ data }) => ({ data: formOf(data) })),
    ERRORS: errorsOf(ERRORS),
  };
  const limits = picked(LIMITS, namesIn(/\bLIMITS\.(\w+)/g));
  const missing = [...namesIn(/(?<!SEALING_)LIMITS\.(\w+)/g, ofSealing)].filter((name) => !(name in limits));
  // The number would be undefined in the package.
  if (missing.length > 0) throw new Error(`sealing/ takes ${missing.join(', ')} from LIMITS, not from SEALING_LIMITS`);
  const contract = (name) => readFileSync(join(ROOT, `dist/shared/contract/${name}.js`), 'utf8');
  return {
    'contract/tables.js': tablesText(tables),
    'client/sealing/sealing-routes.js': tablesText({
      SEALING_ROUTES: mapped(picked(ROUTES, namesIn(CALLS, ofSealing)), short),
    }),
    'client/sealing/sealing-limits.js': tablesText({
      SEALING_LIMITS: picked(LIMITS, namesIn(/\bSEALING_LIMITS\.(\w+)/g, ofSealing)),
    }),
    'contract/routes.js': "export { ROUTES } from './tables.js';",
    'contract/events.js': "export { EVENTS } from './tables.js';",
    // A bundler puts the number in place of a name that it can follow.
    'contract/limits.js': "export * as LIMITS from './limit-values.js';",
    'contract/limit-values.js': Object.entries(limits)
      .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`)
      .join('\n'),
    'contract/forms.js': 'export const formOf = (form) => form;',
    'contract/errors.js': contract('errors').replace(
      /^export const ERRORS = \{[\s\S]*?^\};\n/m,
      "import { ERRORS } from './tables.js';\nexport { ERRORS };\n",
    ),
    // Only the service completes rows.
    'contract/vocabulary/route.js': contract('vocabulary/route').replace(
      /^import.*\n|^const DEFAULTS = \{[\s\S]*?^\};\n|^export function route\([\s\S]*?^\}\n/gm,
      '',
    ),
    'contract/modules/relay.js': contract('modules/relay').replace(
      /^import.*$|^(const params = |export const relay)[\s\S]*$/gm,
      '',
    ),
  };
}

/** Makes a plugin of the bundler that replaces the contract by the slim tables. */
export async function slimContract() {
  const slim = await slimTables();
  const nameIn = (id) => Object.keys(slim).find((name) => id.endsWith(`/shared/${name}`));
  return {
    name: 'slim-contract',
    // These files do not exist.
    resolveId: (id, from) => (/^\.\/(tables|limit-values)\.js$/.test(id) ? from.replace(/[^/]+$/, id.slice(2)) : null),
    load: (id) => slim[nameIn(id)] ?? null,
  };
}
