import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../../deploy/local/setup/tree.mjs';
import { containerOf } from './rendering.mjs';

/*
 * Reads what the chart puts into the environment of a pod with the program that would run there.
 */

const built = (path) => import(`${ROOT}dist/${path}`);

function vapidPair() {
  const { x, y, d } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey.export({ format: 'jwk' });
  const point = Buffer.concat([Buffer.from([4]), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]);
  return { publicKey: point.toString('base64url'), privateKey: d };
}

function pem(...how) {
  return generateKeyPairSync(...how).privateKey.export({ type: 'pkcs8', format: 'pem' });
}

/** Makes the contents of the Secrets, by the name of the file or variable that each becomes. */
function makeSecrets() {
  const vapid = vapidPair();
  const account = {
    project_id: 'p',
    client_email: 'a@b.example',
    private_key_id: 'k',
    token_uri: 'https://token.example',
    private_key: pem('rsa', { modulusLength: 2048 }),
  };
  return {
    publicKey: vapid.publicKey,
    files: {
      'redis-url': 'rediss+sentinel://baton:secret@sentinel.example/baton',
      'broker-redis-url': 'rediss+sentinel://broker:secret@sentinel.example/baton',
      'relay-redis-url': 'redis://relay.example:6379',
      // These are like the output of `openssl rand -base64`, and worse.
      'redis-password': 'pass/wo+rd==',
      'broker-redis-password': 'a?b@c:d#e%20',
      'sentinel-password': 'ot/her',
      'relay-redis-password': 're/lay+',
      'edge-secret': 'e'.repeat(32),
      'broker-token': 't'.repeat(32),
      'broker-tokens': `baton:${'t'.repeat(32)}`,
      'broker-secret': 's'.repeat(32),
      'oidc-client-secret': 'o'.repeat(32),
      'vapid-private-key': vapid.privateKey,
      'fcm-service-account': JSON.stringify(account),
      'apns-key': pem('ec', { namedCurve: 'prime256v1' }),
      'turn-secret': 'u'.repeat(32),
    },
  };
}

const secrets = makeSecrets();

/** Returns the environment of a container, as the kubelet makes it. Files lie in `folder`. */
function environmentOf({ pod, container }, { settings, folder }) {
  const mounted = (pod.volumes.find(({ name }) => name === 'secrets')?.projected.sources ?? []).flatMap(({ secret }) =>
    secret.items.map(({ path }) => path),
  );
  const env = {};
  for (const { name, value: text, valueFrom } of container.env) {
    if (name in env) throw new Error(`${name} is written twice`);
    // An address of the store is secret if it contains a password. The chart's addresses never do.
    const isOpen = settings[name]?.secret && !(name.endsWith('_REDIS_URL') && !text?.includes('@'));
    if (isOpen || valueFrom) throw new Error(`${name} is a secret and no file`);
    if (text === undefined) throw new Error(`${name} has no value`);
    env[name] = text;
    if (!name.endsWith('_FILE')) continue;
    const file = /^\/etc\/baton\/secrets\/([\w-]+)$/.exec(text)?.[1];
    if (!mounted.includes(file)) throw new Error(`${name} is ${text}, which is not mounted`);
    env[name] = join(folder, file);
    writeFileSync(env[name], secrets.files[file]);
  }
  if (env.APP_VAPID_PUBLIC_KEY) env.APP_VAPID_PUBLIC_KEY = secrets.publicKey;
  return env;
}

/** Returns the configuration that each program makes from a scenario. Throws if one would not start. */
export async function configurationsOf(manifests) {
  const folder = mkdtempSync(join(tmpdir(), 'baton-chart-'));
  try {
    const found = {};
    for (const [name, module] of Object.entries({ replica: 'sync', broker: 'broker' })) {
      const part = containerOf(manifests, name);
      if (part === null) continue;
      const { loadConfig } = await built(`services/${module}/config/config.js`);
      const { SETTINGS: settings } = await built(`services/${module}/config/settings.js`);
      found[name] = loadConfig(environmentOf(part, { settings, folder }));
      const unknown = found[name].warnings.filter((warning) => warning.includes('is not known'));
      if (unknown.length > 0) throw new Error(unknown.join('\n'));
    }
    return found;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
