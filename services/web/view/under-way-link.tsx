import { useSignal } from '@preact/signals';
import { ArrowDownUp } from 'lucide';
import { useEffect } from 'preact/hooks';
import { changes } from '../engine/app.ts';
import { makePaced } from '../engine/paced.ts';
import { runningIds } from '../engine/shared-state.ts';
import { texts } from '../texts/texts.ts';
import { useApp } from './app-context.ts';
import { hrefOf, place } from './navigation.ts';
import { Icon } from './parts/icon.tsx';

/** Leads to all transfers, as long as one runs, is paused, or waits to be sent. */
export function UnderWayLink() {
  const { queue } = useApp();
  const waiting = useSignal<readonly string[]>([]);
  useEffect(() => {
    const read = makePaced(async () => {
      waiting.value = (await queue.all()).filter(({ kind }) => kind === 'files').map(({ id }) => id);
    });
    return changes.subscribe(() => void read().catch(() => {}));
  }, []);
  const count = new Set([...runningIds.value, ...waiting.value]).size;
  if (count === 0) return null;
  const isHere = place.value.name === 'transfers';
  return (
    <a class="under-way" href={hrefOf('transfers')} {...(isHere && { 'aria-current': 'page' as const })}>
      <Icon node={ArrowDownUp} size={16} /> {texts.value.transfers.moving(count)}
    </a>
  );
}
