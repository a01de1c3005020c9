import everyTest from '../../../jest.config.mjs';

/** Used by `npm run bench:sealed`. */
export default {
  ...everyTest,
  rootDir: '../../..',
  testMatch: ['<rootDir>/test/bench/sealed/*.bench.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  maxWorkers: 1,
};
