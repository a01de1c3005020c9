/** A window of this origin, as the worker sees it. */
export interface OpenWindow {
  url: string;
  visibilityState: DocumentVisibilityState;
  focused: boolean;
  focus(): Promise<OpenWindow>;
  postMessage(message: unknown): void;
}

/** Returns the windows that show the app, a page at the root of the scope. Other pages of the origin get no messages. */
export function windowsOfApp<W extends Pick<OpenWindow, 'url'>>(windows: readonly W[], scope: string): W[] {
  const root = new URL(scope);
  return windows.filter(({ url }) => {
    const { origin, pathname } = new URL(url);
    return origin === root.origin && pathname === root.pathname;
  });
}

/** Tells whether the user looks at a window, so that nobody has to tell them what it shows. */
export const isLookedAt = ({ visibilityState, focused }: Pick<OpenWindow, 'visibilityState' | 'focused'>): boolean =>
  visibilityState === 'visible' && focused;

/** Returns the window that the user sees, or otherwise one in the background. */
export function appWindow<W extends Pick<OpenWindow, 'visibilityState' | 'focused'>>(windows: readonly W[]) {
  return (
    windows.find(({ focused }) => focused) ??
    windows.find(({ visibilityState }) => visibilityState === 'visible') ??
    windows[0]
  );
}
