import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { RequestHandler } from 'express';
import { ipKeyGenerator, rateLimit } from 'express-rate-limit';
import type { Logger } from 'pino';
import { RedisStore } from 'rate-limit-redis';
import { BatonError } from '../../../../shared/contract/errors.ts';
import { RATES, type RateGroup } from '../../../../shared/contract/rates.ts';
import { contextOf } from '../../../../shared/service-kit/http/request-context.ts';
import { scaledLimit } from '../../../../shared/service-kit/rate-limit-headers.ts';

/** An IPv6 customer has at least a /56, so a single IPv6 address does not identify a client. */
export const IPV6_SUBNET_BITS = 56;

type Reply = boolean | number | string;
type SendCommand = (...args: string[]) => Promise<Reply | Reply[]>;

const isNoScript = (error: unknown): boolean => error instanceof Error && error.message.startsWith('NOSCRIPT');

/**
 * Wraps a sender of commands so that it loads scripts itself. `RedisStore` keeps the answer to its first SCRIPT LOAD for
 * ever: if Redis was down at start, it refuses everybody until a restart. The wrapper remembers each script, names it
 * without a round trip, and sends it in full when Redis does not know it. Scripts run in a full store too, because they
 * limit signing out.
 */
function withScripts(send: SendCommand, textOf: (script: string) => string): SendCommand {
  const scripts = new Map<string, string>();
  return async (...args) => {
    const [command, first = '', second = ''] = args;
    if (command === 'SCRIPT' && first === 'LOAD') {
      const text = textOf(second);
      const sha = createHash('sha1').update(text).digest('hex');
      scripts.set(sha, text);
      return sha;
    }
    try {
      return await send(...args);
    } catch (error) {
      const script = scripts.get(first);
      if (command !== 'EVALSHA' || script === undefined || !isNoScript(error)) throw error;
      return send('EVAL', script, ...args.slice(2));
    }
  };
}

/** A group of client addresses that all replicas count together. */
export type AddressGroup = {
  [G in RateGroup]: (typeof RATES)[G] extends { by: 'address'; counted: 'store' } ? G : never;
}[RateGroup];

const groups = Object.keys(RATES) as RateGroup[];
export const isAddressGroup = (group: RateGroup): group is AddressGroup =>
  RATES[group].by === 'address' && RATES[group].counted === 'store';

interface AddressLimitDeps {
  sendCommand: SendCommand;
  /** Returns the text of a script that the store runs even when it is full. */
  textOf: (script: string) => string;
  /** Returns the error that a failed command means: `store_unavailable` or `store_full`. */
  faultOf: (error: unknown) => BatonError;
  /** Returns the first part of the key of a group, from the key registry. */
  prefixOf: (group: AddressGroup) => string;
  clientAddress: (req: IncomingMessage) => string;
  /** `APP_RATE_LIMIT_SCALE` */
  scale: number;
  logger: Logger;
}

const passAll: RequestHandler = (_req, _res, next) => next();

/** Fails closed: without the store these groups cannot count, and they guard sign-in. */
function storeOf(deps: AddressLimitDeps, group: AddressGroup): RedisStore {
  const send = withScripts(deps.sendCommand, deps.textOf);
  const sendCommand: SendCommand = async (...args) => {
    try {
      return await send(...args);
    } catch (error) {
      if (error instanceof BatonError) throw error;
      throw deps.faultOf(error);
    }
  };
  return new RedisStore({ prefix: deps.prefixOf(group), sendCommand });
}

function makeLimit(deps: AddressLimitDeps, group: AddressGroup): RequestHandler {
  const limit = scaledLimit(group, deps.scale);
  if (limit === null) return passAll;
  return rateLimit({
    windowMs: RATES[group].windowSeconds * 1000,
    limit,
    identifier: group,
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    passOnStoreError: false,
    store: storeOf(deps, group),
    keyGenerator: (req) => ipKeyGenerator(deps.clientAddress(req), IPV6_SUBNET_BITS),
    handler(_req, res, next) {
      contextOf(res).rateGroup = group;
      next(new BatonError('rate_limited'));
    },
    // The library's checks cover `req.ip` and Express' trust in proxies. Neither is used here.
    validate: false,
    logger: {
      error: (error, message) => deps.logger.error({ err: error }, message),
      warn: (error, message) => deps.logger.warn({ err: error }, message),
    },
  });
}

/**
 * Makes one limiter for each group that counts client addresses on all replicas together. A limiter refuses with
 * `rate_limited`, `Retry-After`, `RateLimit` and `RateLimit-Policy`, with `store_unavailable` while the store is down,
 * and with `store_full` while the store cannot write.
 */
export const makeAddressLimits = (deps: AddressLimitDeps): Readonly<Record<AddressGroup, RequestHandler>> =>
  Object.fromEntries(groups.filter(isAddressGroup).map((group) => [group, makeLimit(deps, group)])) as Record<
    AddressGroup,
    RequestHandler
  >;
