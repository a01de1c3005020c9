/*
 * The one policy of the app, if a browser has Trusted Types: addresses of workers, which are two files of our own. Nothing
 * else becomes code, and no text becomes HTML.
 */
interface ScriptPolicy {
  createScriptURL(url: string): string;
}

declare global {
  interface Window {
    trustedTypes?: {
      createPolicy(name: string, rules: { createScriptURL: (url: string) => string }): ScriptPolicy;
    };
  }
}

const isOurs = (url: string): boolean => /^\/(sw\.js|assets\/[\w.-]+\.js)$/.test(url);

function ownScript(url: string): string {
  if (!isOurs(url)) throw new TypeError('Not a script of this app');
  return url;
}

const policy: ScriptPolicy = window.trustedTypes?.createPolicy('baton', { createScriptURL: ownScript }) ?? {
  createScriptURL: ownScript,
};

/** For `Worker` and `register`. */
export const scriptUrl = (url: string): string => policy.createScriptURL(url);
