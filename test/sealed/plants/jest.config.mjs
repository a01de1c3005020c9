import base from '../../../jest.config.mjs';

/* The hostile run with a fault in the client. */
const [pattern, [, options]] = Object.entries(base.transform)[0];

export default {
  ...base,
  rootDir: '../../..',
  testPathIgnorePatterns: ['/node_modules/'],
  transform: { [pattern]: ['<rootDir>/test/sealed/plants/planting.mjs', options] },
};
