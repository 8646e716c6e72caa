import { createZodDto } from 'nestjs-zod';
import { CreateItemInputSchema, GetAllInputSchema, GetByIdInputSchema } from '@app/contracts';

export class GetAllDto extends createZodDto(GetAllInputSchema) {}
export class GetByIdDto extends createZodDto(GetByIdInputSchema) {}
export class CreateItemDto extends createZodDto(CreateItemInputSchema) {}
