import { createServer } from 'node:net';

/** The loopback addresses that `localhost` may mean to a client. */
const LOOPBACK = ['127.0.0.1', '::1'];

function isTaken(port, host) {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (error) => {
      if (error.code === 'EADDRINUSE') resolve(true);
      // On a machine without IPv6 the port cannot be taken there.
      else if (error.code === 'EADDRNOTAVAIL' || error.code === 'EAFNOSUPPORT') resolve(false);
      else reject(error);
    });
    probe.listen({ port, host, exclusive: true }, () => probe.close(() => resolve(false)));
  });
}

/**
 * Reads the first port of a row of `count` from the environment. Adds problems to `problems`, in words that name the key,
 * and then returns an empty row.
 */
function readRow({ key, fallback, count, env, problems }) {
  const first = Number(env[key] || fallback);
  if (!Number.isInteger(first) || first < 1 || first + count - 1 > 65_535) {
    problems.push(`${key}=${env[key]} is not a port with room for ${count}.`);
    return [];
  }
  return Array.from({ length: count }, (_, i) => ({ key, offset: i, port: first + i }));
}

const nameOf = ({ key, offset }) => `${key}${offset === 0 ? '' : ` + ${offset}`}`;

async function describeIfUnusable(row, others) {
  const twin = others.find((other) => other.port === row.port);
  if (twin !== undefined)
    return `port ${row.port} is both ${nameOf(row)} and ${nameOf(twin)}: set one of them to another.`;
  try {
    const taken = await Promise.all(LOOPBACK.map((host) => isTaken(row.port, host)));
    return taken.includes(true) ? `port ${row.port} (${nameOf(row)}) is taken: set ${row.key} to another.` : null;
  } catch (error) {
    return `port ${row.port} (${nameOf(row)}) cannot be used: ${error.message}.`;
  }
}

/**
 * Returns the ports of `replicas` replicas (`[{port, adminPort}]`), of the broker and of the local network (null unless
 * wanted), and all problems that prevent listening on them, as sentences.
 */
export async function readPorts(replicas, env, { withBroker, withLan }) {
  const problems = [];
  const ports = readRow({ key: 'APP_PORT', fallback: 8080, count: replicas, env, problems });
  const adminPorts = readRow({ key: 'APP_ADMIN_PORT', fallback: 9090, count: replicas, env, problems });
  const brokerPorts = withBroker ? readRow({ key: 'BROKER_PORT', fallback: 8090, count: 1, env, problems }) : [];
  const lanPorts = withLan ? readRow({ key: 'APP_LAN_PORT', fallback: 8443, count: 1, env, problems }) : [];
  const found = await Promise.all([
    ...ports.map((row) => describeIfUnusable(row, [])),
    ...adminPorts.map((row) => describeIfUnusable(row, ports)),
    ...brokerPorts.map((row) => describeIfUnusable(row, [...ports, ...adminPorts])),
    ...lanPorts.map((row) => describeIfUnusable(row, [...ports, ...adminPorts, ...brokerPorts])),
  ]);
  problems.push(...found.filter((problem) => problem !== null));
  return {
    ports: ports.map(({ port }, i) => ({ port, adminPort: adminPorts[i]?.port })),
    brokerPort: brokerPorts[0]?.port ?? null,
    lanPort: lanPorts[0]?.port ?? null,
    problems,
  };
}
