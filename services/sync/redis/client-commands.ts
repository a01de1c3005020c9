/**
 * What the replica asks of Redis outside of scripts; with the commands in the scripts themselves this is the ACL of
 * its user. The first row is the connection's own life: hello, name, ready check, subscription.
 */
export const CLIENT_COMMANDS = [
  ...['hello', 'auth', 'client|setname', 'info', 'ping', 'subscribe', 'unsubscribe', 'quit'],
  ...['eval', 'evalsha', 'publish'],
  ...['get', 'hget', 'hset', 'hdel', 'del', 'sadd', 'srem', 'srandmember', 'expire'],
  // express-rate-limit's store.
  ...['incr', 'decr', 'pttl', 'pexpire', 'set'],
];
