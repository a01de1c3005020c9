import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../setup/tree.mjs';

/** What the client's own code says of one of the contract's tables. */
function namesIn(pattern) {
  const modules = readdirSync(join(ROOT, 'dist/shared/client'), { recursive: true });
  const texts = modules
    .filter((name) => name.endsWith('.js'))
    .map((name) => readFileSync(join(ROOT, 'dist/shared/client', name), 'utf8'));
  return new Set(texts.flatMap((text) => [...text.matchAll(pattern)].map(([, name]) => name)));
}

const picked = (table, names) => Object.fromEntries(Object.entries(table).filter(([name]) => names.has(name)));
const exported = (name, value) => `export const ${name} = ${JSON.stringify(value)};\n`;

/** What stands in a table more than once is written once. */
function formsText(tables) {
  const counts = new Map();
  const count = (form) => {
    const text = JSON.stringify(form);
    counts.set(text, (counts.get(text) ?? 0) + 1);
    if (counts.get(text) === 1 && typeof form === 'object' && form !== null) Object.values(form).forEach(count);
  };
  for (const [, table] of tables) count(table);
  const names = new Map();
  const lines = [];
  function written(form) {
    if (typeof form !== 'object' || form === null) return JSON.stringify(form);
    const text = JSON.stringify(form);
    if (names.has(text)) return names.get(text);
    const inside = Array.isArray(form)
      ? `[${form.map(written).join(',')}]`
      : `{${Object.entries(form)
          .map(([key, field]) => `${JSON.stringify(key)}:${written(field)}`)
          .join(',')}}`;
    if (counts.get(text) < 2) return inside;
    names.set(text, `f${names.size}`);
    lines.push(`const ${names.get(text)} = ${inside};\n`);
    return names.get(text);
  }
  const exports_ = tables.map(([name, table]) => `export const ${name} = ${written(table)};\n`);
  return [...lines, ...exports_].join('');
}

/**
 * Of the tables of the contract a client needs names, paths, numbers and the shapes of what it is told; the library that schemas
 * are made with, and what it never asks for are the service's. What is refused says its own title.
 */
async function slimTables() {
  const from = (name) => import(join(ROOT, `dist/shared/contract/${name}.js`));
  const [{ ROUTES }, { EVENTS }, { LIMITS }, { ERRORS }, { ANSWER_FORMS, EVENT_FORMS }] = await Promise.all(
    ['routes', 'events', 'limits', 'errors', 'forms'].map(from),
  );
  const told = (answer) => (answer === null || typeof answer === 'string' ? answer : 0);
  const called = namesIn(/\bcall\('(\w+)'|ROUTES\.(\w+)/g).add('openStream');
  const routes = Object.entries(picked(ROUTES, called)).map(([name, { method, path, idempotent, answers }]) => {
    const statuses = Object.fromEntries(Object.entries(answers).map(([status, answer]) => [status, told(answer)]));
    return [name, { method, path, ...(idempotent && { idempotent }), answers: statuses }];
  });
  const events = Object.keys(EVENTS).map((name) => [name, 0]);
  const errors = Object.entries(ERRORS).map(([code, entry]) => [
    code,
    { ...entry, title: undefined, retry: entry.retry === 'never' ? undefined : entry.retry },
  ]);
  const contract = (name) => readFileSync(join(ROOT, `dist/shared/contract/${name}.js`), 'utf8');
  return {
    'contract/routes.js': exported('ROUTES', Object.fromEntries(routes)),
    'contract/forms.js': formsText([
      ['ANSWER_FORMS', picked(ANSWER_FORMS, called)],
      ['EVENT_FORMS', EVENT_FORMS],
    ]),
    'contract/events.js': exported('EVENTS', Object.fromEntries(events)),
    'contract/limits.js': exported('LIMITS', picked(LIMITS, namesIn(/\bLIMITS\.(\w+)/g))),
    'contract/errors.js': contract('errors').replace(
      /^export const ERRORS = \{[\s\S]*?^\};\n/m,
      exported('ERRORS', Object.fromEntries(errors)),
    ),
    'contract/modules/relay.js': contract('modules/relay').replace(
      /^import.*$|^(const params = |export const relay)[\s\S]*$/gm,
      '',
    ),
  };
}

/** A plugin of the bundler: the client with the slim tables in place of the contract. */
export async function slimContract() {
  const slim = await slimTables();
  return {
    name: 'slim-contract',
    load: (id) => slim[Object.keys(slim).find((name) => id.endsWith(`/shared/${name}`))] ?? null,
  };
}
