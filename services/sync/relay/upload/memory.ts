const { port1: closedPort } = new MessageChannel();
closedPort.close();

/**
 * Frees the memory of a part of a request's body, which nobody may read from then on: a transfer to a closed port takes it
 * away and keeps it nowhere. Left to the garbage collector, the parts count against the limit of the heap, as the image
 * sets it, long before it collects them. Without a limit it makes no difference (figures: DECISIONS.md, 2026-11-23).
 */
export function freeMemory(part: Buffer): void {
  // Else others share it.
  if (part.length === part.buffer.byteLength) closedPort.postMessage(null, [part.buffer as ArrayBuffer]);
}
