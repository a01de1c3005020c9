import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { ROOT } from '../local/setup/tree.mjs';

/*
 * Writes the files of the API reference to dist/reference: Swagger UI from its package, Baton's own script and style, and the
 * licence. Each name holds the hash of the content: names.json says which file has which name, and files.json lists them with
 * the endings of their compressed copies.
 */
const FROM_PACKAGE = ['swagger-ui-bundle.js', 'swagger-ui.css'];
const OWN = ['start.js', 'page.css'];
/** The texts that the licences of the package and of its bundle require to be passed on. */
const LICENCES = ['LICENSE', 'NOTICE', 'swagger-ui-bundle.js.LICENSE.txt'];
const PICTURES = { 'image/svg+xml': '.svg', 'image/png': '.png', 'image/jpeg': '.jpg' };

const PACKAGE = join(ROOT, 'node_modules/swagger-ui-dist');
const SOURCE = join(ROOT, 'services/sync/http/documents/reference');
const OUT = join(ROOT, 'dist/reference');

export const REFERENCE_SOURCES = OWN.map((name) => `services/sync/http/documents/reference/${name}`);
export const REFERENCE_MANIFEST = 'reference/files.json';

/** Turns each picture of a style into a file, because the content policy allows no `data:`. */
function takePictures(style, write) {
  return style.replace(/url\((?:"(data:(?:[^"\\]|\\.)+)"|(data:[^)"]+))\)/g, (_, quoted, plain) => {
    const url = plain ?? quoted.replace(/\\(.)/g, '$1');
    const [, type, base64, payload] = /^data:([^;,]+)[^,]*?(;base64)?,([^]*)$/.exec(url);
    const bytes = base64 ? Buffer.from(payload, 'base64') : Buffer.from(decodeURIComponent(payload));
    return `url(${write(`picture${PICTURES[type]}`, bytes)})`;
  });
}

/** Writes all files again. */
export function buildReference() {
  rmSync(OUT, { recursive: true, force: true });
  mkdirSync(OUT, { recursive: true });
  const [names, files] = [{}, {}];
  const write = (name, content) => {
    const bytes = Buffer.from(content);
    const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 12);
    const [stem, extension] = [name.slice(0, -extname(name).length), extname(name)];
    const served = `${stem}-${hash}${extension}`;
    writeFileSync(join(OUT, served), bytes);
    const isPicture = name.startsWith('picture');
    names[name] = served;
    files[served] = isPicture ? [] : ['.gz'];
    if (!isPicture) writeFileSync(join(OUT, `${served}.gz`), gzipSync(bytes, { level: 9 }));
    return served;
  };
  const read = (folder, name) => readFileSync(join(folder, name), 'utf8');
  // Source maps are left out.
  const readPackage = (name) => read(PACKAGE, name).replace(/\n\/[/*]# sourceMappingURL=[^\n]*\s*$/, '\n');
  for (const name of FROM_PACKAGE) {
    const text = readPackage(name);
    write(name, name.endsWith('.css') ? takePictures(text, write) : text);
  }
  if (readdirSync(OUT).some((name) => name.endsWith('.css') && read(OUT, name).includes('data:'))) {
    throw new Error('A style of swagger-ui-dist has a picture in it that was not taken out');
  }
  for (const name of OWN) write(name, read(SOURCE, name));
  write('license.txt', LICENCES.map((name) => read(PACKAGE, name).trim()).join('\n\n\n'));
  writeFileSync(join(OUT, 'names.json'), JSON.stringify(names));
  writeFileSync(join(ROOT, 'dist', REFERENCE_MANIFEST), JSON.stringify(files));
}
