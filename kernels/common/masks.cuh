// XTS (IEEE 1619): a block is XORed with a mask before and after the cipher. The masks of a data unit
// are its first one, its number encrypted under a key of its own, times x, x^2 and so on in
// GF(2^128). They are secret: nothing branches on them, and no address depends on them.
//
// A mask is 128 bits, least significant first, and so four words as they lie in memory.
#pragma once
#include "field.cuh"
#include "parameters.cuh"

// ANCHOR: masks
// The mask of this lane's block, and where the block is: its unit, and its place there. The lane goes
// through its warp's range in steps of `step` blocks, at most 32.
//
// The mode's words are the blocks of a unit, the address of the first masks of all units, and the
// address of the masks that the warps' ranges start with. So nowhere is more than x^32 multiplied.
template <u32 step>
struct Masks {
    const Block16 *units;
    u64 unit_blocks, unit, place;
    Block16 mask;

    // Of block `i`, whose mask is `mask` where its place is in the unit that block `i - ahead` is in.
    template <class Keys>
    DEVICE Masks(const Parameters<Keys> &parameters, u64 i, u32 ahead, Block16 mask)
        : units(reinterpret_cast<const Block16 *>(parameters.mode1)),
          unit_blocks(parameters.mode0), unit((i - ahead) / unit_blocks),
          place((i - ahead) % unit_blocks + ahead), mask(mask) {
        if (place >= unit_blocks) enter(i < parameters.blocks);
    }

    // Nothing is left to do where another row begins.
    DEVICE void next_row(u64) {}

    // Goes on to a block that is there if `inside`.
    DEVICE void advance(bool inside) {
        place += step;
        if (place >= unit_blocks) enter(inside);
        else mask = step == 32 ? times_x32(mask) : times_power(mask, step);
    }

   private:
    // Takes the place from the unit's end to another unit. It was at most 32 places behind the end, so
    // that units which are shorter than a step are few.
    DEVICE void enter(bool inside) {
        if (!inside) return;
        place -= unit_blocks;
        unit++;
        if (place >= unit_blocks) {
            unit += u32(place) / u32(unit_blocks);
            place = u32(place) % u32(unit_blocks);
        }
        mask = times_power(units[unit], u32(place));
    }
};
// ANCHOR_END: masks

// ANCHOR: row_masks
// The same for steps of a warp where data units are whole rows of blocks, as those of 4 KiB and more are: all
// lanes enter a unit at once, where a row begins. That is so much less code that the loops of long kernels
// stay in the instruction cache.
constexpr u32 MASK_ROW_BLOCKS = 8 * WARP;

template <class Keys>
struct RowMasks {
    const Parameters<Keys> &parameters;
    Block16 mask;

    // Whether units are of this kind, and rows can be counted in 32 bits.
    static DEVICE bool fit(const Parameters<Keys> &parameters) {
        const u64 most = u64(MASK_ROW_BLOCKS) << 32;
        const u64 unit_blocks = parameters.mode0;
        return unit_blocks % MASK_ROW_BLOCKS == 0 && unit_blocks < most && parameters.blocks < most;
    }

    DEVICE RowMasks(const Parameters<Keys> &parameters, u64, u32, Block16 mask)
        : parameters(parameters), mask(mask) {}

    DEVICE void advance(bool) { mask = times_x32(mask); }

    // Goes on to the row that begins with this block, if that is there.
    DEVICE void next_row(u64 first) {
        const u32 row = u32(first / MASK_ROW_BLOCKS), rows = u32(parameters.mode0 / MASK_ROW_BLOCKS);
        if (row % rows != 0 || first >= parameters.blocks) return;
        const Block16 *units = reinterpret_cast<const Block16 *>(parameters.mode1);
        mask = times_power(units[row / rows], not_hoisted(threadIdx.x % WARP));
    }
};
// ANCHOR_END: row_masks

// The masks from the block on that is `ahead` blocks after the first of this warp's range.
template <u32 step, class Keys>
DEVICE Masks<step> first_masks(const Parameters<Keys> &parameters, u64 range_first, u32 ahead) {
    Block16 mask = {};
    const Block16 *starts = reinterpret_cast<const Block16 *>(parameters.mode2);
    if (range_first < parameters.blocks) mask = times_power(starts[grid_warp()], ahead);
    return Masks<step>(parameters, range_first + ahead, ahead, mask);
}

// ANCHOR: xts_blocks
// Runs `cipher` between masks on every block of this warp's range; the next block is loaded before it
// is needed.
template <class Keys, class Cipher>
DEVICE void xts_blocks(const Parameters<Keys> &parameters, Cipher cipher) {
    const Range<WARP> range(parameters.blocks);
    const u64 end = min(range.first + range.length, parameters.blocks);
    const u32 lane = threadIdx.x % WARP;
    u64 i = range.first + lane;
    if (i >= end) return;
    Masks<WARP> masks = first_masks<WARP>(parameters, range.first, lane);
    Block16 block = parameters.input[i];
    while (true) {
        const u64 next = i + WARP;
        Block16 prefetched = block;
        if (next < end) prefetched = parameters.input[next];
        parameters.output[i] = masks.mask ^ cipher(block ^ masks.mask);
        if (next >= end) return;
        masks.advance(true);
        block = prefetched;
        i = next;
    }
}
// ANCHOR_END: xts_blocks

// XTS by a cipher's function `cipher(tables, block, keys)`.
template <class Keys, class Tables>
DEVICE void xts(const Parameters<Keys> &parameters, const Tables &tables) {
    xts_blocks(parameters, [&](Block16 block) { return cipher(tables, block, parameters.keys); });
}
