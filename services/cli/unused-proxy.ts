const NAMES = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'];

/** The oldest versions whose `fetch` takes a proxy from variables are 22.21 and 24.0. */
const knowsProxies = (version: string): boolean => {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major >= 24 || (major === 22 && minor >= 21);
};

/**
 * Returns a sentence about a proxy that is set and that Node does not use, as a user of other programs expects; empty if
 * there is none. Node asks for a variable of its own ("NODE_USE_ENV_PROXY=1" in its documentation).
 */
export function adviceOnProxy(env: NodeJS.ProcessEnv, version: string): string {
  const name = NAMES.find((each) => (env[each] ?? '') !== '');
  const isAsked = env['NODE_USE_ENV_PROXY'] === '1' || /--use-env-proxy\b/.test(env['NODE_OPTIONS'] ?? '');
  if (name === undefined || (isAsked && knowsProxies(version))) return '';
  const needs = knowsProxies(version) ? 'NODE_USE_ENV_PROXY=1' : 'NODE_USE_ENV_PROXY=1 and Node 22.21 or 24';
  return ` ${name} is set but not used: this needs ${needs}.`;
}
