import express, { type RequestHandler } from 'express';

/** Parses a plain HTML form with a few short fields. */
export const loginForm: RequestHandler = express.urlencoded({ extended: false, limit: 16_384, parameterLimit: 16 });
