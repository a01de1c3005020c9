import everyTest from '../../jest.config.mjs';

/** Used by `npm run test:browser`. Three files run at a time, because they wait more than they compute. */
export default {
  ...everyTest,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/browser/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  maxWorkers: 3,
};
