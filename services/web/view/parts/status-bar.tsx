import type { ComponentChildren } from 'preact';

/** A line at the top of the app. A screen reader says it when its text changes. */
export function StatusBar({ isShown, children }: { isShown: boolean; children: ComponentChildren }) {
  return (
    <div role="status" class={`connection ${isShown ? 'is-shown' : ''}`}>
      {children}
    </div>
  );
}
