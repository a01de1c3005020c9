/**
 * What the broker asks of Redis outside of scripts; with the commands in its scripts this is the ACL of its user. The first
 * row is the connection's own life, the second what a cluster needs beside.
 */
export const CLIENT_COMMANDS = [
  ...['hello', 'auth', 'select', 'client|setname', 'info', 'ping', 'quit'],
  ...['cluster|slots', 'asking', 'readonly', 'readwrite'],
  ...['eval', 'evalsha'],
  // Keys and sessions.
  ...['time', 'hget', 'hgetall', 'hmget', 'hdel'],
];
