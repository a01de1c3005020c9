import { signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { attempt } from './notices.ts';
import { Waiting } from './parts.tsx';

/** A pane that comes with the first wish to see it: not everybody who opens the app looks at it. */
export function later(load: () => Promise<ComponentType>): ComponentType {
  const loaded = signal<ComponentType | null>(null);
  return function Later() {
    const Loaded = loaded.value;
    useEffect(() => {
      if (loaded.peek() !== null) return;
      attempt(async () => {
        loaded.value = await load();
      });
    }, []);
    return Loaded === null ? <Waiting /> : <Loaded />;
  };
}
