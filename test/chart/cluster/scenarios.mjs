import assert from 'node:assert/strict';
import { manifestsOf, SCENARIOS, template } from '../rendering.mjs';
import { pathOf } from './api.mjs';
import { prepareRelease, rolledOut } from './release.mjs';

/*
 * Tries each scenario of ci/ on the API server: what it remarks on every object when it is strict, and whether the pods
 * are admitted.
 */

const STRICT = '?dryRun=All&fieldValidation=Strict';

/** Returns the remarks of the API server on an object; empty when it would accept the object as it is. */
async function remarksOn(api, namespace, manifest) {
  const path = pathOf(manifest, namespace) + STRICT;
  const { status, body, warnings } = await api.call('POST', path, { body: manifest });
  const what = `${manifest.kind} ${manifest.metadata.name}`;
  return [...(status === 201 ? [] : [body.message]), ...warnings].map((text) => `${what}: ${text}`);
}

const deploymentsOf = (manifests) =>
  manifests.filter(({ kind }) => kind === 'Deployment').map(({ metadata }) => metadata.name);

/** Checks that strictness and admission refuse objects that deserve it. */
async function bites({ api, namespace, manifests }) {
  const deployment = manifests.find(({ kind }) => kind === 'Deployment');
  const unknown = { ...deployment, spec: { ...deployment.spec, minReadyTime: 1 } };
  assert.match((await remarksOn(api, namespace, unknown)).join(), /unknown field "spec\.minReadyTime"/);
  const test = manifests.find(({ kind }) => kind === 'Pod');
  const root = { ...test, spec: { ...test.spec, securityContext: {} } };
  assert.match((await remarksOn(api, namespace, root)).join(), /violates PodSecurity "restricted/);
}

/** Returns the steps for one scenario. */
export async function tryScenario({ cluster, helm, scenario }) {
  const { api } = cluster;
  const set = { 'drain.streamsSeconds': 1 };
  const namespace = `try-${scenario}`;
  const release = await prepareRelease({ cluster, helm, namespace, scenario, set });
  const manifests = manifestsOf(await template(helm, { values: [SCENARIOS[scenario]], set }));
  return [
    {
      title: 'the API server, strict, has nothing to remark on any object, and does on planted mistakes',
      body: async () => {
        const remarks = [];
        for (const manifest of manifests) remarks.push(...(await remarksOn(api, namespace, manifest)));
        assert.deepEqual(remarks, []);
        await bites({ api, namespace, manifests });
      },
    },
    {
      title: 'it installs, and all its pods are admitted and find a node',
      body: async () => {
        const { code, err } = await release.apply('install');
        assert.equal(code, 0, err);
        assert.doesNotMatch(err, /warn/i);
        const names = deploymentsOf(manifests);
        assert.ok(names.length > 0);
        for (const name of names) await rolledOut(release, name);
      },
    },
  ];
}
