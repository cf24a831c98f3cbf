/* SPDX-License-Identifier: MIT */
/*
 * field.h - the field kinds of WAYMARK_EVENT, one block per kind, each with the same visitors:
 *
 *   SCHEMA  its text in the description      (string literal)
 *   NR      number of its values[]           (constant)
 *   VALUES  those values                     (list, each followed by a comma)
 *   FIXED   minimum number of bytes          (constant)
 *   PACK    writes it at waymark_q_; waymark_q_ = 0 and break when it does not fit
 *   CHECK   the argument checked against a print format
 */
#ifndef WAYMARK_FIELD_H
#define WAYMARK_FIELD_H

#pragma GCC system_header

#ifndef WAYMARK_DISABLE
#include <waymark/emit.h>
#endif
#include <waymark/foreach.h>

/* Makes the compiler check a printf format; never called. */
__attribute__((format(printf, 1, 2), unused, no_instrument_function)) static inline void
waymark_check_format(const char *format, ...)
{
	(void)format;
}

#define WAYMARK_FIELD_(visit, kind, ...) WAYMARK_##visit##_##kind(__VA_ARGS__)
#define WAYMARK_SCHEMA_(f) WAYMARK_SCHEMA__ f
#define WAYMARK_SCHEMA__(...) WAYMARK_FIELD_(SCHEMA, __VA_ARGS__)
#define WAYMARK_NR_(f) WAYMARK_NR__ f
#define WAYMARK_NR__(...) +WAYMARK_FIELD_(NR, __VA_ARGS__)
#define WAYMARK_VALUES_(f) WAYMARK_VALUES__ f
#define WAYMARK_VALUES__(...) WAYMARK_FIELD_(VALUES, __VA_ARGS__)
#define WAYMARK_FIXED_(f) WAYMARK_FIXED__ f
#define WAYMARK_FIXED__(...) +WAYMARK_FIELD_(FIXED, __VA_ARGS__)
#define WAYMARK_PACK_(f) WAYMARK_PACK__ f
#define WAYMARK_PACK__(...) WAYMARK_FIELD_(PACK, __VA_ARGS__)
#define WAYMARK_CHECK_(f) WAYMARK_CHECK__ f
#define WAYMARK_CHECK__(...) , WAYMARK_FIELD_(CHECK, __VA_ARGS__)

#define WAYMARK_VISIT_(...) WAYMARK_EACH(__VA_ARGS__)
#define WAYMARK_SCHEMA(fields) \
	"" WAYMARK_VISIT_(WAYMARK_SCHEMA_, WAYMARK_SEP_SEMICOLON, WAYMARK_UNPACK fields)
#define WAYMARK_NR_VALUES(fields) \
	(0 WAYMARK_VISIT_(WAYMARK_NR_, WAYMARK_SEP_NONE, WAYMARK_UNPACK fields))
#define WAYMARK_VALUES(fields) \
	WAYMARK_VISIT_(WAYMARK_VALUES_, WAYMARK_SEP_NONE, WAYMARK_UNPACK fields)
#define WAYMARK_FIXED_BYTES(fields) \
	(0 WAYMARK_VISIT_(WAYMARK_FIXED_, WAYMARK_SEP_NONE, WAYMARK_UNPACK fields))
#define WAYMARK_PACK(fields) \
	WAYMARK_VISIT_(WAYMARK_PACK_, WAYMARK_SEP_NONE, WAYMARK_UNPACK fields)
#define WAYMARK_CHECKS(fields) \
	WAYMARK_VISIT_(WAYMARK_CHECK_, WAYMARK_SEP_NONE, WAYMARK_UNPACK fields)

/* Converts an argument of at most 8 bytes to 64 bits and back. */
#define WAYMARK_SLOT(type, name) \
	__extension__({ \
		type waymark_v_ = (name); \
		uint64_t waymark_u_ = 0; \
		__builtin_memcpy(&waymark_u_, &waymark_v_, \
				 sizeof(char[sizeof(waymark_v_) <= 8 ? 1 : -1]) * sizeof(waymark_v_)); \
		waymark_u_; \
	})
