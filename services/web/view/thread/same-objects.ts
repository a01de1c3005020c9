import type { Item } from '../../history/database.ts';

const isSame = (one: Item, other: Item | undefined): other is Item =>
  other !== undefined &&
  JSON.stringify(one) === JSON.stringify(other) &&
  (one.kind === 'message' || other.kind === 'message' || one.previews?.length === other.previews?.length);

/** Keeps unchanged items as the same objects, so that they are not drawn again. */
export function sameObjects(items: readonly Item[], before: readonly Item[]): readonly Item[] {
  const known = new Map(before.map((item) => [item.id, item]));
  return items.map((item) => {
    const kept = known.get(item.id);
    return isSame(item, kept) ? kept : item;
  });
}
