import Type, { type Static } from 'typebox';
import { ERRORS, type ErrorCode } from '../errors.ts';

/** RFC 9457 problem details with Baton's stable `code`. */
export const Problem = Type.Object(
  {
    type: Type.String(),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String(),
    code: Type.Enum(Object.keys(ERRORS) as ErrorCode[]),
    request_id: Type.String(),
    errors: Type.Optional(Type.Array(Type.Object({ path: Type.String(), message: Type.String() }))),
  },
  { description: 'application/problem+json' },
);
export type Problem = Static<typeof Problem>;
