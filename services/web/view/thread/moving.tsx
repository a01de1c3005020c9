import { ChevronDown, ChevronUp } from 'lucide';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { runningOf } from '../../engine/shared-state.ts';
import type { FilesItem } from '../../history/database.ts';
import { laneOf } from '../../outbox/file-lanes.ts';
import { texts } from '../../texts/texts.ts';
import { useApp } from '../app-context.ts';
import { wordsOf } from '../item-words.ts';
import { Icon } from '../parts/icon.tsx';
import { isolated } from '../parts/isolated.ts';
import { announcement, attempt } from '../parts/notices.ts';

/** Returns the items that wait for each other with this one, in the order in which they leave. */
function lineOf(item: FilesItem, items: readonly FilesItem[]): FilesItem[] {
  const waits = (one: FilesItem) => one.state === 'preparing' && one.ref === '' && runningOf(one.id).value === null;
  return waits(item) ? items.filter((one) => waits(one) && laneOf(one) === laneOf(item)) : [];
}

/** The buttons that move an item that waits past the one before or after it. `items`: all, in their order. */
export function Moving({ item, items }: { item: FilesItem; items: readonly FilesItem[] }) {
  const { queue } = useApp();
  const pressed = useRef<HTMLButtonElement | null>(null);
  const { transfers } = texts.value;
  const line = lineOf(item, items);
  const at = line.indexOf(item);
  // An element that is moved in the page loses the focus.
  useLayoutEffect(() => {
    pressed.current?.focus();
    pressed.current = null;
  }, [at]);
  if (line.length < 2) return null;
  const move = (by: -1 | 1) => (event: { currentTarget: HTMLButtonElement }) => {
    const other = line[at + by];
    if (other === undefined) return;
    pressed.current = event.currentTarget;
    attempt(async () => {
      await queue.swap(item.id, other.id);
      announcement.value = transfers.place(isolated(wordsOf(item)), at + by + 1, line.length);
    }, texts.value.failed.transfer);
  };
  const buttons = [
    [-1, ChevronUp, transfers.sooner],
    [1, ChevronDown, transfers.later],
  ] as const;
  return (
    <span class="moving">
      {buttons.map(([by, node, label]) => (
        <button
          key={by}
          type="button"
          class="icon-button"
          aria-label={`${label}: ${wordsOf(item)}`}
          title={label}
          // A button without effect keeps the focus.
          aria-disabled={line[at + by] === undefined}
          onClick={move(by)}
        >
          <Icon node={node} />
        </button>
      ))}
    </span>
  );
}
