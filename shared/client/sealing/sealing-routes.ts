import { ROUTES } from '../../contract/routes.ts';

/** The routes that sealing calls. The package loads them together with it. A page without sealing does not load them. */
export const SEALING_ROUTES: Partial<typeof ROUTES> = ROUTES;
