import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { makeCertificate } from '../../../deploy/local/setup/certificate.mjs';
import { freePort } from '../../../deploy/local/setup/redis.mjs';
import { makeApi, pluralOf } from './api.mjs';
import { startMetrics } from './metrics.mjs';
import { startProgram, untilReady } from './processes.mjs';
import { readDefinitions, readStages } from './programs.mjs';

/*
 * A cluster on loopback: etcd, the API server with RBAC and its usual admission, the controllers, the scheduler, and three
 * nodes in three zones. On the nodes kwok marks pods as ready without running anything.
 */

const ZONES = ['north', 'south', 'west'];

const LOOSE = [
  { kind: 'SecurityPolicy', group: 'gateway.envoyproxy.io', version: 'v1alpha1' },
  { kind: 'GCPBackendPolicy', group: 'networking.gke.io', version: 'v1' },
  { kind: 'Middleware', group: 'traefik.io', version: 'v1alpha1' },
];

/** The callers of the API server, by name and group. `deployer` has only the rights that the tests give it. */
const CALLERS = {
  admin: 'system:masters',
  kwok: 'system:masters',
  'system:kube-controller-manager': '',
  'system:kube-scheduler': '',
  deployer: '',
};

const kubeconfigOf = ({ port, certFile, token }) => ({
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [{ name: 'test', cluster: { server: `https://127.0.0.1:${port}`, 'certificate-authority': certFile } }],
  users: [{ name: 'test', user: { token } }],
  contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
  'current-context': 'test',
});

/** Makes a token and a kubeconfig for each caller, and the file of tokens that the API server reads. */
function makeCallers({ folder, port, certFile }) {
  const callers = {};
  const rows = Object.entries(CALLERS).map(([name, group]) => {
    const token = randomBytes(16).toString('hex');
    const kubeconfig = join(folder, `${name.replace(':', '-')}.json`);
    writeFileSync(kubeconfig, JSON.stringify(kubeconfigOf({ port, certFile, token })), { mode: 0o600 });
    callers[name] = { token, kubeconfig };
    return `${token},${name},${name},"${group}"`;
  });
  writeFileSync(join(folder, 'tokens.csv'), `${rows.join('\n')}\n`, { mode: 0o600 });
  return callers;
}

const flags = (values) => Object.entries(values).map(([name, value]) => `--${name}=${value}`);

const statusOf = (url) =>
  new Promise((resolve, reject) => {
    get(url, (answer) => answer.resume().on('end', () => resolve(answer.statusCode))).on('error', reject);
  });

async function startStore({ start, folder }) {
  const [client, peer] = [await freePort(), await freePort()].map((port) => `http://127.0.0.1:${port}`);
  const etcd = start('etcd', [
    ...flags({ name: 'one', 'data-dir': join(folder, 'etcd'), 'log-level': 'warn' }),
    ...flags({ 'listen-client-urls': client, 'advertise-client-urls': client }),
    ...flags({ 'listen-peer-urls': peer, 'initial-advertise-peer-urls': peer, 'initial-cluster': `one=${peer}` }),
    // Its data does not outlive the tests.
    '--unsafe-no-fsync',
  ]);
  await untilReady(etcd, async () => (await statusOf(`${client}/readyz`)) === 200);
  return client;
}

async function startServer({ start, folder, port, store, certificate, admin }) {
  const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const keyFile = join(folder, 'service-accounts.pem');
  writeFileSync(keyFile, key.export({ type: 'pkcs1', format: 'pem' }), { mode: 0o600 });
  const server = start(
    'kube-apiserver',
    flags({
      'etcd-servers': store,
      'bind-address': '127.0.0.1',
      'secure-port': port,
      'tls-cert-file': certificate.certFile,
      'tls-private-key-file': certificate.keyFile,
      'cert-dir': folder,
      'authorization-mode': 'RBAC',
      'token-auth-file': join(folder, 'tokens.csv'),
      'service-account-issuer': 'https://kubernetes.default.svc',
      'service-account-key-file': keyFile,
      'service-account-signing-key-file': keyFile,
      'service-cluster-ip-range': '10.0.0.0/16',
      // Nobody in the cluster has to reach it, so this is an address for documentation, and it is not announced.
      'advertise-address': '192.0.2.1',
      'endpoint-reconciler-type': 'none',
    }),
  );
  const api = makeApi({ port, ca: certificate.cert, token: admin.token });
  await untilReady(server, async () => (await api.call('GET', '/readyz')).status === 200);
  return { api, keyFile };
}

