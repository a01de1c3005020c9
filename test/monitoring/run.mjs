import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { dashboardQueries } from '../../deploy/check/grafana.mjs';
import { RULES } from '../../deploy/check/monitoring.mjs';
import { ROOT } from '../../deploy/local/setup/tree.mjs';
import { STORIES } from './stories.mjs';

/*
 * `npm run test:monitoring`: lets Prometheus itself check the alerts (their language, and the stories of stories.mjs), the
 * queries of the dashboards, and the configuration in deploy/monitoring. It needs `promtool` of Debian's package prometheus.
 */

const folder = mkdtempSync(join(tmpdir(), 'baton-monitoring-'));
process.on('exit', () => rmSync(folder, { recursive: true }));

function promtool(...args) {
  const done = spawnSync('promtool', args, { cwd: folder, encoding: 'utf8' });
  if (done.error) throw done.error;
  if (done.status !== 0) throw new Error(`promtool ${args.join(' ')}\n${done.stdout}${done.stderr}`);
}

function writeYaml(name, content) {
  writeFileSync(join(folder, name), stringify(content));
  return name;
}

/** The rules lie where Prometheus finds them in its container. */
cpSync(join(ROOT, RULES), join(folder, 'rules'), { recursive: true });
cpSync(join(ROOT, 'deploy/monitoring/prometheus.yml'), join(folder, 'prometheus.yml'));
const ruleFiles = readdirSync(join(folder, 'rules')).map((name) => `rules/${name}`);
const alerts = ruleFiles
  .flatMap((file) => parse(readFileSync(join(folder, file), 'utf8')).groups)
  .flatMap(({ rules }) => rules)
  .map(({ alert }) => alert);

const withJob = (series) => (series.includes('job=') ? series : series.replace('{', '{job="baton",'));

/** Returns a story in the form that promtool reads. */
const testOf = ({ alert, series, at, fires }) => ({
  rule_files: ruleFiles,
  evaluation_interval: '1m',
  tests: [
    {
      interval: '1m',
      input_series: Object.entries(series).map(([name, values]) => ({ series: withJob(name), values })),
      alert_rule_test: [
        {
          eval_time: `${at}m`,
          alertname: alert,
          exp_alerts: fires.map(({ severity, labels, summary, job = 'baton' }) => ({
            exp_labels: { severity, ...(job && { job }), ...labels },
            exp_annotations: { summary, runbook_url: `deploy/runbooks/${alert}.md` },
          })),
        },
      ],
    },
  ],
});

const storiesOf = (alert, fires) =>
  STORIES.filter((story) => story.alert === alert && story.fires.length > 0 === fires);

function* tests() {
  yield { title: 'the rules are rules of Prometheus', body: () => promtool('check', 'rules', ...ruleFiles) };
  yield {
    title: 'the configuration of Prometheus is one, and finds the rules',
    body: () => promtool('check', 'config', 'prometheus.yml'),
  };
  yield {
    title: 'each query of the dashboards is one',
    body() {
      const rules = dashboardQueries().map(({ expr }, i) => ({ record: `dashboard:query${i}`, expr }));
      promtool('check', 'rules', writeYaml('queries.yaml', { groups: [{ name: 'dashboards', rules }] }));
    },
  };
  for (const alert of new Set(alerts)) {
    yield {
      title: `${alert} has a story in which it fires and one in which it does not`,
      body() {
        if (storiesOf(alert, true).length === 0 || storiesOf(alert, false).length === 0) throw new Error('it has not');
      },
    };
  }
  for (const story of STORIES) {
    const says = story.fires.length > 0 ? 'fires' : 'stays quiet';
    yield {
      title: `${story.alert} ${says}: ${story.story}`,
      body: () => promtool('test', 'rules', writeYaml('story.yaml', testOf(story))),
    };
  }
}

if (spawnSync('promtool', ['--version']).error) {
  console.log('skipped: promtool is not installed (Debian: prometheus)\n0 passed, 0 failed, 1 skipped');
  process.exit(process.env.CI ? 1 : 0);
}
const counts = { passed: 0, failed: 0 };
for (const { title, body } of tests()) {
  try {
    body();
    counts.passed += 1;
    console.log(`ok    ${title}`);
  } catch (error) {
    counts.failed += 1;
    console.log(`FAIL  ${title}\n${error.message}`);
  }
}
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exitCode = counts.failed === 0 ? 0 : 1;
