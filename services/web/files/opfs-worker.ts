/*
 * Writes files that are received into the private file system of the origin: the one store that every browser has, takes what
 * is larger than memory, and has after a reload what was written before it. The handles for that exist in workers alone.
 */
interface SyncHandle {
  getSize(): number;
  read(into: Uint8Array, options: { at: number }): number;
  write(bytes: Uint8Array, options: { at: number }): number;
  flush(): void;
  close(): void;
}

export type FileRequest = { turn: number } & (
  | { act: 'open'; file: number; path: readonly string[] }
  | { act: 'write'; file: number; at: number; bytes: Uint8Array }
  | { act: 'read'; file: number; at: number; length: number }
  | { act: 'close'; file: number }
);
export type FileAnswer = { turn: number } & ({ value: unknown } | { error: string });

const scope = self as unknown as {
  postMessage(message: FileAnswer, transfer: Transferable[]): void;
  addEventListener(name: 'message', listener: (event: MessageEvent<FileRequest>) => void): void;
};

const open = new Map<number, SyncHandle>();

async function openFile(path: readonly string[]): Promise<SyncHandle> {
  let folder = await navigator.storage.getDirectory();
  for (const part of path.slice(0, -1)) folder = await folder.getDirectoryHandle(part, { create: true });
  const handle = await folder.getFileHandle(path.at(-1) ?? '', { create: true });
  return (handle as unknown as { createSyncAccessHandle(): Promise<SyncHandle> }).createSyncAccessHandle();
}

function handleOf(file: number): SyncHandle {
  const handle = open.get(file);
  if (handle === undefined) throw new Error('The file is closed');
  return handle;
}

function writeAll(handle: SyncHandle, bytes: Uint8Array, at: number): void {
  for (let done = 0; done < bytes.length; ) {
    const written = handle.write(bytes.subarray(done), { at: at + done });
    if (written <= 0) throw new Error('There is no room left');
    done += written;
  }
}

async function perform(request: FileRequest): Promise<unknown> {
  if (request.act === 'open') {
    const handle = await openFile(request.path);
    open.set(request.file, handle);
    return handle.getSize();
  }
  const handle = handleOf(request.file);
  if (request.act === 'write') {
    writeAll(handle, request.bytes, request.at);
    return request.bytes;
  }
  if (request.act === 'read') {
    const bytes = new Uint8Array(request.length);
    return bytes.subarray(0, handle.read(bytes, { at: request.at }));
  }
  handle.flush();
  handle.close();
  open.delete(request.file);
  return null;
}

scope.addEventListener('message', ({ data }) => {
  perform(data).then(
    (value) => {
      const moved = value instanceof Uint8Array ? [value.buffer as ArrayBuffer] : [];
      scope.postMessage({ turn: data.turn, value }, moved);
    },
    (error: unknown) =>
      scope.postMessage({ turn: data.turn, error: error instanceof Error ? error.message : String(error) }, []),
  );
});
