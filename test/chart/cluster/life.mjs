import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { withCopy } from '../rendering.mjs';
import { pathOf } from './api.mjs';
import { listEverything } from './everything.mjs';
import { fewestDuring } from './observed.mjs';
import { evictions } from './evictions.mjs';
import { prepareRelease, rolledOut } from './release.mjs';

/*
 * The life of a release in the hands of an SRE, step by step. Each step finds the release as the previous one left it.
 */

/** Settings in addition to `production`. Replicas follow each other in a second, so that a rollout needs several. */
const SET = { 'drain.streamsSeconds': 1 };
const QUIET = { 'config.APP_LOG_LEVEL': 'error' };

/** Checks that the command succeeded and that the API server had no remarks. */
function isFine({ code, out, err }) {
  assert.equal(code, 0, `${err}${out}`);
  assert.doesNotMatch(err, /warn/i);
}

const componentOf = ({ metadata }) => metadata.labels['app.kubernetes.io/component'];

async function podsOf({ api, core }, component) {
  const { items } = await api.get(`${core}/pods?labelSelector=app.kubernetes.io/component=${component}`);
  return items.filter(({ metadata }) => !metadata.deletionTimestamp);
}

/** Returns the only version of the pod template from which replicas are made. */
async function hashOf(release) {
  const deployment = await rolledOut(release, 'baton');
  const hashes = new Set(
    (await podsOf(release, 'replica')).map(({ metadata }) => metadata.labels['pod-template-hash']),
  );
  assert.equal(hashes.size, 1);
  return { hash: [...hashes][0], generation: deployment.metadata.generation, replicas: deployment.spec.replicas };
}

async function revisionsOf({ helm }) {
  const { out } = await helm('history', 'baton', '--output=json');
  return JSON.parse(out).map(({ revision, status }) => `${revision} ${status}`);
}

/** Checks that the live object says everything that was written. It may say more. */
function says(live, written, at) {
  if (written === null || (typeof written === 'object' && Object.keys(written).length === 0)) return;
  if (typeof written !== 'object') return assert.equal(live, written, at);
  assert.equal(Array.isArray(live), Array.isArray(written), at);
  if (Array.isArray(written)) assert.equal(live.length, written.length, at);
  for (const [key, value] of Object.entries(written)) says(live?.[key], value, `${at}.${key}`);
}

