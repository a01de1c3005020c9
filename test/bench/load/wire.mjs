/*
 * The part of the wire that the load speaks to every kind of server: the routes, and the headers that an edge sets
 * (identity `edge`, `APP_EDGE_TRUST=secret`).
 */

export const EDGE_SECRET = 'only-the-benchmark-knows-this-secret-of-an-edge';

export const PATHS = {
  stream: '/api/hub/events',
  message: '/api/message',
  ack: '/api/message/ack',
  signal: '/api/hub/signal',
  clipboard: '/api/clipboard',
  devices: '/api/devices',
};

/**
 * Returns the account of this number, with this many devices. Ids follow from the number, so every process knows them.
 */
export function accountOf(group, number, devices) {
  const user = `${group}-${number}`;
  return {
    user,
    devices: Array.from({ length: devices }, (_, i) => ({ id: `${user}-device-${i}`, name: `Device ${i}` })),
  };
}

/** Returns the headers that an edge sets on a request of a device, as lines. */
export const identityLines = (user, device) =>
  [
    `X-Edge-Secret: ${EDGE_SECRET}`,
    `X-Auth-Subject: ${user}`,
    'X-Auth-Scope: full',
    `X-Auth-Meta: ${device.id}`,
    `X-Auth-Name: ${encodeURIComponent(device.name)}`,
    'X-Forwarded-For: 192.0.2.7',
  ].join('\r\n');

/** Returns a request as it goes over the socket. The JSON must be ASCII. */
export function requestText({ method, path, host, identity, json }) {
  const head = `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\n${identity}\r\n`;
  if (json === undefined) return `${head}\r\n`;
  const body = JSON.stringify(json);
  return `${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

const ROWS_AT_ONCE = 500;

/** Writes the rows of devices that signed in before, because the service adds none for devices that an edge names. */
export async function writeRows({ redis, keyPrefix, group, accounts, devices }) {
  const now = Date.now();
  for (let from = 0; from < accounts; from += ROWS_AT_ONCE) {
    const pipeline = redis.pipeline();
    for (let i = from; i < Math.min(accounts, from + ROWS_AT_ONCE); i += 1) {
      const account = accountOf(group, i, devices);
      // The form is that of `formatRow` of devices/row.ts: no session that the service knows.
      const rows = account.devices.flatMap(({ id, name }) => [id, [name, 'linux', now, '', 0].join('\n')]);
      pipeline.hset(`${keyPrefix}:{${account.user}}:devices`, ...rows);
    }
    const failed = (await pipeline.exec()).find(([error]) => error !== null);
    if (failed) throw failed[0];
  }
}
