import swc from '@swc/jest';
import { PLANTS } from './plants.mjs';

/*
 * Compiles like the other tests, and plants the fault of APP_TEST_PLANT in one file on the way. Nothing on the disk
 * changes.
 */

const plant = PLANTS.find(({ name }) => name === process.env.APP_TEST_PLANT);
if (plant === undefined) throw new Error(`no such plant: ${process.env.APP_TEST_PLANT}`);

function planted(source, path) {
  if (!path.endsWith(plant.file)) return source;
  const changed = plant.changes.reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`${plant.file} does not have: ${from}`);
    return text.replaceAll(from, to);
  }, source);
  return changed;
}

export default {
  createTransformer(options) {
    const inner = swc.createTransformer(options);
    return {
      ...inner,
      getCacheKey: (source, path, more) => inner.getCacheKey(planted(source, path), path, more),
      process: (source, path, more) => inner.process(planted(source, path), path, more),
      processAsync: (source, path, more) => inner.processAsync(planted(source, path), path, more),
    };
  },
};
