import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { cached, moduleFolder } from './tools.mjs';

/*
 * Makes strict JSON schemas of everything that the chart renders, from what Kubernetes, Gateway API and the Prometheus
 * operator publish in their Go modules. Validation needs no network.
 */

/**
 * The oldest version that `kubeVersion` allows, one in between, and the newest, each with the place of its OpenAPI
 * documents.
 */
export const KUBERNETES = {
  '1.30.0': { module: 'sigs.k8s.io/kubectl-validate@v0.0.4', folder: 'pkg/openapiclient/builtins/1.30' },
  '1.34.4': { module: 'k8s.io/kubernetes@v1.34.4', folder: 'api/openapi-spec/v3' },
  '1.37.2': { module: 'k8s.io/kubernetes@v1.37.2', folder: 'api/openapi-spec/v3' },
};

const GROUPS = {
  '': ['v1', 'ConfigMap', 'Pod', 'Service', 'ServiceAccount'],
  apps: ['v1', 'Deployment'],
  autoscaling: ['v2', 'HorizontalPodAutoscaler'],
  'networking.k8s.io': ['v1', 'Ingress', 'NetworkPolicy'],
  policy: ['v1', 'PodDisruptionBudget'],
};

/** The places of the definitions of kinds that are not part of Kubernetes. */
export const CUSTOM = [
  { module: 'sigs.k8s.io/gateway-api@v1.6.3', file: 'config/crd/standard/gateway.networking.k8s.io_httproutes.yaml' },
  ...['servicemonitors', 'prometheusrules'].map((name) => ({
    module: 'github.com/prometheus-operator/prometheus-operator@v0.85.0',
    file: `example/prometheus-operator-crd/monitoring.coreos.com_${name}.yaml`,
  })),
];

/** Kinds of other controllers. No small module has their schemas. */
export const UNCHECKED = ['SecurityPolicy', 'GCPBackendPolicy', 'Middleware', 'ScaledObject'];

const KEPT = [
  'type',
  'enum',
  'pattern',
  'required',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
];

/** Makes a schema refuse unknown fields, as `kubectl apply --validate=strict` does. */
function strict(schema, definitions) {
  if (schema.$ref) return strict(definitions[schema.$ref.split('/').at(-1)], definitions);
  if (schema.allOf?.length === 1 && !schema.properties) return strict(schema.allOf[0], definitions);
  if (schema['x-kubernetes-int-or-string'] || schema.format === 'int-or-string') return { type: ['integer', 'string'] };
  const made = Object.fromEntries(KEPT.filter((key) => key in schema).map((key) => [key, schema[key]]));
  if (schema.oneOf && !schema.type) made.oneOf = schema.oneOf.map((one) => strict(one, definitions));
  if (schema.items) made.items = strict(schema.items, definitions);
  if (typeof schema.additionalProperties === 'object') {
    made.additionalProperties = strict(schema.additionalProperties, definitions);
  }
  if (schema.properties) {
    made.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([name, inner]) => [name, strict(inner, definitions)]),
    );
    if (!schema['x-kubernetes-preserve-unknown-fields']) made.additionalProperties ??= false;
  }
  return made;
}

function builtinDocument(folder, group, version) {
  const path = group === '' ? `api/${version}` : `apis/${group}/${version}`;
  const names = [`${path}.json`, `${path.replaceAll('/', '__')}_openapi.json`];
  const found = names.map((name) => join(folder, name)).find(existsSync);
  if (!found) throw new Error(`${folder} has none of ${names.join(', ')}`);
  return JSON.parse(readFileSync(found, 'utf8')).components.schemas;
}

function* builtins(folder) {
  for (const [group, [version, ...kinds]] of Object.entries(GROUPS)) {
    const definitions = builtinDocument(folder, group, version);
    for (const kind of kinds) {
      const isKind = (schema) =>
        schema['x-kubernetes-group-version-kind']?.some(
          (one) => one.group === group && one.version === version && one.kind === kind,
        );
      yield { kind, version, schema: strict(Object.values(definitions).find(isKind), definitions) };
    }
  }
}

function* custom(text) {
  for (const document of parseAllDocuments(text)) {
    const { names, versions } = document.toJSON().spec;
    for (const { name: version, schema } of versions) {
      const made = strict(schema.openAPIV3Schema, {});
      // The API server knows the fields of `metadata`, so a custom definition does not repeat them.
      yield {
        kind: names.kind,
        version,
        schema: { ...made, properties: { ...made.properties, metadata: { type: 'object' } } },
      };
    }
  }
}

/** Returns the folder of each Kubernetes version's schemas, `kind_version.json`. */
export function makeSchemas() {
  const whole = cached('schemas', JSON.stringify([KUBERNETES, GROUPS, CUSTOM, KEPT]), strict.toString());
  const folders = {};
  const scratch = mkdtempSync(join(tmpdir(), 'baton-schemas-'));
  try {
    for (const [version, { module, folder }] of Object.entries(KUBERNETES)) {
      folders[version] = join(whole, version);
      if (existsSync(folders[version])) continue;
      const made = mkdtempSync(join(whole, 'new-'));
      const all = [
        ...builtins(join(moduleFolder(module, scratch), folder)),
        ...CUSTOM.flatMap((one) => [
          ...custom(readFileSync(join(moduleFolder(one.module, scratch), one.file), 'utf8')),
        ]),
      ];
      for (const { kind, version: of, schema } of all) {
        writeFileSync(join(made, `${kind.toLowerCase()}_${of}.json`), JSON.stringify(schema));
      }
      console.log(`made ${readdirSync(made).length} schemas of Kubernetes ${version}`);
      renameSync(made, folders[version]);
    }
  } finally {
    rmSync(scratch, { recursive: true });
  }
  return folders;
}
