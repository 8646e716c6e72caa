import { Inject, Injectable, type PipeTransform } from '@nestjs/common';
import {
  categoryNumber,
  CreateItemInputSchema,
  issuesOf,
  UNKNOWN_CATEGORY,
  type CreateItemInput,
  type InputIssue,
} from '@app/contracts';
import { ReferenceRepository } from '@app/database';
import { itemSize, itemTooLarge, type ItemSize } from '@app/items';
import { EventLoopTurns, type ApiConfig } from '@app/runtime';
import { API_CONFIG } from '../api-config.js';
import { ApiError } from '../http/api-error.js';

const FIND_WITHIN_MS = 1800;
/** Creates that are validated in one turn of the event loop, so that reads run in between. */
const CREATES_PER_TURN = 2;

/** A valid input of create, its size, and the number of its category. */
export interface ValidCreate {
  input: CreateItemInput;
  size: ItemSize;
  categoryId: number;
}

/** Validates the input of create, including its category, and reports all issues at once. */
@Injectable()
export class CreateInputPipe implements PipeTransform<unknown, Promise<ValidCreate>> {
  private readonly turns = new EventLoopTurns(CREATES_PER_TURN);

  constructor(
    private readonly references: ReferenceRepository,
    @Inject(API_CONFIG) private readonly config: ApiConfig,
  ) {}

  async transform(body: unknown): Promise<ValidCreate> {
    await this.turns.next();
    const parsed = CreateItemInputSchema.safeParse(body);
    if (!parsed.success) throw ApiError.input([...issuesOf(parsed.error), ...(await this.issuesOfCategory(body))]);
    const { maxItemBytes } = this.config;
    const size = itemSize(parsed.data);
    if (size.bytes > maxItemBytes) throw new ApiError('PAYLOAD_TOO_LARGE', { message: itemTooLarge(maxItemBytes) });
    const categoryId = await this.findCategory(parsed.data.categoryId);
    if (categoryId === null) throw ApiError.input([UNKNOWN_CATEGORY]);
    return { input: parsed.data, size, categoryId };
  }

  private async findCategory(categoryId: string): Promise<number | null> {
    return categoryNumber(categoryId) ?? this.references.findCategoryId(categoryId, performance.now() + FIND_WITHIN_MS);
  }

  /** Returns the category's issues for an input that is invalid anyway. Does not throw while MongoDB is away. */
  private async issuesOfCategory(body: unknown): Promise<InputIssue[]> {
    const category = CreateItemInputSchema.shape.categoryId.safeParse(
      (body as Partial<CreateItemInput> | null)?.categoryId,
    );
    if (!category.success) return [];
    const found = await this.findCategory(category.data).catch(() => 'unknown');
    return found === null ? [UNKNOWN_CATEGORY] : [];
  }
}
