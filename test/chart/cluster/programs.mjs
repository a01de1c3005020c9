import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CUSTOM } from '../kubernetes-schemas.mjs';
import { findPrograms, moduleFolder } from '../tools.mjs';

/*
 * Finds the control plane of Kubernetes, its store, and kwok, in the versions of go.mod here. Also reads from modules how
 * kwok's nodes and pods behave, and the definitions of kinds that are not part of Kubernetes.
 */

const SOURCES = fileURLToPath(new URL('.', import.meta.url));

const PROGRAMS = {
  etcd: 'go.etcd.io/etcd/server/v3',
  'kube-apiserver': 'k8s.io/kubernetes/cmd/kube-apiserver',
  'kube-controller-manager': 'k8s.io/kubernetes/cmd/kube-controller-manager',
  'kube-scheduler': 'k8s.io/kubernetes/cmd/kube-scheduler',
  kwok: 'sigs.k8s.io/kwok/cmd/kwok',
};

const STAGES = ['node/fast/node-initialize', 'pod/fast/pod-ready', 'pod/fast/pod-delete'];

/** Without a version linked in, an API server takes itself for 0.0.0 and refuses its own features. */
function versionFlags() {
  const [, version, major, minor] = /k8s\.io\/kubernetes (v(\d+)\.(\d+)\.\d+)/.exec(
    readFileSync(join(SOURCES, 'go.mod'), 'utf8'),
  );
  const flags = { gitVersion: version, gitMajor: major, gitMinor: minor };
  return Object.entries(flags).map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`);
}

/** Returns the paths of the programs, by name; or `{missing}`, a sentence that says why there are none. */
export const findCluster = ({ install }) =>
  findPrograms({
    sources: SOURCES,
    kind: 'cluster',
    content: ['go.mod', 'go.sum'],
    programs: PROGRAMS,
    linkFlags: ['-s -w', ...versionFlags()].join(' '),
    install,
    how: 'npm run test:chart -- --cluster --install builds them in a quarter of an hour',
  });

const together = (paths) => paths.map((path) => readFileSync(path, 'utf8')).join('\n---\n');

/**
 * Returns what happens to kwok's nodes and pods: its own stages for those that are ready at once, and the one of stages.yaml.
 */
export function readStages() {
  const kwok = join(moduleFolder('sigs.k8s.io/kwok', SOURCES), 'kustomize/stage');
  return together([...STAGES.map((name) => join(kwok, `${name}.yaml`)), join(SOURCES, 'stages.yaml')]);
}

/** Returns the CustomResourceDefinitions of Gateway API and the Prometheus operator whose objects the chart writes. */
export const readDefinitions = (cwd) =>
  together(CUSTOM.map(({ module, file }) => join(moduleFolder(module, cwd), file)));
