import { ROUTES } from '../../contract/routes.ts';

/** The routes that sealing calls. In the package they are loaded with it, so that a page without it does not have them. */
export const SEALING_ROUTES: Partial<typeof ROUTES> = ROUTES;
