import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';

/*
 * The common part of the floor and the hand-written Express: one script an event (XADD and PUBLISH), one channel that every
 * process listens on, and a list of the streams that are open here. Every change is one event: a message, a signal, a
 * clipboard, an acknowledgement (which goes to the other devices of the account).
 */

/** As many entries as the product keeps. The two scripts differ only in their size, not in what they write. */
const LOG_EVENTS = 256;
const APPEND = `
local id = redis.call('XADD', KEYS[1], 'MAXLEN', ARGV[1], '*', 'd', ARGV[4])
redis.call('PUBLISH', ARGV[2], ARGV[3] .. '\\n' .. id .. '\\n' .. ARGV[4])
return id`;
const HEARTBEAT_MS = 15_000;

const EVENTS = {
  'POST /api/message': (body, { device, name }) => [
    body.to_device_id ?? body.to,
    'message',
    {
      message_id: randomUUID(),
      ...{ from_device_id: device, from_name: name, content: body.content },
      ...{ created_at: Date.now(), redelivered: false },
    },
  ],
  'POST /api/message/ack': (body, { device, name }) => [
    '*',
    'message:delivered',
    { message_ids: body.message_ids, by_device_id: device, by_name: name, at: Date.now() },
  ],
  'POST /api/hub/signal': (body, { device, name }) => [
    body.to_device_id,
    'signal',
    { from_device_id: device, from_name: name, transfer_id: null, kind: body.kind, payload: body.payload },
  ],
  'PUT /api/clipboard': (body, { device, name }) => [
    '*',
    'clipboard',
    { content: body.content, source_device_id: device, source_device_name: name, updated_at: Date.now() },
  ],
};

/** The streams of a process, and the way that events take to them. Processes of one kind share a channel. */
export async function makeAppender({ redisUrl, prefix, kind }) {
  const channel = `${prefix}:${kind}`;
  const logOf = (user) => `${prefix}:{${user}}:log`;
  const redis = new Redis(redisUrl);
  redis.defineCommand('appendEvent', { lua: APPEND, numberOfKeys: 1 });
  const subscriber = new Redis(redisUrl);
  /** user -> device -> answer */
  const accounts = new Map();

  subscriber.on('message', (_channel, payload) => {
    const [user, to, from, event] = payload.slice(0, payload.indexOf('\n')).split('\t');
    const streams = accounts.get(user);
    if (streams === undefined) return;
    const rest = payload.slice(user.length + to.length + from.length + event.length + 4);
    const idEnd = rest.indexOf('\n');
    const frame = `id: ${rest.slice(0, idEnd)}\nevent: ${event}\ndata: ${rest.slice(idEnd + 1)}\n\n`;
    if (to !== '*') return streams.get(to)?.write(frame);
    for (const [device, stream] of streams) if (device !== from) stream.write(frame);
  });
  await subscriber.subscribe(channel);

  setInterval(() => {
    for (const streams of accounts.values())
      for (const stream of streams.values()) stream.write('event: ping\ndata: {}\n\n');
  }, HEARTBEAT_MS);

  return {
    /**
     * Keeps the answer to a request as a stream until it is closed. Its head is already written. This takes one trip, for the
     * position from which it could be resumed.
     */
    async addStream({ user, device }, res) {
      const streams = accounts.get(user) ?? new Map();
      accounts.set(user, streams.set(device, res));
      res.on('close', () => {
        if (streams.get(device) !== res) return;
        streams.delete(device);
        if (streams.size === 0) accounts.delete(user);
      });
      const newest = await redis.xrevrange(logOf(user), '+', '-', 'COUNT', 1);
      const position = newest.length === 0 ? '0-0' : newest[0][0];
      if (res.destroyed) return;
      const data = `{"resumed":false,"reason":"new","heartbeat_ms":${HEARTBEAT_MS}}`;
      res.write(`id: ${position}\nevent: ready\ndata: ${data}\n\n`);
    },

    /** Appends what a request changes, and returns its data. Null: there is no such route. */
    async append(route, body, caller) {
      const eventOf = EVENTS[route];
      if (eventOf === undefined) return null;
      const [to, event, data] = eventOf(body, caller);
      const addressed = [caller.user, to, caller.device, event].join('\t');
      await redis.appendEvent(logOf(caller.user), LOG_EVENTS, channel, addressed, JSON.stringify(data));
      return data;
    },

    /** Returns the devices of an account, from the same rows that the product reads. */
    async devicesOf({ user }) {
      const rows = await redis.hgetall(`${prefix}:{${user}}:devices`);
      return Object.entries(rows).map(([id, row]) => {
        const [name, type, created] = row.split('\n');
        return { device_id: id, name, type, created_at: Number(created) };
      });
    },
  };
}

/** Returns the caller that an edge names, without asking for its proof. */
export const callerOf = ({ headers }) => ({
  user: headers['x-auth-subject'],
  device: headers['x-auth-meta'],
  name: headers['x-auth-name'],
});

/** Tells the parent where this process listens. The process ends with its parent. */
export async function serve(server) {
  await new Promise((resolve) => server.listen({ host: '127.0.0.1', port: 0, backlog: 4_096 }, resolve));
  process.send({ port: server.address().port });
  process.on('disconnect', () => process.exit());
  process.on('SIGTERM', () => process.exit());
}
