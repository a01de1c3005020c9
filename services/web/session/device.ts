/** What this browser is, in words of its own: what people call it before they have given it a name. */
const SYSTEMS: readonly [RegExp, string][] = [
  [/iPhone/, 'iPhone'],
  [/iPad/, 'iPad'],
  [/Android/, 'Android'],
  [/CrOS/, 'Chromebook'],
  [/Windows/, 'Windows'],
  [/Mac OS X|Macintosh/, 'Mac'],
  [/Linux/, 'Linux'],
];
const BROWSERS: readonly [RegExp, string][] = [
  [/Edg\//, 'Edge'],
  [/Firefox|FxiOS/, 'Firefox'],
  [/OPR\//, 'Opera'],
  [/Chrome|CriOS|Chromium/, 'Chrome'],
  [/Safari/, 'Safari'],
];

const firstIn = (table: readonly [RegExp, string][], text: string): string | undefined =>
  table.find(([pattern]) => pattern.test(text))?.[1];

/** "Android 14; Pixel 8)": the model, as older browsers and Samsung's say it. Chromium writes "K" for every model. */
const modelIn = (userAgent: string): string =>
  /Android [\d.]+; ([^;)]+?)(?: Build\/[^;)]*)?\)/.exec(userAgent)?.[1] ?? '';

const isModel = (model: string): boolean => model.length > 1 && !/^(wv|rv:|Mobile|Tablet)/.test(model);

/** A telephone is one thing to its owner; a computer has several browsers. */
function nameFrom(userAgent: string, model: string): string {
  if (isModel(model)) return model;
  const [browser, system] = [firstIn(BROWSERS, userAgent), firstIn(SYSTEMS, userAgent)];
  if (system === 'iPhone' || system === 'iPad') return system;
  return [browser, system].filter((word) => word !== undefined).join(' on ') || 'Browser';
}

/** The part of User-Agent Client Hints that names the model (https://wicg.github.io/ua-client-hints/). */
interface ClientHints {
  getHighEntropyValues?: (hints: string[]) => Promise<{ model?: string }>;
}
type HintingNavigator = Pick<Navigator, 'userAgent'> & { userAgentData?: ClientHints };

/** What can be said at once. */
export const proposedName = ({ userAgent }: HintingNavigator = navigator): string =>
  nameFrom(userAgent, modelIn(userAgent));

/** The same with the model, where the browser tells it when it is asked. Never rejects. */
export async function betterName(of: HintingNavigator = navigator): Promise<string> {
  try {
    const hints = await of.userAgentData?.getHighEntropyValues?.(['model']);
    return nameFrom(of.userAgent, hints?.model || modelIn(of.userAgent));
  } catch {
    return proposedName(of);
  }
}
