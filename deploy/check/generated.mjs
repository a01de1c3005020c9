import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DASHBOARDS } from '../monitoring/dashboards.mjs';
import { ROOT } from '../local/setup/tree.mjs';
import { dashboardFile } from './grafana.mjs';
import { guaranteeRows, proofRows } from './guarantees.mjs';
import { alertsWithMeaning } from './monitoring.mjs';

const cell = (text) => String(text).replaceAll('|', '\\|').replaceAll('\n', ' ');
const code = (text) => (text === '' || text === null ? '' : `\`${text}\``);

function table(heads, rows) {
  const line = (cells) => `| ${cells.map(cell).join(' | ')} |`;
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n');
}

async function configTable({ built }) {
  const { configTable: rows } = await built('services/sync/config/settings.js');
  return table(
    ['key', 'default', 'meaning'],
    rows().map(({ key, default: value, meaning }) => [code(key), value, meaning]),
  );
}

async function routeTable({ built }) {
  const { ROUTES } = await built('shared/contract/routes.js');
  return table(
    ['route', 'what', 'identity', 'device', 'scope', 'rate group'],
    Object.values(ROUTES).map((route) => [
      code(`${route.method} ${route.path}`),
      route.summary,
      route.identity,
      route.identity === 'public' ? '' : route.device,
      route.identity === 'public' ? '' : route.scope,
      route.rate ?? '',
    ]),
  );
}

async function eventTable({ built }) {
  const { EVENTS } = await built('shared/contract/events.js');
  const ids = { always: 'yes', sometimes: 'at times', never: 'no' };
  return table(
    ['event', 'what', 'id'],
    Object.entries(EVENTS).map(([name, { summary, id }]) => [code(name), summary, ids[id]]),
  );
}

async function errorTable({ built }) {
  const { ERRORS } = await built('shared/contract/errors.js');
  return table(
    ['code', 'status', 'what', 'retry'],
    Object.entries(ERRORS).map(([name, { status, title, retry, laterStatus }]) => [
      code(name),
      laterStatus ? `${status}, ${laterStatus} where it may be had later` : status,
      title,
      retry,
    ]),
  );
}

async function keyTable({ built }) {
  const { KEYS } = await built('services/sync/redis/keys.js');
  const rows = Object.values(KEYS).map(({ pattern, type, lifetime, owner, what }) => [
    code(`<prefix>:${pattern}`),
    type,
    lifetime,
    owner,
    what,
  ]);
  return [
    '# Keys',
    '`{u}` is the account: the percent-encoded user id, as hash tag, so that all of an account lies in one slot.',
    'Generated from `keys.ts`.',
    table(['key', 'type', 'lifetime', 'module', 'what'], rows),
  ].join('\n\n');
}

async function metricTable({ built }) {
  const { metricsTable } = await built('services/sync/telemetry/metrics.js');
  const { metricsTable: ofBroker } = await built('services/broker/telemetry/metrics.js');
  const rowOf = ({ name, kind, labels, help }) => [code(name), kind, labels.join(', '), help];
  const heads = ['metric', 'kind', 'labels', 'what'];
  return [
    '# Metrics',
    'Served as `GET /metrics` on the admin port, beside the metrics of Node itself. No label holds an id.',
    'Generated from the `metrics.ts` of each module.',
    table(heads, metricsTable().map(rowOf)),
    '## The reference broker',
    'Served as `GET /metrics` on `BROKER_ADMIN_PORT`.',
    table(heads, ofBroker().map(rowOf)),
  ].join('\n\n');
}

