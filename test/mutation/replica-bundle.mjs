import { cpSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { rolldown } from 'rolldown';
import { ROOT } from '../../deploy/local/setup/tree.mjs';

const BUNDLE = 'dist/services/sync/main.cjs';

/** Returns whether replicas run this file from their bundle. */
export const isBundled = (file) => /^services\/sync\/.*\.ts$/.test(file);

/** Makes the bundle of a copy of the checkout from its sources. Types are not checked: mutants need not have any. */
export async function bundleReplica(root) {
  const bundle = join(root, BUNDLE);
  const made = await rolldown({
    input: join(root, 'services/sync/main.ts'),
    cwd: root,
    platform: 'node',
    logLevel: 'silent',
    plugins: [
      {
        name: 'addresses-of-the-build',
        transform(code, id) {
          if (!id.startsWith(join(root, '/')) || !code.includes('import.meta.url')) return null;
          const built = join(root, 'dist', relative(root, id)).replace(/\.ts$/, '.js');
          const url = `new URL('${relative(dirname(bundle), built)}', import.meta.url).href`;
          return { code: code.replaceAll('import.meta.url', url), map: null };
        },
      },
    ],
  });
  await made.write({ file: bundle, format: 'cjs', strict: true, codeSplitting: false });
  await made.close();
}

/** Puts the bundle of the build back. */
export const restoreBundle = (root) => cpSync(join(ROOT, BUNDLE), join(root, BUNDLE), { preserveTimestamps: true });
