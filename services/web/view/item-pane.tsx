import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { changes } from '../engine/app.ts';
import { shared } from '../engine/shared-state.ts';
import { useApp } from './app-context.ts';
import { goInstead } from './navigation.ts';
import { Nowhere } from './nowhere.tsx';
import { Waiting } from './parts/parts.tsx';

/** New items come with the stream. After this time the service is asked about one that is not here yet. */
const COMES_WITHIN_MS = 3_000;

/** Leads from a notification to the thread of its item, when that has arrived, or says that there is none. */
export function ItemPane({ id }: { id: string }) {
  const { history, tabs } = useApp();
  const change = changes.value;
  const isOnline = shared.value.connection === 'online';
  const isGone = useSignal(false);
  useEffect(() => {
    void history.byRef(id).then((item) => {
      if (item !== undefined) goInstead('device', item.thread, item.id);
    });
  }, [id, change]);
  useEffect(() => {
    isGone.value = false;
    if (!isOnline) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isLeft = false;
    async function ask(): Promise<void> {
      const isThere = await tabs.ask('find', id).catch(() => null);
      if (isLeft) return;
      if (isThere === null) later();
      else isGone.value = isThere !== true;
    }
    function later(): void {
      timer = setTimeout(() => void ask(), COMES_WITHIN_MS);
    }
    later();
    return () => {
      isLeft = true;
      clearTimeout(timer);
    };
  }, [id, isOnline]);
  return isGone.value ? <Nowhere /> : <Waiting />;
}
