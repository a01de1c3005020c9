import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../local/setup/tree.mjs';
import { DASHBOARDS } from '../monitoring/dashboards.mjs';
import { dashboardQueries } from './grafana.mjs';
import { namesIn } from './promql.mjs';

/*
 * Checks that alerts, dashboards, runbooks and metrics fit together: each registered metric is used, each queried metric
 * exists, each alert has a page that says what to do, and each panel that such a page names exists.
 */

/** The alerts. The chart can read only files inside it, so docker-compose.yml takes the alerts from there. */
export const RULES = 'helm/baton/files/rules';
const RUNBOOKS = 'deploy/runbooks';
const METRICS = 'services/sync/telemetry/metrics.ts';
const BROKER_METRICS = 'services/broker/telemetry/metrics.ts';

/** Labels that Prometheus adds to everything that it scrapes, and its own series. */
const ADDED = ['namespace', 'job', 'instance', 'pod'];
const OF_PROMETHEUS = { up: [], ALERTS: ['alertname', 'alertstate', 'severity'] };

const SEVERITIES = ['critical', 'warning'];

const namesOf = (folder) => readdirSync(join(ROOT, folder)).filter((name) => !name.startsWith('.'));

/** Returns each alert as `{at, alert, expr, labels, annotations}`. */
async function readAlerts() {
  // A package that may not be installed yet when this file is read.
  const { parse } = await import('yaml');
  return namesOf(RULES).flatMap((name) => {
    const file = `${RULES}/${name}`;
    const { groups } = parse(readFileSync(join(ROOT, file), 'utf8'));
    return groups.flatMap(({ rules }) => rules.map((rule) => ({ ...rule, at: `${file}: ${rule.alert}` })));
  });
}

/** Returns the first sentence of a runbook. */
function meaningOf(alert) {
  const text = readFileSync(join(ROOT, RUNBOOKS, `${alert}.md`), 'utf8');
  const [, first = ''] = /^# .*\n\n([^]*?)\n\n/.exec(text) ?? [];
  return first.replaceAll('\n', ' ').split(/(?<=[.:]) (?=[A-Z])/)[0];
}

/** Returns each alert once, with the severities of its rules. */
export async function alertsWithMeaning() {
  const alerts = await readAlerts();
  return [...new Set(alerts.map(({ alert }) => alert))].map((alert) => ({
    alert,
    severities: alerts.filter((rule) => rule.alert === alert).map(({ labels }) => labels.severity),
    means: meaningOf(alert),
  }));
}

/** Returns the labels of each series of a replica or a broker, by its name. */
async function seriesOf(built) {
  const [ofReplica, ofBroker] = await Promise.all(
    [METRICS, BROKER_METRICS].map((path) => built(path.replace(/\.ts$/, '.js'))),
  );
  const series = new Map(Object.entries(OF_PROMETHEUS));
  const metrics = [ofReplica.makeMetrics({ version: '' }), ofBroker.makeMetrics({ version: '' })];
  for (const { name, labelNames, constructor } of metrics.flatMap(({ registry }) => registry.getMetricsAsArray())) {
    if (constructor.name !== 'Histogram') series.set(name, labelNames);
    else
      for (const part of ['bucket', 'sum', 'count'])
        series.set(`${name}_${part}`, [...labelNames, ...(part === 'bucket' ? ['le'] : [])]);
  }
  return series;
}

function* flawsOfQuery({ at, expr }, series) {
  const { metrics, labels } = namesIn(expr);
  const known = new Set(ADDED);
  for (const { name, labels: asked } of metrics) {
    const own = series.get(name);
    if (own === undefined) yield `${at}: there is no ${name}`;
    for (const label of own ?? []) known.add(label);
    for (const label of asked) {
      if (own !== undefined && ![...own, ...ADDED].includes(label)) yield `${at}: ${name} has no label ${label}`;
    }
  }
  const areKnown = metrics.every(({ name }) => series.has(name));
  for (const label of labels) if (areKnown && !known.has(label)) yield `${at}: nothing here has a label ${label}`;
}