#define WAYMARK_UNSLOT(type, slots, i) (*(type const *)(const void *)((slots) + 8 * (i)))

/* A wrong element size causes a compile-time error instead of a wrong trace. */
#define WAYMARK_ELEMENT_CHECK_(pointer, bytes) \
	((void)sizeof(char[sizeof(*(pointer)) == (bytes) ? 1 : -1]))

/* Scalars: the SCHEMA text and the size of an element; arrays use them, too. */

#define WAYMARK_ELEMENT_TEXT_i8 "i1"
#define WAYMARK_ELEMENT_BYTES_i8 1
#define WAYMARK_SCHEMA_i8(name, x) #name ":i1"
#define WAYMARK_NR_i8(name, x) 0
#define WAYMARK_VALUES_i8(name, x)
#define WAYMARK_FIXED_i8(name, x) 1
#define WAYMARK_PACK_i8(name, x) waymark_put8(waymark_q_, (uint8_t)(int8_t)(x)); waymark_q_ += 1;
#define WAYMARK_CHECK_i8(name, x) (int)(int8_t)(x)

#define WAYMARK_ELEMENT_TEXT_i16 "i2"
#define WAYMARK_ELEMENT_BYTES_i16 2
#define WAYMARK_SCHEMA_i16(name, x) #name ":i2"
#define WAYMARK_NR_i16(name, x) 0
#define WAYMARK_VALUES_i16(name, x)
#define WAYMARK_FIXED_i16(name, x) 2
#define WAYMARK_PACK_i16(name, x) waymark_put16(waymark_q_, (uint16_t)(int16_t)(x)); waymark_q_ += 2;
#define WAYMARK_CHECK_i16(name, x) (int)(int16_t)(x)

#define WAYMARK_ELEMENT_TEXT_i32 "i4"
#define WAYMARK_ELEMENT_BYTES_i32 4
#define WAYMARK_SCHEMA_i32(name, x) #name ":i4"
#define WAYMARK_NR_i32(name, x) 0
#define WAYMARK_VALUES_i32(name, x)
#define WAYMARK_FIXED_i32(name, x) 4
#define WAYMARK_PACK_i32(name, x) waymark_put32(waymark_q_, (uint32_t)(int32_t)(x)); waymark_q_ += 4;
#define WAYMARK_CHECK_i32(name, x) (int32_t)(x)

#define WAYMARK_ELEMENT_TEXT_i64 "i8"
#define WAYMARK_ELEMENT_BYTES_i64 8
#define WAYMARK_SCHEMA_i64(name, x) #name ":i8"
#define WAYMARK_NR_i64(name, x) 0
#define WAYMARK_VALUES_i64(name, x)
#define WAYMARK_FIXED_i64(name, x) 8
#define WAYMARK_PACK_i64(name, x) waymark_put64(waymark_q_, (uint64_t)(int64_t)(x)); waymark_q_ += 8;
#define WAYMARK_CHECK_i64(name, x) (int64_t)(x)

#define WAYMARK_ELEMENT_TEXT_u8 "u1"
#define WAYMARK_ELEMENT_BYTES_u8 1
#define WAYMARK_SCHEMA_u8(name, x) #name ":u1"
#define WAYMARK_NR_u8(name, x) 0
#define WAYMARK_VALUES_u8(name, x)
#define WAYMARK_FIXED_u8(name, x) 1
#define WAYMARK_PACK_u8(name, x) waymark_put8(waymark_q_, (uint8_t)(x)); waymark_q_ += 1;
#define WAYMARK_CHECK_u8(name, x) (unsigned)(uint8_t)(x)

