/**
 * The commands that the broker sends to Redis outside of scripts. Together with the commands in the broker's scripts
 * they are the ACL of its user at Redis. The first row is for connections, the second for a cluster.
 */
export const CLIENT_COMMANDS = [
  ...['hello', 'auth', 'select', 'client|setname', 'info', 'ping', 'quit'],
  ...['cluster|slots', 'asking', 'readonly', 'readwrite'],
  ...['eval', 'evalsha'],
  // Keys and sessions.
  ...['time', 'hget', 'hgetall', 'hmget', 'hdel'],
];
