import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { transform } from '@swc/core';

const OPTIONS = {
  jsc: { parser: { syntax: 'typescript' }, target: 'es2023' },
  module: { type: 'es6' },
  sourceMaps: 'inline',
};

/** A module hook of Node that strips the types of `.ts` files, with the settings of the tests. */
export async function load(url, context, nextLoad) {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return nextLoad(url, context);
  const filename = fileURLToPath(url);
  const { code } = await transform(await readFile(filename, 'utf8'), { ...OPTIONS, filename });
  return { format: 'module', shortCircuit: true, source: code };
}
