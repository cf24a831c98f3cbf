/* SPDX-License-Identifier: MIT */
/*
 * format_test_kit.h - builds format files in the kernel's form for the tests in this room, from a
 * list of the event's fields, so that tests are readable.
 */
#ifndef WM_KDATA_FORMAT_TEST_KIT_H
#define WM_KDATA_FORMAT_TEST_KIT_H

#define KIT_COMMON                                                                                 \
	"format:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"            \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

#define KIT_FIELD(decl, offset, size, is_signed)                                                   \
	"\tfield:" decl ";\toffset:" #offset ";\tsize:" #size ";\tsigned:" #is_signed ";\n"

#define KIT_EVENT(name, id, fields, print)                                                         \
	"name: " name "\nID: " #id "\n" KIT_COMMON fields "\nprint fmt: " print "\n"

static const char kit_switch[] = KIT_EVENT(
    "sched_switch", 314,
    KIT_FIELD("char prev_comm[16]", 8, 16, 0) KIT_FIELD("pid_t prev_pid", 24, 4, 1)
	KIT_FIELD("int prev_prio", 28, 4, 1) KIT_FIELD("long prev_state", 32, 8, 1)
	    KIT_FIELD("char next_comm[16]", 40, 16, 0) KIT_FIELD("pid_t next_pid", 56, 4, 1)
		KIT_FIELD("int next_prio", 60, 4, 1),
    "\"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> next_comm=%s next_pid=%d "
    "next_prio=%d\", REC->prev_comm, REC->prev_pid, REC->prev_prio, (REC->prev_state & "
    "((((0x00000000 | 0x00000001 | 0x00000002 | 0x00000004 | 0x00000008 | 0x00000010 | "
    "0x00000020 | 0x00000040) + 1) << 1) - 1)) ? __print_flags(REC->prev_state & "
    "((((0x00000000 | 0x00000001 | 0x00000002 | 0x00000004 | 0x00000008 | 0x00000010 | "
    "0x00000020 | 0x00000040) + 1) << 1) - 1), \"|\", { 0x00000001, \"S\" }, { 0x00000002, "
    "\"D\" }, { 0x00000004, \"T\" }, { 0x00000008, \"t\" }, { 0x00000010, \"X\" }, { "
    "0x00000020, \"Z\" }, { 0x00000040, \"P\" }, { 0x00000080, \"I\" }) : \"R\", "
    "REC->prev_state & (((0x00000000 | 0x00000001 | 0x00000002 | 0x00000004 | 0x00000008 | "
    "0x00000010 | 0x00000020 | 0x00000040) + 1) << 1) ? \"+\" : \"\", REC->next_comm, "
    "REC->next_pid, REC->next_prio");

static const char kit_exec[] =
    KIT_EVENT("sched_process_exec", 311,
	      KIT_FIELD("__data_loc char[] filename", 8, 4, 0) KIT_FIELD("pid_t pid", 12, 4, 1)
		  KIT_FIELD("pid_t old_pid", 16, 4, 1),
	      "\"filename=%s pid=%d old_pid=%d\", __get_str(filename), REC->pid, REC->old_pid");

static const char kit_enter[] = KIT_EVENT(
    "sys_enter", 23, KIT_FIELD("long id", 8, 8, 1) KIT_FIELD("unsigned long args[6]", 16, 48, 0),
    "\"NR %ld (%lx, %lx, %lx, %lx, %lx, %lx)\", REC->id, REC->args[0], REC->args[1], "
    "REC->args[2], REC->args[3], REC->args[4], REC->args[5]");

/* The fields of an event that has one field of every kind. */
static const char kit_all[] =
    KIT_EVENT("all_kinds", 9,
	      KIT_FIELD("u8 a", 8, 1, 0) KIT_FIELD("s8 b", 9, 1, 1) KIT_FIELD("short c", 10, 2, 1)
		  KIT_FIELD("bool d", 12, 1, 0) KIT_FIELD("const char * text", 16, 8, 0)
		      KIT_FIELD("u8 mac[6]", 24, 6, 0) KIT_FIELD("__be32 ip[1]", 32, 4, 0)
			  KIT_FIELD("struct thing odd", 36, 12, 0)
			      KIT_FIELD("__data_loc u32[] words", 48, 4, 0)
				  KIT_FIELD("__rel_loc char[] name", 52, 4, 0)
				      KIT_FIELD("__data_loc cpumask_t cpus", 56, 4, 0)
					  KIT_FIELD("unsigned long long e", 64, 8, 0)
					      KIT_FIELD("s64 f", 72, 8, 1),
	      "\"%u\", REC->a");

#endif
