import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { ROOT } from '../../deploy/local/setup/tree.mjs';

export const CHART = join(ROOT, 'helm/baton');

/** The files of ci/, by the name of what they show. */
export const SCENARIOS = Object.fromEntries(
  readdirSync(join(CHART, 'ci')).map((name) => [name.replace(/-values\.yaml$/, ''), join(CHART, 'ci', name)]),
);

/** Runs a program to its end. `env` is added to this process's environment. */
export function run(command, args, { input = '', env = {} } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, ...env } });
    let [out, err] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text) => (out += text));
    child.stderr.setEncoding('utf8').on('data', (text) => (err += text));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, out, err }));
    child.stdin.on('error', () => undefined).end(input);
  });
}

/** Runs `body` with a copy of the chart that it may change. */
export async function withCopy(body) {
  const folder = mkdtempSync(join(tmpdir(), 'baton-chart-'));
  try {
    cpSync(CHART, join(folder, 'baton'), { recursive: true });
    return await body(join(folder, 'baton'), folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Returns the flags of Helm that set values: files, and single values by their path. */
export const valueFlags = ({ values = [], set = {} }) => [
  ...values.map((file) => `--values=${file}`),
  ...Object.entries(set).map(([path, value]) => `--set-json=${path}=${JSON.stringify(value)}`),
];

/** Runs `helm template` of this chart, unless another is named. */
export function template(helm, { values = [], set = {}, kubernetes = '1.37.2', chart = CHART } = {}) {
  return run(helm, [
    'template',
    'baton',
    chart,
    '--namespace=links',
    `--kube-version=${kubernetes}`,
    ...valueFlags({ values, set }),
  ]);
}

/** Returns the manifests that `template` printed. Throws with its complaint if it failed. */
export function manifestsOf({ code, out, err }) {
  if (code !== 0) throw new Error(err.trim());
  return parseAllDocuments(out)
    .map((document) => document.toJSON())
    .filter((manifest) => manifest !== null);
}

/** Returns the only container of the Deployment whose container has this name. */
export function containerOf(manifests, name) {
  for (const { kind, spec } of manifests) {
    const pod = kind === 'Deployment' ? spec.template.spec : null;
    if (pod?.containers[0].name === name) return { pod, container: pod.containers[0] };
  }
  return null;
}
