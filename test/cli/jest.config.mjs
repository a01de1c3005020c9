import everyTest from '../../jest.config.mjs';

/**
 * Used by `npm run test:cli`, with the built program as people start it. Two files run at a time, because they move big
 * files.
 */
export default {
  ...everyTest,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/cli/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  maxWorkers: 2,
};
