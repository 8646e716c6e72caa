import { createZodDto } from 'nestjs-zod';
import { GetAllInputSchema, GetByIdInputSchema } from '@app/contracts';

export class GetAllDto extends createZodDto(GetAllInputSchema) {}
export class GetByIdDto extends createZodDto(GetByIdInputSchema) {}
