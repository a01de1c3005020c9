import everyTest from '../../../jest.config.mjs';

/** Used by `npm run bench:direct`. */
export default {
  ...everyTest,
  rootDir: '../../..',
  testMatch: ['<rootDir>/test/bench/direct/*.bench.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  maxWorkers: 1,
};
