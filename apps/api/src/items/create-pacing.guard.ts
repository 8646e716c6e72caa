import { Injectable, type CanActivate } from '@nestjs/common';
import { EventLoopTurns } from '@app/runtime';

/** Creates that are validated in one turn of the event loop, so that reads run in between. */
const CREATES_PER_TURN = 2;

/** Allows every create, but makes it wait for its turn. A guard, because guards run before validation. */
@Injectable()
export class CreatePacingGuard implements CanActivate {
  private readonly turns = new EventLoopTurns(CREATES_PER_TURN);

  async canActivate(): Promise<true> {
    await this.turns.next();
    return true;
  }
}
