import { randomBytes } from 'node:crypto';
import type { DeviceType } from '../../shared/contract/vocabulary/fields.ts';
import { type Client, makeClient } from '../../shared/client/http/client.ts';
import { type Recorder, recordStream } from './stream-recorder.ts';

interface DeviceOptions {
  user: string;
  /** Also the device's name. */
  name?: string;
  type?: DeviceType;
  scope?: 'full' | 'guest';
}

/** A device of a development user: its headers, its calls and its streams, on any replica. */
export interface TestDevice {
  readonly user: string;
  readonly id: string;
  readonly name: string;
  readonly headers: Record<string, string>;
  on(replica: { url: string }): Client;
  /** Opens a stream that records everything. It asks for the URL again at each reconnect. */
  listen(replica: { url: string }, lastEventId?: string): Recorder;
}

export const randomUser = (): string => `user-${randomBytes(6).toString('hex')}`;

export function makeDevice({ user, name = 'Laptop', type = 'linux', scope = 'full' }: DeviceOptions): TestDevice {
  const id = randomBytes(9).toString('base64url');
  const headers = {
    'X-Dev-User': user,
    'X-Dev-Device': id,
    'X-Dev-Name': name,
    'X-Dev-Type': type,
    'X-Dev-Scope': scope,
  };
  return {
    user,
    id,
    name,
    headers,
    on: ({ url }) => makeClient({ baseUrl: url, headers: () => headers }),
    listen: (replica, lastEventId) =>
      recordStream({
        baseUrl: () => replica.url,
        headers: () => headers,
        ...(lastEventId !== undefined && { lastEventId }),
      }),
  };
}
