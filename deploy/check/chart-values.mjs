import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMap, isSeq, LineCounter, parseDocument } from 'yaml';
import { ROOT } from '../local/setup/tree.mjs';

/*
 * helm/baton/values.yaml is the source of the schema and of the table in the chart's README. The comment above a key is
 * its description. A `# @schema {...}` in the comment is merged into its schema:
 *   {"additionalProperties": true}   an object that is not checked further
 *   {"settings": "replica"}          settings of that program that no template writes
 */

const CHART = 'helm/baton';
const ANNOTATION = '# @schema ';

/** The prefix of a program's settings, the module that declares them, and those that the chart leaves at their default. */
const PROGRAMS = {
  replica: { prefix: 'APP_', module: 'services/sync/config/settings.js', fixed: ['APP_PORT', 'APP_ADMIN_PORT'] },
  broker: {
    prefix: 'BROKER_',
    module: 'services/broker/config/settings.js',
    fixed: ['BROKER_PORT', 'BROKER_ADMIN_PORT'],
  },
};

const textOf = (path) => readFileSync(join(ROOT, CHART, path), 'utf8');

/** Returns the comment lines directly above `line` (from 1). */
function commentAbove(lines, line) {
  const found = [];
  for (let at = line - 2; at >= 0 && lines[at].trimStart().startsWith('#'); at--) found.unshift(lines[at].trim());
  return found;
}

/** Returns each key of a map as `{name, path, value, node, says, annotation}`. Keys of an inner map are its `children`. */
function readMap(map, { lines, counter }, prefix = '') {
  return map.items.map(({ key, value: node }) => {
    const comment = commentAbove(lines, counter.linePos(key.range[0]).line);
    const annotations = comment.filter((text) => text.startsWith(ANNOTATION));
    const path = `${prefix}${key.value}`;
    return {
      name: key.value,
      path,
      value: node.toJSON(),
      says: comment
        .filter((text) => !text.startsWith(ANNOTATION))
        .map((text) => text.replace(/^#\s?/, ''))
        .join(' '),
      annotation: Object.assign({}, ...annotations.map((text) => JSON.parse(text.slice(ANNOTATION.length)))),
      isList: isSeq(node),
      children: isMap(node) ? readMap(node, { lines, counter }, `${path}.`) : null,
    };
  });
}

function readValues() {
  const text = textOf('values.yaml');
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter });
  if (document.errors.length > 0) throw document.errors[0];
  return readMap(document.contents, { lines: text.split('\n'), counter });
}

/** Returns the names of the settings that the templates write. Throws if one is not a setting. */
async function writtenSettings({ built }) {
  const known = new Set();
  for (const { module } of Object.values(PROGRAMS)) {
    for (const key of Object.keys((await built(module)).SETTINGS)) known.add(key);
  }
  const written = new Set();
  for (const file of readdirSync(join(ROOT, CHART, 'templates')).filter((name) => /\.(tpl|yaml)$/.test(name))) {
    for (const [name] of textOf(`templates/${file}`).matchAll(/\b(?:APP|BROKER)_[A-Z0-9_]*[A-Z0-9]\b/g)) {
      const key = name.replace(/_FILE$/, '');
      if (!known.has(key)) throw new Error(`${CHART}/templates/${file} writes ${name}, which is no setting`);
      written.add(key);
    }
  }
  return written;
}

/** Returns the settings that `config` of a program may hold: those that no chart value writes and that are not secret. */
async function openSettings(program, { built }) {
  const { prefix, module, fixed } = PROGRAMS[program];
  const { SETTINGS } = await built(module);
  const written = await writtenSettings({ built });
  const open = ([key, { secret }]) => key.startsWith(prefix) && !secret && !written.has(key) && !fixed.includes(key);
  return Object.fromEntries(
    Object.entries(SETTINGS)
      .filter(open)
      .map(([key, { meaning }]) => [key, { type: ['string', 'number', 'boolean'], description: meaning }]),
  );
}

async function schemaOf({ value, says, annotation, isList, children }, parts) {
  const description = says ? { description: says } : {};
  const { settings, ...rest } = annotation;
  if (settings) {
    return {
      ...description,
      type: 'object',
      additionalProperties: false,
      properties: await openSettings(settings, parts),
    };
  }
  if (isList) return { ...description, type: 'array', ...rest };
  if (rest.additionalProperties === true) return { ...description, type: 'object' };
  if (children) return { ...description, ...(await schemaOfAll(children, parts)) };
  const type = { string: 'string', number: 'integer', boolean: 'boolean' }[typeof value];
  return { ...description, type, ...rest };
}

async function schemaOfAll(entries, parts) {
  const properties = {};
  for (const entry of entries) properties[entry.name] = await schemaOf(entry, parts);
  return { type: 'object', additionalProperties: false, properties };
}

/** Makes `values.schema.json`, so that a misspelt key is refused before anything is installed. */
export async function chartSchema(parts) {
  const { properties, ...rest } = await schemaOfAll(readValues(), parts);
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Values of the chart baton',
    ...rest,
    // A parent chart may use `enabled` to switch this chart on or off.
    properties: { ...properties, enabled: { type: 'boolean' } },
  };
  return JSON.stringify(schema, null, 2);
}

const leavesOf = (entries) =>
  entries.flatMap((entry) => {
    const isOpen = entry.annotation.additionalProperties === true;
    if (!entry.children || entry.children.length === 0 || (isOpen && entry.name !== 'global')) return [entry];
    return [...(entry.says ? [{ ...entry, isHead: true }] : []), ...leavesOf(entry.children)];
  });

/** Returns the rows of the table of values. */
export const chartRows = () =>
  leavesOf(readValues()).map(({ path, value, says, isHead }) => [
    `\`${path}\``,
    isHead ? '' : `\`${JSON.stringify(value)}\``,
    says,
  ]);
