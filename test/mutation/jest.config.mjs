import base from '../../jest.config.mjs';

/* One process tests one mutant: it runs the files in the given order, until the first failure. */
export default {
  ...base,
  rootDir: '../..',
  reporters: ['./test/mutation/first-failure.mjs'],
  testSequencer: './test/mutation/given-order.mjs',
  maxWorkers: 1,
  workerIdleMemoryLimit: undefined,
  bail: 1,
};
