/** A window of this origin, as the worker sees it. */
export interface OpenWindow {
  url: string;
  visibilityState: DocumentVisibilityState;
  focused: boolean;
  focus(): Promise<OpenWindow>;
  postMessage(message: unknown): void;
}

/** Those with the app in them: it is one page, at the root of the scope. Other pages of the origin hear nothing. */
export function windowsOfApp<W extends Pick<OpenWindow, 'url'>>(windows: readonly W[], scope: string): W[] {
  const root = new URL(scope);
  return windows.filter(({ url }) => {
    const { origin, pathname } = new URL(url);
    return origin === root.origin && pathname === root.pathname;
  });
}

/** The one that somebody sees, before one that has to be fetched from the background. */
export function appWindow<W extends Pick<OpenWindow, 'visibilityState' | 'focused'>>(windows: readonly W[]) {
  return (
    windows.find(({ focused }) => focused) ??
    windows.find(({ visibilityState }) => visibilityState === 'visible') ??
    windows[0]
  );
}
