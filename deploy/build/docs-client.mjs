import { register } from 'node:module';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isStarted } from '../local/setup/command.mjs';
import { installPackages, requireNode } from '../local/setup/setup.mjs';
import { ROOT } from '../local/setup/tree.mjs';

/**
 * Makes `dist/client-docs`, the reference of `@baton/client`, from its types and their comments. An export without
 * documentation is a failure, and so is a link that leads nowhere.
 */
const OUT = join(ROOT, 'dist/client-docs');
const ENTRIES = ['index', 'node', 'peer-to-peer', 'sealed', 'sealing'];

/** TypeDoc needs the compiler's programming interface, which TypeScript 7 lacks. Version 6 reads the same language. */
const HOOK = `export const resolve = (name, context, next) => next(name === 'typescript' ? 'typescript-6' : name, context);`;

/** Writes a project with the entries only, so that TypeDoc does not read the rest of the repository. */
function writeProject(folder) {
  const files = ENTRIES.map((name) => join(ROOT, `shared/client/${name}.ts`));
  const compilerOptions = { rootDir: ROOT, types: ['node'], typeRoots: [join(ROOT, 'node_modules/@types')] };
  const project = { extends: join(ROOT, 'tsconfig.json'), compilerOptions, files, include: [] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(project));
  return { entryPoints: files, tsconfig: join(folder, 'tsconfig.json') };
}

/** Makes the reference. False: an entry is undocumented or wrong, and the output says which. */
export async function makeDocs() {
  mkdirSync(join(ROOT, 'dist'), { recursive: true });
  const folder = mkdtempSync(join(ROOT, 'dist/docs-'));
  try {
    return await convert(writeProject(folder));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function convert(project) {
  register(`data:text/javascript,${encodeURIComponent(HOOK)}`);
  const { Application, LogLevel } = await import('typedoc');
  const app = await Application.bootstrap({
    ...project,
    name: '@baton/client',
    // Another gate checks the types.
    skipErrorChecking: true,
    readme: join(ROOT, 'shared/client/README.md'),
    out: OUT,
    logLevel: LogLevel.Warn,
    githubPages: false,
    disableSources: true,
    excludeExternals: true,
    validation: { notExported: true, invalidLink: true, notDocumented: true },
    requiredToBeDocumented: ['Class', 'Enum', 'Function', 'Interface', 'Method', 'TypeAlias', 'Variable'],
    treatWarningsAsErrors: true,
    treatValidationWarningsAsErrors: true,
  });
  const found = await app.convert();
  if (found === undefined || app.logger.hasErrors() || app.logger.hasWarnings()) return false;
  app.validate(found);
  if (app.logger.hasErrors() || app.logger.hasWarnings()) return false;
  rmSync(OUT, { recursive: true, force: true });
  await app.generateOutputs(found);
  return !app.logger.hasErrors() && !app.logger.hasWarnings();
}

if (isStarted(import.meta.url)) {
  requireNode();
  installPackages();
  if (await makeDocs()) process.stdout.write(`${OUT}/index.html\n`);
  else process.exitCode = 1;
}
