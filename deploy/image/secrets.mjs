import { createECDH, createHash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/*
 * The one-shot service of docker-compose.yml that makes the secrets of an installation at its first start. Each is in the
 * folder (a volume) of the only service that may read it. Existing secrets are kept. The files derived from them are rewritten,
 * so that an upgrade brings the permissions that it needs. Usage: node secrets.mjs <folder of mounts>
 */

const mounts = process.argv[2] ?? '/mounts';
const folder = join(mounts, 'secrets');
const made = [];

/** Writes a file completely or not at all. A concurrent reader sees the old file. */
function put(path, text) {
  const at = join(folder, path);
  rmSync(`${at}.new`, { force: true });
  writeFileSync(`${at}.new`, text, { mode: 0o400 });
  renameSync(`${at}.new`, at);
}

/** Returns the secret that is kept there. Makes it when there is none. */
function keep(path, make = () => randomBytes(32).toString('hex')) {
  try {
    return readFileSync(join(folder, path), 'utf8').trim();
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
  const secret = make();
  put(path, `${secret}\n`);
  made.push(path);
  return secret;
}

/** Makes a pair for web push, in one file so that its halves belong together. */
function vapidPair() {
  const pair = createECDH('prime256v1');
  const publicKey = pair.generateKeys().toString('base64url');
  return `${publicKey} ${Buffer.from(pair.getPrivateKey('hex').padStart(64, '0'), 'hex').toString('base64url')}`;
}

const NODES = ['redis', 'redis-2', 'redis-3'];
const SENTINELS = ['sentinel', 'sentinel-2', 'sentinel-3'];

/** Returns the store's addresses by mode. Only mode `sentinel` has the sentinels' password, so it is part of the address. */
const storeUrls = (sentinelPassword) => ({
  standalone: 'redis://redis:6379',
  sentinel: `redis+sentinel://${SENTINELS.join(',')}/baton?sentinel_password=${sentinelPassword}`,
  cluster: NODES.map((node) => `redis://${node}:6379`).join(','),
});

const passwords = Object.fromEntries(
  ['baton', 'broker', 'operator', 'replica', 'sentinel'].map((user) => [user, keep(`redis/password-${user}`)]),
);
const sentinelPassword = keep('sentinel/password');
const digest = (user) => `#${createHash('sha256').update(passwords[user]).digest('hex')}`;

const ownUsers = readFileSync(new URL('users.acl', import.meta.url), 'utf8').split('\n');
const ownRules = (user) => ownUsers.find((line) => line.startsWith(`user ${user} `)).replace(/#0{64}/, digest(user));
const RULES = [
  // A server that reads its append-only file again does so as this user, and silently drops every transaction that the
  // user may not repeat (redis/redis 14541, valkey-io/valkey 3983). So the user may do everything, and nobody has its
  // password.
  `user default on #${createHash('sha256').update(randomBytes(32)).digest('hex')} ~* &* +@all`,
  // The user that may ask whether the server is alive.
  'user health on nopass resetkeys resetchannels -@all +dbsize',
  ownRules('baton'),
  ownRules('broker'),
  `user replica on ${digest('replica')} resetkeys resetchannels -@all +psync +replconf +ping`,
  `user sentinel on ${digest('sentinel')} resetkeys resetchannels &__sentinel__:hello -@all +multi +slaveof +ping +exec +subscribe +config|rewrite +role +publish +info +client|setname +client|kill +script|kill`,
  `user operator on ${digest('operator')} ~* &* +@all`,
];
put('redis/users.acl', `${RULES.join('\n')}\n`);
put('redis/auth.conf', `masteruser replica\nmasterauth ${passwords.replica}\n`);

/** A sentinel keeps what it learns in its configuration, so the file is made only once. */
const sentinelConf = [
  readFileSync(new URL('sentinels.conf', import.meta.url), 'utf8').trimEnd(),
  `requirepass ${sentinelPassword}`,
  `sentinel sentinel-pass ${sentinelPassword}`,
  'sentinel auth-user baton sentinel',
  `sentinel auth-pass baton ${passwords.sentinel}`,
];
for (const name of SENTINELS) {
  const path = join(mounts, 'data', name, 'sentinel.conf');
  const own = `sentinel announce-ip ${name}`;
  if (!existsSync(path)) writeFileSync(path, `${[...sentinelConf, own].join('\n')}\n`, { mode: 0o600 });
}
for (const [service, user] of [
  ['replica', 'baton'],
  ['broker', 'broker'],
]) {
  put(`${service}/redis-password`, `${passwords[user]}\n`);
  const urls = storeUrls(sentinelPassword);
  for (const [mode, url] of Object.entries(urls)) put(`${service}/redis-url-${mode}`, `${url}\n`);
}

const brokerToken = keep('replica/broker-token');
put('broker/tokens', `baton:${brokerToken}\n`);
keep('broker/secret');
const [edgeSecret] = keep('replica/edge-secret').split(',').reverse();
put('edge/secret.conf', `map "" $baton_edge_secret { default "${edgeSecret}"; }\n`);
const [publicKey, privateKey] = keep('replica/vapid-pair', vapidPair).split(' ');
put('replica/vapid-public', `${publicKey}\n`);
put('replica/vapid-private', `${privateKey}\n`);
process.stdout.write(made.length === 0 ? 'every secret was there\n' : `made ${made.join(', ')}\n`);
