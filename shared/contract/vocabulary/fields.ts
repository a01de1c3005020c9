import Type, { type Static } from 'typebox';
import { LIMITS } from '../limits.ts';

/** Device types. Native ones can be approved only with full scope. */
export const DEVICE_TYPES = ['browser', 'macos', 'windows', 'linux', 'ios', 'shortcut'] as const;

export const DeviceType = Type.Enum([...DEVICE_TYPES], { description: 'Kind of client installation.' });
export type DeviceType = (typeof DEVICE_TYPES)[number];

/** 8 to 64 URL-safe characters, stable per client installation. */
export const DeviceId = Type.String({ pattern: '^[A-Za-z0-9_-]{8,64}$', examples: ['phone-5c1d0a7e'] });

/** The text of a 404 for a device, whether it was named by id or by name. */
export const NO_DEVICE = 'The account has no such device';

/** A device name in its stored form: trimmed printable ASCII, 1 to 32 characters, never `*`. */
export const DeviceName = Type.String({ pattern: '^[\\x20-\\x7e]{1,32}$', examples: ['Phone'] });

/** Any text where a device name is expected. `parseDeviceName` decides, so that the response has its own code. */
export const DeviceNameInput = Type.String({
  maxLength: 1_024,
  description: 'Printable ASCII, at most 32 characters after trimming, and not `*`.',
  examples: ['Phone'],
});

/** Integer Unix milliseconds, from the store's clock. */
export const UnixMs = Type.Integer({ minimum: 0, description: 'Unix milliseconds.', examples: [1_767_225_600_000] });

export const Uuid = Type.String({
  pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
  examples: ['019b76da-a800-7a3b-9f7e-2b1c4d5e6f70'],
});

export const Scope = Type.Enum(['full', 'guest']);
export type Scope = Static<typeof Scope>;

/** The id of an account at the auth broker. */
export const UserId = Type.String({ minLength: 1, maxLength: 255 });

const TEXT_CHARS = 4_096;

/** Any text for people. A program that shows it has to make it harmless. */
export const Text = Type.String({ maxLength: TEXT_CHARS });

/** Cuts a text of another service, because clients refuse a response with a longer one. */
export const cutText = (text: string): string => text.slice(0, TEXT_CHARS).toWellFormed();

/** The name of an installation; by default its public origin. */
export const ServiceName = Type.String({
  pattern: '^[\\x21-\\x7e]{1,255}$',
  description: 'The name of this installation, the same at each of its addresses.',
  examples: ['https://baton.example'],
});

/** Scheme, host and port, as a browser spells them in `Origin`. */
export const Origin = Type.String({
  pattern: '^https?://[a-z0-9._:\\[\\]-]{1,255}$',
  examples: ['https://baton.example'],
});

/** The index of a file in its transfer. */
export const FileIndex = Type.Integer({ minimum: 0, maximum: LIMITS.filesPerTransfer - 1 });

/** The path for the bytes of a file. It must be a path of this service, not another address. */
export const RelayUrl = Type.String({
  pattern: '^/api/relay/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/(0|[1-9][0-9]{0,3})/(0|[1-9][0-9]{0,6})$',
  examples: ['/api/relay/019b76da-a800-7a3b-9f7e-2b1c4d5e6f70/0/1'],
});

/** Makes `T | null`, which JSON Schema spells as a union. */
export const orNull = <const T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** A device as other devices of its account refer to it. */
export const DeviceRef = Type.Object({ device_id: DeviceId, name: DeviceName, type: DeviceType });
export type DeviceRef = Static<typeof DeviceRef>;

/**
 * Returns the stored form of a device name, or null when the text is not one (CONTRACT.md, "Conventions"). It refuses `*`,
 * which addresses all devices.
 */
export function parseDeviceName(text: string): string | null {
  const name = text.trim();
  return /^[\x20-\x7e]{1,32}$/.test(name) && name !== '*' ? name : null;
}
