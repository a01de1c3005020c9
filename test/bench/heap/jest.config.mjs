import everyTest from '../../../jest.config.mjs';

/** Used by `npm run bench:heap`. */
export default {
  ...everyTest,
  rootDir: '../../..',
  testMatch: ['<rootDir>/test/bench/heap/*.bench.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  maxWorkers: 1,
};
