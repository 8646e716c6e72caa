import 'reflect-metadata';
import { createLogger, loadApiConfig, runProcess } from '@app/runtime';
import { createApp } from './app.js';

runProcess(() => {
  const config = loadApiConfig();
  return createApp(config, createLogger('api', config.logLevel));
});
