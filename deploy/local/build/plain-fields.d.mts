/** Whether the module at this path is the decoder of the store's client library. */
export function isDecoder(path: string): boolean;
/** The text of that module with fields in place of WeakMaps; throws when there is nothing to replace. */
export function withPlainFields(code: string): string;
