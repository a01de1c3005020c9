import type { ClipboardEntry } from '../../../shared/contract/modules/clipboard.ts';
import { BatonError } from '../../../shared/contract/errors.ts';
import { parseDeviceName } from '../../../shared/contract/vocabulary/fields.ts';
import { LIMITS } from '../../../shared/contract/limits.ts';
import { checkSealed } from '../../../shared/service-kit/sealed-text.ts';
import type { Caller } from '../identity/caller.ts';
import type { ClipboardStore } from './store.ts';

const EMPTY: ClipboardEntry = {
  content: '',
  content_type: null,
  source_device_id: null,
  source_device_name: null,
  updated_at: null,
  expires_at: null,
};

/** C0 controls except tab, line feed and carriage return. Without them the rest is plain text (contract, "Clipboard"). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f]+/g;

const SEALED = {
  field: 'sealed',
  most: LIMITS.sealedClipboardBytes,
  tooLong: { code: 'clipboard_too_large' },
} as const;

interface Write {
  content: string;
  /** Replaces the content. */
  sealed: string | null;
  contentType: string;
  /** Header X-Device-Name, as the client sent it. */
  deviceName: string | undefined;
}

interface ClipboardParts {
  store: ClipboardStore;
  onWritten: () => void;
}

/** Makes the clipboard: one plain text per account, which disappears after its retention. */
export function makeClipboard({ store, onWritten }: ClipboardParts) {
  return {
    get: async (caller: Caller): Promise<ClipboardEntry> => (await store.find(caller.account)) ?? EMPTY,

    /** Sets the entry. Throws `clipboard_too_large`, `invalid_request`, `unsupported_media_type`, `invalid_device_name`. */
    async set(caller: Caller, { content, sealed, contentType, deviceName }: Write): Promise<ClipboardEntry> {
      if (contentType !== 'text/plain')
        throw new BatonError('unsupported_media_type', 'The clipboard holds text/plain');
      if (sealed !== null) checkSealed(sealed, SEALED);
      if (Buffer.byteLength(content) > LIMITS.clipboardBytes)
        throw new BatonError('clipboard_too_large', `The clipboard holds at most ${LIMITS.clipboardBytes} bytes`);
      const given = deviceName === undefined ? '' : parseDeviceName(deviceName);
      if (given === null) throw new BatonError('invalid_device_name');
      const shownName = given || (caller.deviceId === null ? caller.name : '');
      const plain = content.replace(CONTROLS, '');
      const { name, updatedAtMs, expiresAtMs } = await store.set(caller, { content: plain, sealed, shownName });
      onWritten();
      return {
        content: plain,
        ...(sealed !== null && { sealed }),
        content_type: 'text/plain',
        source_device_id: caller.deviceId,
        source_device_name: name,
        updated_at: updatedAtMs,
        expires_at: expiresAtMs,
      };
    },

    clear: (caller: Caller) => store.clear(caller.account),

    /** Clears an entry whose retention is over. The sweeper of due jobs calls it. */
    expire: (account: string) => store.expire(account),
  };
}

export type Clipboard = ReturnType<typeof makeClipboard>;
