import { useSignal } from '@preact/signals';
import { MousePointerClick } from 'lucide';
import { useEffect } from 'preact/hooks';
import { changes } from '../engine/app.ts';
import { shared } from '../engine/shared-state.ts';
import { texts } from '../texts/texts.ts';
import { useApp } from './app-context.ts';
import { goInstead } from './navigation.ts';
import { Empty, Waiting } from './parts/parts.tsx';

/** What is new comes with the stream, so the service is asked only about an item that is not here by then. */
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
  if (!isGone.value) return <Waiting />;
  const { app } = texts.value;
  return (
    <Empty isPage node={MousePointerClick} title={app.nothingHere}>
      <a class="button" href="#/">
        {app.toDevices}
      </a>
    </Empty>
  );
}
