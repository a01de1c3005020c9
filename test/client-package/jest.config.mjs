import everyTest from '../../jest.config.mjs';

/**
 * `npm run test:client` runs these tests of the packed library, installed in an empty folder: two at a time, because they
 * move big files.
 */
export default {
  ...everyTest,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/client-package/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  globalSetup: '<rootDir>/test/support/runner/build-client.mjs',
  maxWorkers: 2,
};
