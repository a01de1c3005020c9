import { useSignal } from '@preact/signals';
import { ArrowDownUp, Pause, Play } from 'lucide';
import { useEffect } from 'preact/hooks';
import { changes } from '../../engine/app.ts';
import { makePaced } from '../../engine/paced.ts';
import { movingIds, runningOf, shared } from '../../engine/shared-state.ts';
import type { FilesItem } from '../../history/database.ts';
import { texts } from '../../texts/texts.ts';
import { findPeer, useApp } from '../app-context.ts';
import { hrefOf } from '../navigation.ts';
import { Icon } from '../parts/icon.tsx';
import { attempt } from '../parts/notices.ts';
import { Empty, Pane, Waiting } from '../parts/parts.tsx';
import { FilesCard } from './files-row.tsx';
import { Moving } from './moving.tsx';
import { PreparingLines } from './preparing.tsx';

/** Returns all transfers that are not over: in the order in which they began, then the ones that wait, as they will leave. */
function useUnderWay(): readonly FilesItem[] | null {
  const { history, queue } = useApp();
  const items = useSignal<readonly FilesItem[] | null>(null);
  useEffect(() => {
    const read = makePaced(async () => {
      const [all, line] = await Promise.all([history.unfinished(), queue.all()]);
      const places = new Map(line.map(({ id }, at) => [id, at]));
      const placeOf = ({ id }: FilesItem) => places.get(id) ?? -1;
      items.value = all.sort((one, other) => placeOf(one) - placeOf(other) || one.at - other.at);
    });
    return changes.subscribe(() => void read().catch(() => {}));
  }, []);
  return items.value;
}

/** Pauses or resumes all running transfers. */
function PauseAll({ items }: { items: readonly FilesItem[] }) {
  const { tabs } = useApp();
  const { transfers } = texts.value;
  const running = items.filter(({ ref, state }) => state === 'active' && runningOf(ref).value !== null);
  if (running.length < 2) return null;
  const isMoving = running.some(({ ref }) => movingIds.value.has(ref));
  const all = () =>
    attempt(
      () => Promise.all(running.map(({ ref }) => tabs.ask(isMoving ? 'pause' : 'resume', ref))),
      texts.value.failed.transfer,
    );
  return (
    <div class="row start">
      <button type="button" class="button" onClick={all}>
        <Icon node={isMoving ? Pause : Play} size={18} /> {isMoving ? transfers.pauseAll : transfers.resumeAll}
      </button>
    </div>
  );
}

/** Shows all running transfers with all devices in one list. */
export function TransfersPane() {
  const items = useUnderWay();
  const { transfers } = texts.value;
  return (
    <Pane title={transfers.title}>
      <PreparingLines />
      {items === null && <Waiting />}
      {items?.length === 0 && shared.value.preparing.length === 0 && (
        <Empty node={ArrowDownUp} title={transfers.none} why={transfers.noneWhy} />
      )}
      {items !== null && items.length > 0 && (
        <div class="pane-body">
          <PauseAll items={items} />
          <ul class="stack">
            {items.map((item) => (
              <li key={item.id} class="stack transfer">
                <div class="transfer-head">
                  <a href={hrefOf('device', item.thread, item.id)}>
                    {item.isMine ? transfers.to : transfers.from} <bdi>{findPeer(item.thread)?.name ?? ''}</bdi>
                  </a>
                  <Moving item={item} items={items} />
                </div>
                <FilesCard item={item} />
              </li>
            ))}
          </ul>
        </div>
      )}
    </Pane>
  );
}
