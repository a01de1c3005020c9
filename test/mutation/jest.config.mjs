import base from '../../jest.config.mjs';

/* One process for one mutant: the files in the order in which they are given, until the first failure. */
export default {
  ...base,
  rootDir: '../..',
  reporters: ['./test/mutation/first-failure.mjs'],
  testSequencer: './test/mutation/given-order.mjs',
  maxWorkers: 1,
  workerIdleMemoryLimit: undefined,
  bail: 1,
};
