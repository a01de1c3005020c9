/** The systems of browsers, for the name that this browser proposes before the user gives it one. */
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

/**
 * Returns the model from a text such as "Android 14; Pixel 8)", which older browsers and Samsung's have. Chromium writes "K"
 * for every model.
 */
const modelIn = (userAgent: string): string =>
  /Android [\d.]+; ([^;)]+?)(?: Build\/[^;)]*)?\)/.exec(userAgent)?.[1] ?? '';

const isModel = (model: string): boolean => model.length > 1 && !/^(wv|rv:|Mobile|Tablet)/.test(model);

/** Makes a name: of the model for a telephone, of browser and system for a computer, which has several browsers. */
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

/** Returns the name that is known at once. */
export const proposedName = ({ userAgent }: HintingNavigator = navigator): string =>
  nameFrom(userAgent, modelIn(userAgent));

/** Returns the name with the model, if the browser tells the model on request. Never rejects. */
export async function betterName(of: HintingNavigator = navigator): Promise<string> {
  try {
    const hints = await of.userAgentData?.getHighEntropyValues?.(['model']);
    return nameFrom(of.userAgent, hints?.model || modelIn(of.userAgent));
  } catch {
    return proposedName(of);
  }
}
