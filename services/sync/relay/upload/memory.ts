/**
 * Frees the memory of a part of a request's body, which nobody may read from then on. Left to the garbage collector, the
 * parts count against the heap of the image, and the sending replica takes 1.7 to 2.5 times the CPU. Node 20, which has no
 * `transfer`, leaves them there; it is not in the image (services/decisions, 16).
 */
export function freeMemory(part: Buffer): void {
  // Else others share it.
  if (part.length === part.buffer.byteLength) (part.buffer as ArrayBuffer).transfer?.(0);
}
