import type { TSchema } from 'typebox';
import { Persist } from '../../../../../shared/contract/modules/broker.ts';
import { ClipboardEntry, ClipboardType, SetClipboard } from '../../../../../shared/contract/modules/clipboard.ts';
import { Device } from '../../../../../shared/contract/modules/devices.ts';
import * as fields from '../../../../../shared/contract/vocabulary/fields.ts';
import { Me } from '../../../../../shared/contract/modules/identity.ts';
import { LIMITS } from '../../../../../shared/contract/limits.ts';
import { Message, MessageAccepted, MessageText, SendMessage } from '../../../../../shared/contract/modules/messages.ts';
import { Presence, PresenceEntry } from '../../../../../shared/contract/modules/presence.ts';
import { Problem } from '../../../../../shared/contract/vocabulary/problem.ts';
import { PushSubscription, RegisterNativePush, SubscribePush } from '../../../../../shared/contract/modules/push.ts';
import { DeviceSession, SessionAnswer, StartDeviceSession } from '../../../../../shared/contract/modules/sessions.ts';
import { IceServer, SendSignal } from '../../../../../shared/contract/modules/signal.ts';
import { ApproveLogin, LoginRequestView } from '../../../../../shared/contract/modules/signin.ts';
import { Ready } from '../../../../../shared/contract/modules/stream.ts';
import {
  FileName,
  FileType,
  InitTransfer,
  NewFile,
  Transfer,
  TransferPhase,
} from '../../../../../shared/contract/modules/transfers.ts';

import {
  DeviceKeys,
  SealedClipboard,
  SealedFiles,
  SealedGrant,
  SealedMessage,
} from '../../../../../shared/contract/vocabulary/sealed.ts';

export type Json = Record<string, unknown>;

/** The schemas that have a name in the document. Every occurrence of one is written as a reference. */
const NAMED = {
  DeviceId: fields.DeviceId,
  DeviceName: fields.DeviceName,
  DeviceNameInput: fields.DeviceNameInput,
  DeviceType: fields.DeviceType,
  DeviceRef: fields.DeviceRef,
  Scope: fields.Scope,
  UnixMs: fields.UnixMs,
  Uuid: fields.Uuid,
  ApproveLogin,
  ClipboardEntry,
  ClipboardType,
  Device,
  DeviceKeys,
  DeviceSession,
  FileName,
  FileType,
  IceServer,
  InitTransfer,
  LoginRequestView,
  Me,
  Message,
  MessageAccepted,
  MessageText,
  NewFile,
  Persist,
  Presence,
  PresenceEntry,
  Problem,
  PushSubscription,
  Ready,
  RegisterNativePush,
  SealedClipboard,
  SealedFiles,
  SealedGrant,
  SealedMessage,
  SendMessage,
  SendSignal,
  SessionAnswer,
  SetClipboard,
  StartDeviceSession,
  SubscribePush,
  Transfer,
  TransferPhase,
} as const satisfies Record<string, TSchema>;

/** Controls and `\p{Bidi_Control}`, spelled out because not every reader of patterns knows Unicode properties. */
const HOSTILE = '\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069';
/** Characters in names and folders: any character, and any except a dot. */
const [ANY, NO_DOT] = [`[^/\\\\${HOSTILE}]`, `[^./\\\\${HOSTILE}]`];
const PART = `(${NO_DOT}${ANY}{0,254}|[.]${NO_DOT}${ANY}{0,253}|[.][.]${ANY}{1,253})`;

type Name = keyof typeof NAMED;

/** The characters that `trim` removes, spelled out because readers of patterns differ in what they take for a space. */
const SPACE = '\\t-\\r \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff';

const sealedOf = (most: number): Json => ({
  // No bits may be left over.
  pattern: '^([A-Za-z0-9_-]{4})*([A-Za-z0-9_-][AQgw]|[A-Za-z0-9_-]{2}[AEIMQUYcgkosw048])?$',
  minLength: 2,
  maxLength: Math.ceil((most * 4) / 3),
});

/**
 * Bounds that the document states in addition to the schema of the route table. Validation lets such values through,
 * because the rule behind it refuses them with a separate code.
 */
const RULES: Partial<Record<Name, Json>> = {
  // Any printable text of 1 to 32 characters, with spaces around it. A single character must not be `*`.
  DeviceNameInput: {
    pattern: `^[${SPACE}]*([!-)+-~]|[!-~][ -~]{0,${LIMITS.deviceNameChars - 2}}[!-~])[${SPACE}]*$`,
  },
  // Counted in characters, each of which is at least one byte.
  MessageText: { pattern: `[^${SPACE}]`, maxLength: LIMITS.messageBytes },
  FileName: { pattern: `^${PART}(/${PART})*$` },
  FileType: { pattern: `^[^${HOSTILE}]*$` },
  ClipboardType: { const: 'text/plain' },
  // A guest is not a native application.
  StartDeviceSession: {
    not: {
      properties: { scope: { const: 'guest' }, device_type: { enum: ['macos', 'windows', 'linux', 'ios'] } },
      required: ['scope'],
    },
  },
  SealedClipboard: sealedOf(LIMITS.sealedClipboardBytes),
  SealedFiles: sealedOf(LIMITS.sealedBytes),
  SealedGrant: sealedOf(LIMITS.sealedGrantBytes),
  SealedMessage: sealedOf(LIMITS.sealedMessageBytes),
};

const nameOf = new Map(Object.entries(NAMED).map(([name, schema]) => [JSON.stringify(schema), name]));

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isTextEnum = ({ enum: words, type }: Json): boolean =>
  type === undefined && Array.isArray(words) && words.every((word) => typeof word === 'string');

function parts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => referring(item));
  if (!isObject(value)) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([key, part]) => [key, referring(part)]));
  return isTextEnum(value) ? { type: 'string', ...copy } : copy;
}

/** Returns a schema in the form of the document. Schemas with a name become references. */
export function referring(schema: unknown): unknown {
  const name = isObject(schema) ? nameOf.get(JSON.stringify(schema)) : undefined;
  return name === undefined ? parts(schema) : { $ref: `#/components/schemas/${name}` };
}

export const namedSchemas = (): Json =>
  Object.fromEntries(
    (Object.keys(NAMED) as Name[]).map((name) => [name, { ...(parts(NAMED[name]) as Json), ...RULES[name] }]),
  );