function startControllers({ start, callers, certificate, keyFile }) {
  const kubeconfig = (name) => callers[name].kubeconfig;
  start(
    'kube-controller-manager',
    flags({
      kubeconfig: kubeconfig('system:kube-controller-manager'),
      'service-account-private-key-file': keyFile,
      'root-ca-file': certificate.certFile,
      'use-service-account-credentials': true,
      'leader-elect': false,
      'secure-port': 0,
      // A busy machine makes kwok slow. Its nodes must not count as lost for that.
      'node-monitor-grace-period': '1h',
      // Autoscalers read metrics often, including those of pods that have just started.
      'horizontal-pod-autoscaler-sync-period': '1s',
      'horizontal-pod-autoscaler-cpu-initialization-period': '0s',
      'horizontal-pod-autoscaler-initial-readiness-delay': '0s',
    }),
  );
  const scheduler = kubeconfig('system:kube-scheduler');
  start('kube-scheduler', flags({ kubeconfig: scheduler, 'leader-elect': false, 'secure-port': 0 }));
}

async function addNodes({ start, folder, kubeconfig, api }) {
  writeFileSync(join(folder, 'stages.yaml'), readStages());
  start('kwok', flags({ kubeconfig, config: join(folder, 'stages.yaml'), 'manage-all-nodes': true }));
  for (const zone of ZONES) {
    const name = `node-${zone}`;
    const labels = {
      'kubernetes.io/hostname': name,
      'kubernetes.io/arch': 'amd64',
      'kubernetes.io/os': 'linux',
      'topology.kubernetes.io/zone': zone,
      disk: 'fast',
    };
    await api.create('/api/v1/nodes', { metadata: { name, labels } });
  }
  const isReady = ({ status }) => status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True');
  await api.until('/api/v1/nodes', (nodes) => nodes.length === ZONES.length && nodes.every(isReady));
}

/** Makes a definition without rules, for a kind that no small module defines. */
function definitionOf({ kind, group, version }) {
  const plural = pluralOf(kind);
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  return {
    metadata: { name: `${plural}.${group}` },
    spec: {
      ...{ group, scope: 'Namespaced', names: { kind, plural } },
      versions: [{ name: version, served: true, storage: true, schema }],
    },
  };
}

async function addDefinitions({ api, folder }) {
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const theirs = parseAllDocuments(readDefinitions(folder)).map((document) => document.toJSON());
  const definitions = [
    ...theirs.filter((definition) => definition?.kind === 'CustomResourceDefinition'),
    ...LOOSE.map(definitionOf),
  ];
  for (const definition of definitions) await api.create(path, definition);
  const isServed = ({ status }) =>
    status?.conditions?.some(({ type, status: is }) => type === 'Established' && is === 'True');
  await api.until(path, (all) => all.length === definitions.length && all.every(isServed));
}

/**
 * Starts the parts in the order in which they need each other. `ending` is called with each action that undoes one; the last
 * runs first.
 */
async function startAll({ start, folder, ending }) {
  const certificate = makeCertificate({ folder, hosts: ['127.0.0.1', 'localhost'] });
  const port = await freePort();
  const callers = makeCallers({ folder, port, certFile: certificate.certFile });
  const store = await startStore({ start, folder });
  const { api, keyFile } = await startServer({ start, folder, port, store, certificate, admin: callers.admin });
  ending(api.close);
  startControllers({ start, callers, certificate, keyFile });
  await addNodes({ start, folder, kubeconfig: callers.kwok.kubeconfig, api });
  await addDefinitions({ api, folder });
  const { streams, stop } = await startMetrics({ api, certificate });
  ending(stop);
  const { gitVersion: version } = await api.get('/version');
  return { api, callers, folder, version, streams };
}

/**
 * Makes a cluster of the programs at `paths`. `start` returns `{api, callers, folder, version, streams}`. `stop` may be called
 * at any time, and leaves neither a process nor a file.
 */
export function makeCluster({ paths }) {
  const folder = mkdtempSync(join(tmpdir(), 'baton-cluster-'));
  const endings = [() => rm(folder, { recursive: true, force: true })];
  const ending = (end) => endings.push(end);
  const start = (name, args) => {
    const program = startProgram({ name, path: paths[name], args, folder });
    ending(program.stop);
    return program;
  };
  let stopping = null;
  const stopAll = async () => {
    // The store ends last, because the others would complain otherwise.
    for (let end = endings.pop(); end; end = endings.pop()) await end();
  };
  return { start: () => startAll({ start, folder, ending }), stop: () => (stopping ??= stopAll()) };
}
