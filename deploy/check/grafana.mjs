import { DASHBOARDS } from '../monitoring/dashboards.mjs';

/*
 * Makes Grafana's files from deploy/monitoring/dashboards.mjs.
 */

/** Labels of the installation and of the replicas, which the user chooses above the panels. */
const CHOICE = ['namespace', 'job', 'instance'];
const SELECTOR = CHOICE.map((label) => `${label}=~"$${label}"`).join(', ');
/** The names of metrics. `ALERTS` is Prometheus' own and has the labels of the firing alert. */
const METRIC = /\b(?:(?:baton|process|nodejs)_\w+|ALERTS)\b(?:\{([^}]*)\})?/g;

const chosen = (expr) =>
  expr
    .replaceAll(METRIC, (whole, labels) => {
      const name = whole.split('{')[0];
      return `${name}{${[labels, SELECTOR].filter(Boolean).join(', ')}}`;
    })
    .replaceAll('$rate', '$__rate_interval');

const [WIDTH, HEIGHT, COLUMNS] = [8, 8, 3];
const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };

const panelOf = ({ title, unit, queries }, i) => ({
  id: i + 1,
  type: 'timeseries',
  title,
  datasource: DATASOURCE,
  gridPos: { x: (i % COLUMNS) * WIDTH, y: Math.floor(i / COLUMNS) * HEIGHT, w: WIDTH, h: HEIGHT },
  fieldConfig: { defaults: { unit, min: 0, custom: { fillOpacity: 8, showPoints: 'never' } }, overrides: [] },
  options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi', sort: 'desc' } },
  targets: Object.entries(queries).map(([legendFormat, expr], n) => ({
    refId: String.fromCharCode(65 + n),
    datasource: DATASOURCE,
    expr: chosen(expr),
    legendFormat,
  })),
});

const choiceOf = (label) => ({
  name: label,
  type: 'query',
  datasource: DATASOURCE,
  query: { query: `label_values(baton_build_info, ${label})`, refId: label },
  refresh: 2,
  sort: 1,
  multi: true,
  includeAll: true,
  // The pattern also matches if the label is missing.
  allValue: '.*',
  current: { text: 'All', value: '$__all' },
});

/** Returns the file of one dashboard. */
export function dashboardFile(name) {
  const { title, panels } = DASHBOARDS[name];
  const board = {
    uid: `baton-${name}`,
    title,
    tags: ['baton'],
    schemaVersion: 41,
    editable: false,
    refresh: '30s',
    time: { from: 'now-3h', to: 'now' },
    links: [
      { type: 'dashboards', tags: ['baton'], title: 'Baton', asDropdown: true, includeVars: true, keepTime: true },
    ],
    templating: { list: [{ name: 'datasource', type: 'datasource', query: 'prometheus' }, ...CHOICE.map(choiceOf)] },
    panels: panels.map(panelOf),
  };
  return JSON.stringify(board, null, 2);
}

/** Returns every query as Prometheus would get it, with all choices filled in. */
export const dashboardQueries = () =>
  Object.entries(DASHBOARDS).flatMap(([name, { panels }]) =>
    panels.flatMap(({ title, queries }) =>
      Object.values(queries).map((expr) => ({
        at: `deploy/monitoring/dashboards.mjs: ${name}: ${title}`,
        expr: chosen(expr).replaceAll('$__rate_interval', '5m').replaceAll(/\$\w+/g, '.*'),
      })),
    ),
  );