#define WAYMARK_ELEMENT_TEXT_u16 "u2"
#define WAYMARK_ELEMENT_BYTES_u16 2
#define WAYMARK_SCHEMA_u16(name, x) #name ":u2"
#define WAYMARK_NR_u16(name, x) 0
#define WAYMARK_VALUES_u16(name, x)
#define WAYMARK_FIXED_u16(name, x) 2
#define WAYMARK_PACK_u16(name, x) waymark_put16(waymark_q_, (uint16_t)(x)); waymark_q_ += 2;
#define WAYMARK_CHECK_u16(name, x) (unsigned)(uint16_t)(x)

#define WAYMARK_ELEMENT_TEXT_u32 "u4"
#define WAYMARK_ELEMENT_BYTES_u32 4
#define WAYMARK_SCHEMA_u32(name, x) #name ":u4"
#define WAYMARK_NR_u32(name, x) 0
#define WAYMARK_VALUES_u32(name, x)
#define WAYMARK_FIXED_u32(name, x) 4
#define WAYMARK_PACK_u32(name, x) waymark_put32(waymark_q_, (uint32_t)(x)); waymark_q_ += 4;
#define WAYMARK_CHECK_u32(name, x) (uint32_t)(x)

#define WAYMARK_ELEMENT_TEXT_u64 "u8"
#define WAYMARK_ELEMENT_BYTES_u64 8
#define WAYMARK_SCHEMA_u64(name, x) #name ":u8"
#define WAYMARK_NR_u64(name, x) 0
#define WAYMARK_VALUES_u64(name, x)
#define WAYMARK_FIXED_u64(name, x) 8
#define WAYMARK_PACK_u64(name, x) waymark_put64(waymark_q_, (uint64_t)(x)); waymark_q_ += 8;
#define WAYMARK_CHECK_u64(name, x) (uint64_t)(x)

#define WAYMARK_ELEMENT_TEXT_x8 "x1"
#define WAYMARK_ELEMENT_BYTES_x8 1
#define WAYMARK_SCHEMA_x8(name, x) #name ":x1"
#define WAYMARK_NR_x8(name, x) 0
#define WAYMARK_VALUES_x8(name, x)
#define WAYMARK_FIXED_x8(name, x) 1
#define WAYMARK_PACK_x8(name, x) waymark_put8(waymark_q_, (uint8_t)(x)); waymark_q_ += 1;
#define WAYMARK_CHECK_x8(name, x) (unsigned)(uint8_t)(x)

#define WAYMARK_ELEMENT_TEXT_x16 "x2"
#define WAYMARK_ELEMENT_BYTES_x16 2
#define WAYMARK_SCHEMA_x16(name, x) #name ":x2"
#define WAYMARK_NR_x16(name, x) 0
#define WAYMARK_VALUES_x16(name, x)
#define WAYMARK_FIXED_x16(name, x) 2
#define WAYMARK_PACK_x16(name, x) waymark_put16(waymark_q_, (uint16_t)(x)); waymark_q_ += 2;
#define WAYMARK_CHECK_x16(name, x) (unsigned)(uint16_t)(x)

#define WAYMARK_ELEMENT_TEXT_x32 "x4"
#define WAYMARK_ELEMENT_BYTES_x32 4
#define WAYMARK_SCHEMA_x32(name, x) #name ":x4"
#define WAYMARK_NR_x32(name, x) 0
#define WAYMARK_VALUES_x32(name, x)
#define WAYMARK_FIXED_x32(name, x) 4
#define WAYMARK_PACK_x32(name, x) waymark_put32(waymark_q_, (uint32_t)(x)); waymark_q_ += 4;
#define WAYMARK_CHECK_x32(name, x) (uint32_t)(x)

#define WAYMARK_ELEMENT_TEXT_x64 "x8"
#define WAYMARK_ELEMENT_BYTES_x64 8
#define WAYMARK_SCHEMA_x64(name, x) #name ":x8"
#define WAYMARK_NR_x64(name, x) 0
#define WAYMARK_VALUES_x64(name, x)
#define WAYMARK_FIXED_x64(name, x) 8
#define WAYMARK_PACK_x64(name, x) waymark_put64(waymark_q_, (uint64_t)(x)); waymark_q_ += 8;
#define WAYMARK_CHECK_x64(name, x) (uint64_t)(x)

