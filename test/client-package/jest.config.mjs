import everyTest from '../../jest.config.mjs';

/** Run by `npm run test:client`: the packed library, installed in an empty folder. Two files at a time: they move big files. */
export default {
  ...everyTest,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/client-package/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  globalSetup: '<rootDir>/test/support/runner/build-client.mjs',
  maxWorkers: 2,
};
