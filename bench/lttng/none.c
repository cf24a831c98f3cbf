/* SPDX-License-Identifier: MIT */
/* none.c - replaces emit_peer.c where LTTng-UST is not installed. */
#include "emit.h"

const bool emit_have_peer;

void peer_2int(uint32_t n)
{
}
void peer_4mixed(uint32_t n)
{
}
void peer_filtered(uint32_t n)
{
}
void peer_64sites(uint32_t n)
{
}
void peer_dormant(uint32_t n)
{
}
void peer_printf(uint32_t n)
{
}
bool peer_on(void)
{
	return false;
}
