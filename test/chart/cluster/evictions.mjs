import assert from 'node:assert/strict';

/*
 * These steps ask for evictions pod by pod through the API, as a drain of nodes does, and check the answers of the
 * disruption budget.
 */

/** Asks for an eviction. Returns the status of the answer. */
async function evict({ api, core }, pod) {
  const { name } = pod.metadata;
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } };
  const answer = await api.call('POST', `${core}/pods/${name}/eviction`, { body });
  return answer.status;
}

/** Makes a replica say that it is not ready while it runs, as one does whose Redis is gone. */
const notReady = ({ api, core }, pod) =>
  api.patchStatus(`${core}/pods/${pod.metadata.name}`, {
    status: {
      conditions: ['Ready', 'ContainersReady'].map((type) => ({ type, status: 'False', lastTransitionTime: null })),
    },
  });

/** Waits until the budget of the replicas allows this many to go. */
const untilAllowed = ({ api, namespace }, count) =>
  api.until(
    `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets?fieldSelector=metadata.name=baton`,
    ([{ metadata, status }]) =>
      status.observedGeneration === metadata.generation &&
      status.disruptionsAllowed === count &&
      status.expectedPods === 3,
    `${count} of 3 may go`,
  );

export function* evictions(release) {
  const { api, core, namespace } = release;
  const replicas = () => api.get(`${core}/pods?labelSelector=app.kubernetes.io/component=replica`);
  yield {
    title: 'while one replica is not ready no other may be evicted, and that one may',
    body: async () => {
      await untilAllowed(release, 1);
      const [ill, well] = (await replicas()).items;
      await notReady(release, ill);
      await untilAllowed(release, 0);
      assert.equal(await evict(release, well), 429);
      const slices = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`;
      for (const [service, ready] of [
        ['baton', false],
        // Metrics exist to show why it is not ready.
        ['baton-admin', true],
      ]) {
        await api.until(`${slices}?labelSelector=kubernetes.io/service-name=${service}`, ([{ endpoints }]) =>
          endpoints.some(
            ({ targetRef, conditions }) => targetRef.uid === ill.metadata.uid && conditions.ready === ready,
          ),
        );
      }
      assert.equal(await evict(release, ill), 201);
    },
  };
  yield {
    title: 'it is replaced, and one may be evicted again',
    body: async () => {
      await untilAllowed(release, 1);
      assert.equal(await evict(release, (await replicas()).items[0]), 201);
      await untilAllowed(release, 1);
    },
  };
}
