import { isIP } from 'node:net';

/** The variables that curl and Node read for an address of each scheme. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  'https:': ['https_proxy', 'HTTPS_PROXY'],
  'http:': ['http_proxy', 'HTTP_PROXY'],
};

/** This machine, which is reached without a proxy. */
const OWN = /^(?:(?:.+\.)?localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** The oldest versions whose `fetch` takes a proxy from variables are 22.21 and 24.0. */
const knowsProxies = (version: string): boolean => {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major >= 24 || (major === 22 && minor >= 21);
};

/** Tells whether `NO_PROXY` names the host. An entry names a host, with or without a port, and all names that end with it. */
function isLeftOut(env: NodeJS.ProcessEnv, { hostname, port, protocol }: URL): boolean {
  const usedPort = port || (protocol === 'https:' ? '443' : '80');
  const entries = (env['no_proxy'] || env['NO_PROXY'] || '').toLowerCase().split(/[\s,]+/);
  return entries.filter(Boolean).some((entry) => {
    if (entry === '*') return true;
    const [, name = '', entryPort] = /^(.*?)(?::(\d+))?$/.exec(isIP(entry) === 6 ? `[${entry}]` : entry) ?? [];
    const ending = name.replace(/^\*?\./, '');
    const isNamed = hostname === ending || (isIP(hostname) === 0 && hostname.endsWith(`.${ending}`));
    return isNamed && (entryPort === undefined || entryPort === usedPort);
  });
}

let address: string | null = null;

/** Notes the address that the command calls. */
export const noteAddress = (url: string): void => void (address = url);

/**
 * Returns a sentence about a proxy that is set for the address and that Node does not use, as a user of other programs
 * expects; empty if there is none. Node asks for a variable of its own ("NODE_USE_ENV_PROXY=1" in its documentation).
 */
export function adviceOnProxy(env: NodeJS.ProcessEnv, version: string, url: string | null = address): string {
  if (url === null || !URL.canParse(url)) return '';
  const at = new URL(url);
  const name = NAMES[at.protocol]?.find((each) => (env[each] ?? '') !== '');
  const isAsked = env['NODE_USE_ENV_PROXY'] === '1' || /--use-env-proxy\b/.test(env['NODE_OPTIONS'] ?? '');
  if (name === undefined || (isAsked && knowsProxies(version)) || OWN.test(at.hostname) || isLeftOut(env, at))
    return '';
  const needs = knowsProxies(version) ? 'NODE_USE_ENV_PROXY=1' : 'NODE_USE_ENV_PROXY=1 and Node 22.21 or 24';
  return ` ${name} is set but not used: this needs ${needs}.`;
}
