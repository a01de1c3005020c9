import type { Key, Values } from './settings.ts';

type Chosen = Pick<Values, 'BROKER_TOKENS' | 'BROKER_LOGIN_APP' | 'BROKER_FORWARD_AUTH_APP'>;
type Report = (key: Key, message: string) => void;

interface Apps {
  readonly login: string;
  readonly forwardAuth: string;
}

/** The default name of the service at a broker (`APP_BROKER_APP`). */
const USUAL_APP = 'baton';

const namesOf = ({ BROKER_TOKENS: tokens }: Chosen): string[] => [...new Set(tokens?.map(({ app }) => app))];

/** Returns the edge's one app. If the edge let in all apps, each app's token would open all accounts of all apps. */
function forwardAuthApp(values: Chosen): string | null {
  const { BROKER_FORWARD_AUTH_APP: chosen, BROKER_LOGIN_APP: login } = values;
  const names = namesOf(values);
  const [only] = names.length === 1 ? names : [];
  return chosen ?? login ?? only ?? names.find((name) => name === USUAL_APP) ?? null;
}

/** Reports apps that have no token, and an edge whose app cannot be determined. */
export function checkApps(values: Chosen, given: (key: Key) => boolean, report: Report): void {
  const names = namesOf(values);
  if (names.length === 0) return;
  for (const key of ['BROKER_LOGIN_APP', 'BROKER_FORWARD_AUTH_APP'] as const) {
    const app = values[key];
    if (app !== null && !names.includes(app)) report(key, 'must be an app of BROKER_TOKENS');
  }
  if (forwardAuthApp(values) === null && !given('BROKER_LOGIN_APP') && !given('BROKER_FORWARD_AUTH_APP')) {
    report('BROKER_FORWARD_AUTH_APP', `is required with several apps in BROKER_TOKENS: ${names.join(', ')}`);
  }
}

/** Returns the apps. Call it only after `checkApps` reported nothing. */
export function appsOf(values: Chosen): Apps {
  const forwardAuth = forwardAuthApp(values) ?? '';
  return { forwardAuth, login: values.BROKER_LOGIN_APP ?? forwardAuth };
}

export const appWarnings = ({ login, forwardAuth }: Apps): string[] =>
  login === forwardAuth
    ? []
    : [`a login makes sessions of ${login}, but /forward-auth lets in only those of ${forwardAuth}`];
