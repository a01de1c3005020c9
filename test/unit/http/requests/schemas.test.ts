import { Ajv2020 } from 'ajv/dist/2020.js';
import {
  BrokerSessions,
  EndedSession,
  IssuedSession,
  VerifiedIdentity,
} from '../../../../shared/contract/modules/broker.ts';
import type { Route } from '../../../../shared/contract/vocabulary/route.ts';
import { ROUTES } from '../../../../shared/contract/routes.ts';
import { BatonError } from '../../../../shared/contract/errors.ts';
import { makeValidator } from '../../../../shared/service-kit/http/request/validation.ts';

/*
 * At its start a replica neither checks its schemas against the schema of schemas nor compiles them, so these tests do.
 */

const ajv = new Ajv2020();

const schemas = Object.entries<Route>(ROUTES).flatMap(([name, { params, query, body }]) =>
  Object.entries({ params, query, body })
    .filter(([, schema]) => schema !== null)
    .map(([part, schema]): [string, unknown] => [`the ${part} of ${name}`, schema]),
);

test.each([...schemas, ...Object.entries({ BrokerSessions, EndedSession, IssuedSession, VerifiedIdentity })])(
  '%s are described by a valid JSON schema',
  (_, schema) => {
    void ajv.validateSchema(schema as object);
    expect(ajv.errors ?? []).toEqual([]);
  },
);

test('a schema that is none is told here', () => {
  expect(ajv.validateSchema({ type: 'strnig' })).toBe(false);
});

test.each(Object.entries<Route>(ROUTES))(
  'the schemas of %s are compiled by the first request without a doubt',
  (_, route) => {
    const validator = makeValidator(route);
    const refused: unknown[] = [];
    for (const part of ['params', 'query', 'body'] as const) {
      try {
        validator[part]({});
      } catch (error) {
        refused.push(error);
      }
    }
    for (const error of refused) expect(error).toBeInstanceOf(BatonError);
  },
);
