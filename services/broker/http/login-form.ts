import express, { type RequestHandler } from 'express';

/** Reads a plain HTML form of a few short fields. */
export const loginForm: RequestHandler = express.urlencoded({ extended: false, limit: 16_384, parameterLimit: 16 });