/** Returns every command that a script of the service calls, by its source. */
function commandsOfScripts(service) {
  const folder = join(ROOT, 'services', service);
  const scripts = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.lua'));
  const calls = scripts.flatMap((name) => [
    ...readFileSync(join(folder, name), 'utf8').matchAll(/redis\.call\(\s*'([A-Za-z]+)'/g),
  ]);
  return calls.map(([, command]) => command.toLowerCase());
}

/** Returns one user of the ACL: the keys and channels of its prefix, and the commands of its scripts and its clients. */
async function aclUser({ built }, { name, service, prefix, channels }) {
  const { CLIENT_COMMANDS } = await built(`services/${service}/redis/client-commands.js`);
  const commands = [...new Set([...commandsOfScripts(service), ...CLIENT_COMMANDS])].sort();
  const rules = [`~${prefix}:*`, 'resetchannels', ...(channels ? [`&${prefix}:*`] : []), '-@all'];
  return `user ${name} on #${'0'.repeat(64)} resetkeys ${[...rules, ...commands.map((each) => `+${each}`)].join(' ')}`;
}

async function aclFile(parts) {
  const { SETTINGS: ofReplica } = await parts.built('services/sync/config/settings.js');
  const { SETTINGS: ofBroker } = await parts.built('services/broker/config/settings.js');
  const [baton, broker] = [ofReplica.APP_KEY_PREFIX.default, ofBroker.BROKER_KEY_PREFIX.default];
  return [
    `# The least that a replica needs, for the key prefix \`${baton}\`. Set a password of your own in place of the digest.`,
    '# Leave the user `default` on with all permissions, and give it a password: as this user Redis reads its append-only file',
    '# again, and silently drops each transaction that it may not repeat (seen with 7.0.15; redis/redis 14541, valkey 3983).',
    await aclUser(parts, { name: 'baton', service: 'sync', prefix: baton, channels: true }),
    `# The least that the broker needs, for the key prefix \`${broker}\`. Neither reads what the other holds.`,
    await aclUser(parts, { name: 'broker', service: 'broker', prefix: broker, channels: false }),
  ].join('\n');
}

/** Needs a package, which may not be installed yet when this file is read. */
const chart = () => import('./chart-values.mjs');

async function alertTable() {
  const rows = (await alertsWithMeaning()).map(({ alert, severities, means }) => [
    `[${alert}](${alert}.md)`,
    severities.join(', '),
    means,
  ]);
  return table(['alert', 'severity', 'means'], rows);
}

async function chartTable() {
  return table(['value', 'default', 'what'], (await chart()).chartRows());
}

/**
 * Texts that are made from code, so that no document can contradict it. Each is a whole file, or, with `section`, the
 * part of a Markdown file between `<!-- generated:<section> -->` and `<!-- /generated:<section> -->`. `make({built})`
 * returns the text without the markers, or a promise of it. `built('services/sync/config/config.js')` imports a module
 * of the build.
 */
export const GENERATED = [
  { file: 'deploy/CONFIGURATION.md', section: 'config', make: configTable },
  { file: 'shared/contract/README.md', section: 'routes', make: routeTable },
  { file: 'shared/contract/README.md', section: 'events', make: eventTable },
  { file: 'shared/contract/README.md', section: 'errors', make: errorTable },
  { file: 'services/sync/redis/KEYS.md', make: keyTable },
  { file: 'deploy/monitoring/METRICS.md', make: metricTable },
  { file: 'deploy/redis/users.acl', make: aclFile },
  { file: 'helm/baton/values.schema.json', make: async (parts) => (await chart()).chartSchema(parts) },
  { file: 'helm/baton/README.md', section: 'values', make: chartTable },
  { file: 'deploy/runbooks/README.md', section: 'alerts', make: alertTable },
  {
    file: 'test/README.md',
    section: 'proofs',
    make: () => table(['guarantee', 'model', 'checker of histories', 'why tests alone'], proofRows()),
  },
  {
    file: 'test/README.md',
    section: 'guarantees',
    make: () => table(['guarantee', 'test'], guaranteeRows()),
  },
  ...Object.keys(DASHBOARDS).map((name) => ({
    file: `helm/baton/files/dashboards/${name}.json`,
    make: () => dashboardFile(name),
  })),
];