#define WAYMARK_ELEMENT_TEXT_boolean "b1"
#define WAYMARK_ELEMENT_BYTES_boolean 1
#define WAYMARK_SCHEMA_boolean(name, x) #name ":b1"
#define WAYMARK_NR_boolean(name, x) 0
#define WAYMARK_VALUES_boolean(name, x)
#define WAYMARK_FIXED_boolean(name, x) 1
#define WAYMARK_PACK_boolean(name, x) waymark_put8(waymark_q_, (x) ? 1 : 0); waymark_q_ += 1;
#define WAYMARK_CHECK_boolean(name, x) ((x) ? 1 : 0)

#define WAYMARK_ELEMENT_TEXT_f32 "f4"
#define WAYMARK_ELEMENT_BYTES_f32 4
#define WAYMARK_SCHEMA_f32(name, x) #name ":f4"
#define WAYMARK_NR_f32(name, x) 0
#define WAYMARK_VALUES_f32(name, x)
#define WAYMARK_FIXED_f32(name, x) 4
#define WAYMARK_PACK_f32(name, x) waymark_putf32(waymark_q_, (x)); waymark_q_ += 4;
#define WAYMARK_CHECK_f32(name, x) (double)(x)

#define WAYMARK_ELEMENT_TEXT_f64 "f8"
#define WAYMARK_ELEMENT_BYTES_f64 8
#define WAYMARK_SCHEMA_f64(name, x) #name ":f8"
#define WAYMARK_NR_f64(name, x) 0
#define WAYMARK_VALUES_f64(name, x)
#define WAYMARK_FIXED_f64(name, x) 8
#define WAYMARK_PACK_f64(name, x) waymark_putf64(waymark_q_, (x)); waymark_q_ += 8;
#define WAYMARK_CHECK_f64(name, x) (double)(x)

#define WAYMARK_ELEMENT_TEXT_ptr "p8"
#define WAYMARK_ELEMENT_BYTES_ptr 8
#define WAYMARK_SCHEMA_ptr(name, x) #name ":p8"
#define WAYMARK_NR_ptr(name, x) 0
#define WAYMARK_VALUES_ptr(name, x)
#define WAYMARK_FIXED_ptr(name, x) 8
#define WAYMARK_PACK_ptr(name, x) waymark_put64(waymark_q_, (uint64_t)(uintptr_t)(x)); waymark_q_ += 8;
#define WAYMARK_CHECK_ptr(name, x) (const void *)(uintptr_t)(x)

/* (str, name, expr): a string */
#define WAYMARK_SCHEMA_str(name, s) #name ":s"
#define WAYMARK_NR_str(name, s) 0
#define WAYMARK_VALUES_str(name, s)
#define WAYMARK_FIXED_str(name, s) 1
#define WAYMARK_PACK_str(name, s) \
	waymark_q_ = waymark_put_string(waymark_q_, (s), waymark_fixed_); \
	if (__builtin_expect(!waymark_q_, 0)) \
		break;
#define WAYMARK_CHECK_str(name, s) (const char *)(s)

/* (chars, name, expr, N): a char array of N bytes */
#define WAYMARK_SCHEMA_chars(name, s, n) #name ":c#"
#define WAYMARK_NR_chars(name, s, n) 1
#define WAYMARK_VALUES_chars(name, s, n) (n),
#define WAYMARK_FIXED_chars(name, s, n) (n)
#define WAYMARK_PACK_chars(name, s, n) waymark_q_ = waymark_put_chars(waymark_q_, (s), (n));
#define WAYMARK_CHECK_chars(name, s, n) (const char *)(s)

