import { ROUTES } from '../../contract/routes.ts';

/** The routes that sealing asks for. In the package they are loaded with it, and stand in no page without it. */
export const SEALING_ROUTES: Partial<typeof ROUTES> = ROUTES;
