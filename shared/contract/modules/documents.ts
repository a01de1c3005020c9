import Type from 'typebox';
import { route } from '../vocabulary/route.ts';

/** Routes that describe the service itself. All public. */
export const documentRoutes = {
  getOpenApi: route({
    method: 'GET',
    path: '/api/openapi.json',
    summary: 'This contract as OpenAPI 3.1',
    identity: 'public',
    answers: { 200: Type.Object({ openapi: Type.String() }) },
  }),
  getDocs: route({
    method: 'GET',
    path: '/api/docs',
    summary: 'This contract as a readable page',
    identity: 'public',
    answers: { 200: 'text/html' },
  }),
  getReferenceFile: route({
    method: 'GET',
    path: '/reference/{file}',
    summary: 'A script, style or picture of that page, under a name that changes with what is in it',
    identity: 'public',
    params: Type.Object({ file: Type.String({ pattern: '^[a-z0-9.-]{1,80}$', examples: ['start-0a1b2c3d4e5f.js'] }) }),
    notFound: 'The page has no such file',
    answers: { 200: '*/*' },
    answerHeaders: { 200: ['Cache-Control'] },
  }),
  getHome: route({
    method: 'GET',
    path: '/',
    summary: 'The web app',
    identity: 'public',
    answers: { 200: 'text/html' },
    answerHeaders: { 200: ['Cache-Control'] },
  }),
  getAppFile: route({
    method: 'GET',
    path: '/assets/{file}',
    summary: 'A script, style or picture of the web app, under a name that changes with what is in it',
    identity: 'public',
    params: Type.Object({
      file: Type.String({ pattern: '^[A-Za-z0-9_.-]{1,100}$', examples: ['index-Ab12Cd34.js'] }),
    }),
    notFound: 'The app has no such file',
    answers: { 200: '*/*' },
    answerHeaders: { 200: ['Cache-Control'] },
  }),
  getWorker: route({
    method: 'GET',
    path: '/sw.js',
    summary: 'The service worker of the web app: what it shows without network, and its notifications',
    identity: 'public',
    answers: { 200: 'text/javascript' },
    answerHeaders: { 200: ['Cache-Control'] },
  }),
  openShare: route({
    method: 'GET',
    path: '/share',
    summary: 'To the web app: where the share sheet of a system leads',
    identity: 'public',
    answers: { 303: null },
    answerHeaders: { 303: ['Location'] },
  }),
  postShare: route({
    method: 'POST',
    path: '/share',
    summary: 'To the web app, without what was shared: its service worker takes that before the service is asked',
    identity: 'public',
    // A share sheet sends `Origin: null`. The body is not read, and nothing changes.
    sameOrigin: false,
    answers: { 303: null },
    answerHeaders: { 303: ['Location'] },
  }),
  getIcon: route({
    method: 'GET',
    path: '/favicon.ico',
    summary: 'What browsers show beside the title',
    identity: 'public',
    answers: { 200: 'image/x-icon' },
    answerHeaders: { 200: ['Cache-Control'] },
  }),
  getHealth: route({
    method: 'GET',
    path: '/healthz',
    summary: 'Whether this replica takes traffic, for a balancer without the admin port',
    identity: 'public',
    answers: { 200: Type.Object({ status: Type.String() }) },
    errors: ['draining', 'store_unavailable'],
  }),
};