/* array, name, KIND, expr, N */
#define WAYMARK_SCHEMA_array(name, kind, a, n) #name ":a#" WAYMARK_ELEMENT_TEXT_##kind
#define WAYMARK_NR_array(name, kind, a, n) 1
#define WAYMARK_VALUES_array(name, kind, a, n) (n),
#define WAYMARK_FIXED_array(name, kind, a, n) ((n) * WAYMARK_ELEMENT_BYTES_##kind)
#define WAYMARK_PACK_array(name, kind, a, n) \
	WAYMARK_ELEMENT_CHECK_(a, WAYMARK_ELEMENT_BYTES_##kind); \
	waymark_q_ = waymark_put_array(waymark_q_, (a), (uint64_t)(n) * WAYMARK_ELEMENT_BYTES_##kind);
#define WAYMARK_CHECK_array(name, kind, a, n) (const void *)(a)

/* seq, name, KIND, pointer, count */
#define WAYMARK_SCHEMA_seq(name, kind, p, n) #name ":q" WAYMARK_ELEMENT_TEXT_##kind
#define WAYMARK_NR_seq(name, kind, p, n) 0
#define WAYMARK_VALUES_seq(name, kind, p, n)
#define WAYMARK_FIXED_seq(name, kind, p, n) 4
#define WAYMARK_PACK_seq(name, kind, p, n) \
	WAYMARK_ELEMENT_CHECK_(p, WAYMARK_ELEMENT_BYTES_##kind); \
	waymark_q_ = waymark_put_counted(waymark_q_, (p), (uint64_t)(n), \
					 WAYMARK_ELEMENT_BYTES_##kind, waymark_fixed_); \
	if (__builtin_expect(!waymark_q_, 0)) \
		break;
#define WAYMARK_CHECK_seq(name, kind, p, n) (const void *)(p)

/* (blob, name, pointer, bytes): a blob */
#define WAYMARK_SCHEMA_blob(name, p, n) #name ":z"
#define WAYMARK_NR_blob(name, p, n) 0
#define WAYMARK_VALUES_blob(name, p, n)
#define WAYMARK_FIXED_blob(name, p, n) 4
#define WAYMARK_PACK_blob(name, p, n) \
	waymark_q_ = waymark_put_counted(waymark_q_, (p), (uint64_t)(n), 1, waymark_fixed_); \
	if (__builtin_expect(!waymark_q_, 0)) \
		break;
#define WAYMARK_CHECK_blob(name, p, n) (const void *)(p)

/* enumeration, name, KIND, expr, ("label", VALUE)... */
#define WAYMARK_LABEL_TEXT_(pair) WAYMARK_LABEL_TEXT__ pair
#define WAYMARK_LABEL_TEXT__(text, value) text "#"
#define WAYMARK_LABEL_VALUE_(pair) WAYMARK_LABEL_VALUE__ pair
#define WAYMARK_LABEL_VALUE__(text, value) (int64_t)(value),
#define WAYMARK_SEP_LABEL() ","
#define WAYMARK_SCHEMA_enumeration(name, kind, x, ...) \
	#name ":e" WAYMARK_ELEMENT_TEXT_##kind "{" WAYMARK_EACH2(WAYMARK_LABEL_TEXT_, \
								 WAYMARK_SEP_LABEL, __VA_ARGS__) "}"
#define WAYMARK_NR_enumeration(name, kind, x, ...) WAYMARK_COUNT(__VA_ARGS__)
#define WAYMARK_VALUES_enumeration(name, kind, x, ...) \
	WAYMARK_EACH2(WAYMARK_LABEL_VALUE_, WAYMARK_SEP_NONE, __VA_ARGS__)
#define WAYMARK_FIXED_enumeration(name, kind, x, ...) WAYMARK_ELEMENT_BYTES_##kind
#define WAYMARK_PACK_enumeration(name, kind, x, ...) WAYMARK_PACK_##kind(name, x)
#define WAYMARK_CHECK_enumeration(name, kind, x, ...) (int)(x)

#endif
