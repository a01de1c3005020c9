import { signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { texts } from '../../texts/texts.ts';
import { notify } from './notices.ts';
import { Waiting } from './parts.tsx';

/** The pauses of retries. A replica of another version may get the request first, and does not have the file. */
const PAUSES_MS = [500, 1_000, 2_000];

type Later<P> = ((props: P) => preact.JSX.Element) & {
  /** Loads it before it is shown. Never rejects. */
  preload(): Promise<void>;
};

/** Makes a component that loads when it is first shown, because not every user opens it. `Meanwhile`: shown until then. */
export function later<P extends object>(
  load: () => Promise<ComponentType<P>>,
  Meanwhile: ComponentType = Waiting,
): Later<P> {
  const loaded = signal<ComponentType<P> | null>(null);
  async function tryToLoad(): Promise<boolean> {
    loaded.value ??= await load().catch(() => null);
    return loaded.value !== null;
  }
  async function loadPatiently(): Promise<void> {
    for (const pauseMs of PAUSES_MS) {
      if (await tryToLoad()) return;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    if (!(await tryToLoad())) notify(texts.value.app.notLoaded, true);
  }
  function Later(props: P) {
    const Loaded = loaded.value;
    useEffect(() => {
      if (loaded.peek() === null) void loadPatiently();
    }, []);
    return Loaded === null ? <Meanwhile /> : <Loaded {...props} />;
  }
  return Object.assign(Later, { preload: async () => void (await tryToLoad()) });
}
