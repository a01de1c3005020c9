import { join } from 'node:path';
import { CHART, run, SCENARIOS, valueFlags } from '../rendering.mjs';

/*
 * Makes a namespace that admits only restricted pods, with the objects that a release refers to. Helm has no more rights in it
 * than the administrator of a namespace.
 */

/** The Secrets that the scenario `production` refers to. */
const SECRETS = {
  baton: ['broker-token'],
  'baton-broker': ['broker-tokens', 'broker-secret', 'oidc-client-secret'],
  'baton-redis': [
    'redis-password',
    'broker-redis-password',
    'sentinel-password',
    'relay-redis-url',
    'relay-redis-password',
  ],
  'baton-push': ['vapid-private-key', 'fcm-service-account', 'apns-key'],
  'baton-turn': ['turn-secret'],
};

/** Kinds of other controllers. The administrator of a cluster decides who may write objects of them. */
const OTHERS = [
  'gateway.networking.k8s.io',
  'monitoring.coreos.com',
  'gateway.envoyproxy.io',
  'networking.gke.io',
  'traefik.io',
];

const PRIORITY = '/apis/scheduling.k8s.io/v1/priorityclasses';

const roleBinding = (name, kind) => ({
  metadata: { name },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name },
  subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'deployer' }],
});

async function makeNamespace(api, name) {
  const labels = Object.fromEntries(
    ['enforce', 'warn'].map((mode) => [`pod-security.kubernetes.io/${mode}`, 'restricted']),
  );
  await api.create('/api/v1/namespaces', { metadata: { name, labels } });
  const rights = `/apis/rbac.authorization.k8s.io/v1/namespaces/${name}`;
  await api.create(`${rights}/roles`, {
    metadata: { name: 'others' },
    rules: [{ apiGroups: OTHERS, resources: ['*'], verbs: ['*'] }],
  });
  await api.create(`${rights}/rolebindings`, roleBinding('others', 'Role'));
  await api.create(`${rights}/rolebindings`, roleBinding('admin', 'ClusterRole'));
  // A new namespace gets these by itself.
  for (const kind of ['serviceaccounts', 'configmaps']) {
    await api.until(`/api/v1/namespaces/${name}/${kind}`, (all) => all.length === 1);
  }
}

/** Makes what belongs to no namespace, once for all releases. */
export const prepareCluster = (api) => api.create(PRIORITY, { metadata: { name: 'user-facing' }, value: 1_000 });

/**
 * A release `baton` that is not installed yet, in a new namespace. `helm` runs a command of Helm, `apply` one that takes chart
 * and values (`install`, `upgrade`). Both return `{code, out, err}`.
 */
export async function prepareRelease({ cluster: { api, callers, folder }, helm: path, namespace, scenario, set }) {
  await makeNamespace(api, namespace);
  const core = `/api/v1/namespaces/${namespace}`;
  for (const [name, keys] of Object.entries(SECRETS)) {
    const stringData = Object.fromEntries(keys.map((key) => [key, 'not-a-secret']));
    await api.create(`${core}/secrets`, { metadata: { name }, stringData });
  }
  await api.create(`${core}/configmaps`, { metadata: { name: 'company-ca' }, data: { 'ca.crt': 'none' } });
  // The scenario `openshift` refers to this account and does not make it.
  await api.create(`${core}/serviceaccounts`, { metadata: { name: 'existing' } });
  const env = Object.fromEntries(
    ['CACHE', 'CONFIG', 'DATA'].map((kind) => [`HELM_${kind}_HOME`, join(folder, `helm-${namespace}`, kind)]),
  );
  const where = [`--kubeconfig=${callers.deployer.kubeconfig}`, `--namespace=${namespace}`];
  const helm = (...args) => run(path, [...args, ...where], { env });
  const apply = (command, { chart = CHART, set: more = {}, flags = [] } = {}) =>
    helm(command, 'baton', chart, ...valueFlags({ values: [SCENARIOS[scenario]], set: { ...set, ...more } }), ...flags);
  return { api, namespace, core, apps: `/apis/apps/v1/namespaces/${namespace}`, helm, apply };
}

/**
 * Waits until a Deployment has replaced all its pods and all take traffic; with `replicas`, there must be that many. Returns
 * the Deployment.
 */
export const rolledOut = ({ api, apps }, name, replicas) =>
  api.until(
    `${apps}/deployments?fieldSelector=metadata.name=${name}`,
    ([found]) => {
      const { metadata, spec, status } = found ?? {};
      const counts = ['replicas', 'updatedReplicas', 'availableReplicas'].map((count) => status?.[count] ?? 0);
      return found &&
        status.observedGeneration === metadata.generation &&
        counts.every((is) => is === (replicas ?? spec.replicas))
        ? found
        : null;
    },
    `${name} is rolled out`,
  );
