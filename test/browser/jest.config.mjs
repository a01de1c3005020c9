import everyTest from '../../jest.config.mjs';

/** Run by `npm run test:browser`. One file at a time: two pages and two replicas are enough for one machine. */
export default {
  ...everyTest,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/browser/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  maxWorkers: 1,
};