function* flawsOfAlert({ at, alert, labels, annotations }, runbooks) {
  if (!SEVERITIES.includes(labels?.severity)) yield `${at}: its severity is none of ${SEVERITIES.join(', ')}`;
  if (!annotations?.summary) yield `${at}: no summary`;
  if (annotations?.runbook_url !== `${RUNBOOKS}/${alert}.md`)
    yield `${at}: its runbook_url is not ${RUNBOOKS}/${alert}.md`;
  else if (!runbooks.includes(`${alert}.md`)) yield `${at}: ${RUNBOOKS}/${alert}.md does not exist`;
}

/** The titles of the panels of each dashboard, by the title of the dashboard without `Baton: `. */
const PANELS = new Map(
  Object.values(DASHBOARDS).map(({ title, panels }) => [
    title.replace(/^Baton: /, ''),
    panels.map((panel) => panel.title),
  ]),
);
const CODE = /```[^]*?```|`[^`]*`/g;
const BOARD_OR_PANEL = /\*([^*]+)\*|"([^"]+)"/g;

/** Finds titles that do not exist. A runbook names dashboards as `*relay*`, and each panel in quotes after its dashboard. */
function* flawsOfTitles(file, text) {
  let panels = [];
  for (const [, board, panel] of text.replaceAll(CODE, '').replaceAll(/\s+/g, ' ').matchAll(BOARD_OR_PANEL)) {
    if (board === undefined) {
      if (!panels.includes(panel)) yield `${file}: the dashboard named before "${panel}" has no such panel`;
    } else if (PANELS.has(board)) panels = PANELS.get(board);
    else yield `${file}: there is no dashboard *${board}*`;
  }
}

/** The chapters that every runbook has. */
const CHAPTERS = ['## What users notice', '## How to confirm it', '## What to do'];

function* flawsOfRunbook(name, alerts) {
  const [file, alert] = [`${RUNBOOKS}/${name}`, name.replace(/\.md$/, '')];
  if (!alerts.some((other) => other.alert === alert)) yield `${file}: there is no such alert`;
  const text = readFileSync(join(ROOT, file), 'utf8');
  for (const chapter of CHAPTERS) if (!text.includes(`\n${chapter}\n`)) yield `${file}: no chapter "${chapter}"`;
  yield* flawsOfTitles(file, text);
}

/** Returns sentences that say what does not fit. `built(path)` imports a module of the build. */
export async function findMonitoringFlaws(built) {
  const [alerts, series] = [await readAlerts(), await seriesOf(built)];
  const queries = [...alerts, ...dashboardQueries()];
  const runbooks = namesOf(RUNBOOKS).filter((name) => name !== 'README.md');
  const asked = new Set(queries.flatMap(({ expr }) => namesIn(expr).metrics.map(({ name }) => name)));
  const { metricsTable } = await built(METRICS.replace(/\.ts$/, '.js'));
  const { metricsTable: ofBroker } = await built(BROKER_METRICS.replace(/\.ts$/, '.js'));
  const isAsked = (name) => ['', '_bucket', '_sum', '_count'].some((part) => asked.has(name + part));
  return [
    ...queries.flatMap((query) => [...flawsOfQuery(query, series)]),
    ...alerts.flatMap((alert) => [...flawsOfAlert(alert, runbooks)]),
    ...runbooks.flatMap((name) => [...flawsOfRunbook(name, alerts)]),
    ...metricsTable()
      .filter(({ name }) => !isAsked(name))
      .map(({ name }) => `${METRICS}: ${name} is in no dashboard and no alert`),
    ...ofBroker()
      .filter(({ name }) => !isAsked(name))
      .map(({ name }) => `${BROKER_METRICS}: ${name} is in no dashboard and no alert`),
  ];
}
