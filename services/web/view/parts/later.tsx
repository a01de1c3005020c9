import { signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { attempt } from './notices.ts';
import { Waiting } from './parts.tsx';

/** What comes with the first wish to see it: not everybody who opens the app looks at it. */
export function later<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  const loaded = signal<ComponentType<P> | null>(null);
  return function Later(props: P) {
    const Loaded = loaded.value;
    useEffect(() => {
      if (loaded.peek() !== null) return;
      attempt(async () => {
        loaded.value = await load();
      });
    }, []);
    return Loaded === null ? <Waiting /> : <Loaded {...props} />;
  };
}
