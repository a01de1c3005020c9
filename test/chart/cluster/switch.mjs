import assert from 'node:assert/strict';
import { fewestDuring } from './observed.mjs';
import { prepareRelease, rolledOut } from './release.mjs';

/* Switches on autoscaling for a release with a fixed number of replicas. */

const SET = { 'drain.streamsSeconds': 1, replicaCount: 4 };

/** The only step. */
export async function switchScaling({ cluster, helm, namespace }) {
  const release = await prepareRelease({ cluster, helm, namespace, scenario: 'minimal', set: SET });
  const upgrade = async (set) => {
    const { code, err } = await release.apply('upgrade', { set, flags: ['--install'] });
    assert.equal(code, 0, err);
    return (await rolledOut(release, 'baton')).spec.replicas;
  };
  return [
    {
      title: 'takes no replica away, and the upgrades after it neither',
      body: async () => {
        assert.equal(await upgrade({}), 4);
        const scaled = { 'autoscaling.enabled': true };
        const fewest = await fewestDuring(release, async () => {
          assert.equal(await upgrade(scaled), 4);
          assert.equal(await upgrade({ ...scaled, 'config.APP_LOG_LEVEL': 'error' }), 4);
        });
        assert.equal(fewest, 4);
      },
    },
  ];
}
