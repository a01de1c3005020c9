/*
 * Finds every object of a namespace, like a garbage collector: by the kinds that the API server says it serves.
 */

/** Objects that a release does not make: notes of what happened, and readings. */
const PASSING = new Set(['events', 'leases', 'pods.metrics.k8s.io']);

async function* served(api) {
  yield { path: '/api/v1', group: '' };
  for (const { name, preferredVersion } of (await api.get('/apis')).groups) {
    yield { path: `/apis/${preferredVersion.groupVersion}`, group: name };
  }
}

/** Returns `kind/name` of each object in a namespace, in order. */
export async function listEverything(api, namespace) {
  const found = [];
  for await (const { path, group } of served(api)) {
    const { resources } = await api.get(path);
    for (const { name, namespaced, verbs } of resources) {
      const isPassing = PASSING.has(name) || PASSING.has(`${name}.${group}`);
      if (!namespaced || isPassing || name.includes('/') || !verbs.includes('list')) continue;
      const { items } = await api.get(`${path}/namespaces/${namespace}/${name}`);
      found.push(...items.map(({ metadata }) => `${name}/${metadata.name}`));
    }
  }
  return found.sort();
}
