import type { Redis } from 'ioredis';

interface Mailbox {
  redis: Redis;
  /** First part of the account's keys. */
  account: string;
}

/** Makes every unread message of the account older by `byMs`, as if it had waited that long. */
export async function ageMail({ redis, account }: Mailbox, byMs: number): Promise<void> {
  const older = (logId: string): string => logId.replace(/^\d+/, (ms) => String(Number(ms) - byMs));
  const { bytes: _, ...messages } = await redis.hgetall(`${account}:mail`);
  for (const [messageId, stored] of Object.entries(messages)) {
    const end = stored.indexOf('\n');
    await redis.hset(`${account}:mail`, messageId, older(stored.slice(0, end)) + stored.slice(end));
  }
  for (const member of await redis.zrange(`${account}:inbox`, '0', '-1')) {
    const [device, logId, messageId] = member.split(':') as [string, string, string];
    await redis.zrem(`${account}:inbox`, member);
    await redis.zadd(`${account}:inbox`, '0', `${device}:${older(logId)}:${messageId}`);
  }
}

/** Pretends that the unread messages of the account take this many bytes. */
export const setMailBytes = ({ redis, account }: Mailbox, bytes: number) =>
  redis.hset(`${account}:mail`, 'bytes', bytes);

export const mailBytes = async ({ redis, account }: Mailbox): Promise<number> =>
  Number(await redis.hget(`${account}:mail`, 'bytes'));