function* installed(release) {
  const { api, core, namespace, apply } = release;
  yield {
    title: 'installs with the rights of an administrator of the namespace, without a warning, and waits for its pods',
    body: async () => {
      release.before = await listEverything(api, namespace);
      isFine(await apply('install', { flags: ['--wait', '--timeout=3m'] }));
      await rolledOut(release, 'baton', 3);
      release.first = await hashOf(release);
    },
  };
  yield {
    title: 'has written what the chart says, each field',
    body: async () => {
      const { out } = await release.helm('get', 'manifest', 'baton');
      const manifests = parseAllDocuments(out).map((document) => document.toJSON());
      for (const manifest of manifests.filter((one) => one !== null)) {
        const name = manifest.metadata.name;
        says(await api.get(`${pathOf(manifest, namespace)}/${name}`), manifest, `${manifest.kind} ${name}`);
      }
    },
  };
  yield {
    title: 'has a replica in each zone and a broker on two hosts, without a token of the API',
    body: async () => {
      const replicas = await podsOf(release, 'replica');
      const brokers = await podsOf(release, 'broker');
      const nodes = (pods) => new Set(pods.map(({ spec }) => spec.nodeName)).size;
      assert.deepEqual([nodes(replicas), nodes(brokers)], [3, 2]);
      for (const { spec } of [...replicas, ...brokers]) {
        assert.deepEqual([spec.serviceAccountName, spec.priority], ['baton', 1_000]);
        assert.ok(!spec.volumes.some(({ name }) => name.startsWith('kube-api-access')));
      }
    },
  };
  yield {
    title: 'refers to no Secret, key or ConfigMap that there is not',
    body: async () => {
      const known = new Set();
      for (const kind of ['secrets', 'configmaps']) {
        for (const { metadata, data } of (await api.get(`${core}/${kind}`)).items) {
          for (const key of Object.keys(data ?? {})) known.add(`${kind} ${metadata.name} ${key}`);
        }
      }
      const pods = [...(await podsOf(release, 'replica')), ...(await podsOf(release, 'broker'))];
      const referred = pods.flatMap(referencesOf);
      assert.ok(referred.length > pods.length);
      assert.deepEqual([...new Set(referred.filter((one) => !known.has(one)))], []);
    },
  };
  yield {
    title: 'has its pods behind its Services',
    body: async () => {
      for (const [service, port, count] of [
        ['baton', 8_080, 3],
        ['baton-admin', 9_090, 3],
        ['baton-broker', 8_090, 2],
      ]) {
        const path = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`;
        await api.until(`${path}?labelSelector=kubernetes.io/service-name=${service}`, ([slice]) => {
          const ready = slice?.endpoints?.filter(({ conditions }) => conditions.ready) ?? [];
          return ready.length === count && slice.ports[0].port === port;
        });
      }
    },
  };
}

/** Returns each Secret and ConfigMap that a kubelet would look up for a pod, with the key. */
function referencesOf({ spec }) {
  const variables = spec.containers.flatMap(({ env }) => env.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef ?? []));
  const volumes = spec.volumes.flatMap(({ projected, configMap, secret }) => [
    ...(projected?.sources ?? []).map((source) => ['secrets', source.secret.name, source.secret.items]),
    ...(configMap ? [['configmaps', configMap.name, configMap.items]] : []),
    ...(secret ? [['secrets', secret.secretName, secret.items]] : []),
  ]);
  return [
    ...variables.map(({ name, key }) => `secrets ${name} ${key}`),
    ...volumes.flatMap(([kind, name, items]) => items.map(({ key }) => `${kind} ${name} ${key}`)),
  ];
}

function* scaled(release) {
  const { api, namespace } = release;
  yield {
    title: 'is scaled by its streams',
    body: async () => {
      // The target is 70 of a hundred of 5,000 streams for each of six replicas.
      release.streams.set(namespace, 6 * 3_500);
      const path = `/apis/autoscaling/v2/namespaces/${namespace}/horizontalpodautoscalers`;
      await api.until(path, ([{ status }]) => {
        const metrics = status.currentMetrics?.map(({ type }) => type) ?? [];
        return status.desiredReplicas === 6 && metrics.includes('Pods') && metrics.includes('Resource');
      });
      assert.equal((await rolledOut(release, 'baton')).spec.replicas, 6);
    },
  };
}

function* upgraded(release) {
  const { apply, helm } = release;
  yield {
    title: 'an upgrade that changes a setting replaces every replica, keeps their number, and takes none away first',
    body: async () => {
      const fewest = await fewestDuring(release, async () => {
        isFine(await apply('upgrade', { set: QUIET, flags: ['--wait', '--timeout=3m'] }));
        release.second = await hashOf(release);
      });
      assert.notEqual(release.second.hash, release.first.hash);
      assert.deepEqual([release.second.replicas, fewest], [6, 6]);
    },
  };
  yield {
    title: 'an upgrade that changes nothing, and a new version of the chart alone, restart no pod',
    body: async () => {
      isFine(await apply('upgrade', { set: QUIET }));
      await withCopy(async (chart) => {
        const about = readFileSync(join(chart, 'Chart.yaml'), 'utf8');
        writeFileSync(join(chart, 'Chart.yaml'), about.replace(/^version: .*$/m, 'version: 0.1.999'));
        isFine(await apply('upgrade', { chart, set: QUIET }));
      });
      assert.deepEqual(await hashOf(release), release.second);
    },
  };
  yield {
    title: 'an upgrade that the server only tries changes nothing',
    body: async () => {
      const before = await revisionsOf(release);
      isFine(await apply('upgrade', { set: { 'config.APP_LOG_LEVEL': 'debug' }, flags: ['--dry-run=server'] }));
      assert.deepEqual([await hashOf(release), await revisionsOf(release)], [release.second, before]);
    },
  };
  yield {
    title: 'an upgrade that contradicts itself is refused by its sentence, and the release stays as it is',
    body: async () => {
      const before = await revisionsOf(release);
      const { code, err } = await apply('upgrade', { set: { 'redis.masterName': '' } });
      assert.notEqual(code, 0);
      assert.match(err, /redis\.masterName is empty/);
      assert.deepEqual([await hashOf(release), await revisionsOf(release)], [release.second, before]);
    },
  };
  yield {
    title: 'an upgrade whose pods find no node fails, and takes no replica away',
    body: async () => {
      const set = { ...QUIET, nodeSelector: { disk: 'none' } };
      const fewest = await fewestDuring(release, async () => {
        const { code } = await apply('upgrade', { set, flags: ['--wait', '--timeout=5s'] });
        assert.notEqual(code, 0);
      });
      assert.equal(fewest, 6);
      assert.match((await revisionsOf(release)).at(-1), /failed$/);
    },
  };
  yield {
    title: 'a rollback brings back the first template, and keeps the number of replicas',
    body: async () => {
      const fewest = await fewestDuring(release, async () => {
        isFine(await helm('rollback', 'baton', '1', '--wait', '--timeout=3m'));
        const { hash, replicas } = await hashOf(release);
        assert.deepEqual([hash, replicas], [release.first.hash, 6]);
      });
      assert.equal(fewest, 6);
    },
  };
  yield {
    title: 'a restart for a changed Secret replaces every pod, and the next upgrade does not undo it',
    body: async () => {
      const annotations = { 'kubectl.kubernetes.io/restartedAt': '2026-01-01T00:00:00Z' };
      for (const name of ['baton', 'baton-broker']) {
        await release.api.patch(`${release.apps}/deployments/${name}`, {
          spec: { template: { metadata: { annotations } } },
        });
      }
      const restarted = await hashOf(release);
      assert.notEqual(restarted.hash, release.first.hash);
      isFine(await apply('upgrade'));
      assert.deepEqual(await hashOf(release), restarted);
    },
  };
}

function* ended(release) {
  const { api, core, namespace, helm } = release;
  yield {
    title: 'the pod of helm test is admitted, and gone when it has ended',
    body: async () => {
      const seen = api.until(`${core}/pods`, (pods) =>
        pods.find((pod) => componentOf(pod) === 'test' && pod.status.phase === 'Succeeded'),
      );
      const [ran, pod] = await Promise.all([helm('test', 'baton', '--timeout=1m'), seen]);
      isFine(ran);
      assert.equal(pod.metadata.name, 'baton-test');
      await api.until(`${core}/pods`, (pods) => !pods.some((one) => componentOf(one) === 'test'));
    },
  };
  yield {
    title: 'an uninstallation leaves what was there before, and nothing else',
    body: async () => {
      isFine(await helm('uninstall', 'baton', '--wait', '--timeout=2m'));
      for (const path of [
        `${core}/pods`,
        `${core}/endpoints`,
        pathOf({ apiVersion: 'apps/v1', kind: 'ReplicaSet' }, namespace),
      ]) {
        await api.until(path, (all) => all.length === 0);
      }
      await api.until(`/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`, (all) => all.length === 0);
      assert.deepEqual(await listEverything(api, namespace), release.before);
    },
  };
}

/** The steps, in order. */
export async function leadLife({ cluster, helm, namespace }) {
  const release = await prepareRelease({ cluster, helm, namespace, scenario: 'production', set: SET });
  release.streams = cluster.streams;
  return [...installed(release), ...evictions(release), ...scaled(release), ...upgraded(release), ...ended(release)];
}
