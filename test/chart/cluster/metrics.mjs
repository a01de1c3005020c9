import { createServer } from 'node:https';

/*
 * This stands in for a metrics adapter: it serves `baton_streams` and the use of a processor of pods, as
 * custom.metrics.k8s.io and metrics.k8s.io. The API server passes on the questions of an autoscaler.
 */

const NAMESPACE = 'metrics';
const GROUPS = {
  'custom.metrics.k8s.io': { version: 'v1beta2', resource: { name: 'pods/baton_streams', kind: 'MetricValueList' } },
  'metrics.k8s.io': { version: 'v1beta1', resource: { name: 'pods', kind: 'PodMetrics' } },
};

const discovery = (groupVersion, resource) => ({
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion,
  resources: [{ singularName: '', namespaced: true, verbs: ['get', 'list'], ...resource }],
});

/** Returns the readings of pods. `streams` is how many they hold together; `cpu` is what each uses of a processor. */
function readings({ kind, apiVersion, pods, streams, cpu }) {
  const timestamp = new Date().toISOString();
  const items = pods.map(({ metadata: { name, namespace }, spec }) =>
    kind === 'PodMetrics'
      ? {
          metadata: { name, namespace },
          timestamp,
          window: '30s',
          containers: spec.containers.map((container) => ({ name: container.name, usage: { cpu, memory: '200Mi' } })),
        }
      : {
          describedObject: { kind: 'Pod', apiVersion: 'v1', name, namespace },
          metric: { name: 'baton_streams' },
          timestamp,
          value: String(Math.round(streams / pods.length)),
        },
  );
  return { kind: kind.replace(/(List)?$/, 'List'), apiVersion, metadata: {}, items };
}

/** Returns the answer to a path that an autoscaler or the API server asks for; null if there is none. */
async function answerTo({ api, streams }, url) {
  const [, , group, version, , namespace] = url.pathname.split('/');
  const { resource } = GROUPS[group] ?? {};
  if (!resource || version !== GROUPS[group].version) return null;
  const apiVersion = `${group}/${version}`;
  if (namespace === undefined) return discovery(apiVersion, resource);
  const pods = (await api.get(`/api/v1/namespaces/${namespace}/pods${url.search}`)).items;
  return readings({ kind: resource.kind, apiVersion, pods, streams: streams.get(namespace) ?? 0, cpu: '25m' });
}

/** Serves metrics of pods and tells the API server so. `streams` has, by namespace, how many its pods hold together. */
export async function startMetrics({ api, certificate }) {
  const streams = new Map();
  const server = createServer(certificate, (request, response) => {
    const send = (status, body) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    answerTo({ api, streams }, new URL(request.url, 'https://localhost')).then(
      (body) => send(body === null ? 404 : 200, body),
      (error) => send(500, { message: error.message }),
    );
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await api.create('/api/v1/namespaces', { metadata: { name: NAMESPACE } });
  await api.create(`/api/v1/namespaces/${NAMESPACE}/services`, {
    metadata: { name: 'adapter' },
    spec: { type: 'ExternalName', externalName: 'localhost' },
  });
  for (const [group, { version }] of Object.entries(GROUPS)) {
    await api.create('/apis/apiregistration.k8s.io/v1/apiservices', {
      metadata: { name: `${version}.${group}` },
      spec: {
        ...{ group, version, groupPriorityMinimum: 100, versionPriority: 100, insecureSkipTLSVerify: true },
        service: { namespace: NAMESPACE, name: 'adapter', port },
      },
    });
  }
  const stop = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  return { streams, stop };
}
