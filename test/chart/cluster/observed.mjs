import assert from 'node:assert/strict';

/** Does `work`, and returns the fewest replicas that took traffic meanwhile. */
export async function fewestDuring({ api, apps }, work) {
  const over = new AbortController();
  let fewest = Infinity;
  const watching = api.watch(
    `${apps}/deployments?fieldSelector=metadata.name=baton`,
    ([{ status }]) => {
      fewest = Math.min(fewest, status.availableReplicas ?? 0);
      return false;
    },
    over.signal,
  );
  const watched = watching.catch((error) => assert.ok(over.signal.aborted, error));
  try {
    await work();
  } finally {
    over.abort();
  }
  await watched;
  return fewest;
}
