// What a team writes first: a Nest app that stores each item with mongoose while it handles the request.
import { ItemsService } from './items-service.js';
import { serve } from './nest-app.js';

void ItemsService.connect().then(serve);
