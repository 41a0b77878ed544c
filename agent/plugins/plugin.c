/*
 * A plugin of QEMU's that counts instructions and memory accesses of what it emulates, and the
 * misses that they would have in the caches of a machine that is described to it.
 */
#include "blocks.h"
#include "holders.h"
#include "qemu.h"
#include "vcpu.h"
#include "writer.h"

#include <stdio.h>
#include <string.h>

EXPORT int qemu_plugin_version = QEMU_API_VERSION;

static struct machine machine;
static bool is_system;

/*
 * What a block's callbacks have to know of it, in a pointer's 64 bits: QEMU translates without end,
 * and never says that it has thrown a translation away.
 */
union packed {
    void *pointer;
    struct {
        uint64_t number : 20;
        uint64_t instructions : 16;
        uint64_t bytes : 16;
        uint64_t is_looked_up : 1; /* a line of it */
    };
};

static uint64_t in_our_space(uint64_t line)
{
    return line ^ machine.space << 42;
}

static uint64_t line_of(uint64_t address)
{
    return address >> machine.line_shift;
}

/* In a guest, code is told apart by where it lies in its memory: processes share it. */
static uint64_t code_address(const struct block *block)
{
    return is_system && block->here ? (uintptr_t)block->here : block->address;
}

static void fetch(struct vcpu *vcpu, struct counts *counts, union packed block)
{
    uint64_t first = code_address(block_at(block.number));
    uint64_t last = line_of(first + block.bytes - 1);

    for (uint64_t line = line_of(first); line <= last; line++)
        if (is_looked_up(&machine, line))
            vcpu_fetch(vcpu, counts, in_our_space(line));
}

static void on_block(unsigned number, void *userdata)
{
    union packed block = { userdata };
    struct vcpu *vcpu = vcpus[number];
    struct counts *counts = &vcpu->counts[block.number];

    __atomic_store_n(&vcpu->executed, vcpu->executed + block.instructions, __ATOMIC_RELAXED);
    count(counts, INSTRUCTIONS, block.instructions);
    if (block.is_looked_up)
        fetch(vcpu, counts, block);
}

static void access(struct vcpu *vcpu, struct counts *counts, qemu_plugin_meminfo_t info,
                   uint64_t address)
{
    void (*use)(struct vcpu *, struct counts *, uint64_t line);
    uint64_t first = line_of(address), last;

    last = line_of(address + (1u << qemu_plugin_mem_size_shift(info)) - 1);
    if (is_system) {
        struct qemu_plugin_hwaddr *at = qemu_plugin_get_hwaddr(info, address);
        uint64_t more = last - first;

        if (!at || qemu_plugin_hwaddr_is_io(at))
            return;
        first = line_of(qemu_plugin_hwaddr_phys_addr(at));
        last = first + more;
    }
    use = qemu_plugin_mem_is_store(info) ? vcpu_write : vcpu_read;
    for (uint64_t line = first; line <= last; line++)
        if (is_looked_up(&machine, line))
            use(vcpu, counts, in_our_space(line));
}

enum { MOST_BYTES = 16 }; /* of an access */

/*
 * Which sets an address is in is told by bits within a page, for caches of up to 64 first sets of 64
 * bytes: what is not looked up needs no physical address.
 */
static void on_access(unsigned number, qemu_plugin_meminfo_t info, uint64_t address, void *block)
{
    struct vcpu *vcpu = vcpus[number];
    struct counts *counts = &vcpu->counts[(uintptr_t)block];

    count(counts, ACCESSES, 1);
    if (is_looked_up(&machine, line_of(address)) ||
        is_looked_up(&machine, line_of(address + MOST_BYTES - 1)))
        access(vcpu, counts, info, address);
}

static size_t take_code(struct block *block, const struct qemu_plugin_tb *tb, size_t instructions)
{
    size_t bytes = 0;

    for (size_t i = 0; i < instructions; i++) {
        struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(tb, i);
        size_t size = qemu_plugin_insn_size(instruction);

        if (bytes + size <= CODE_BYTES) {
            memcpy(block->code + bytes, qemu_plugin_insn_data(instruction), size);
            block->bytes = (unsigned char)(bytes + size);
        }
        bytes += size;
    }
    return bytes;
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    size_t instructions = qemu_plugin_tb_n_insns(tb);
    struct block block = { .address = qemu_plugin_tb_vaddr(tb) };
    union packed packed = { 0 };
    uint64_t last;
    uint32_t number;

    (void)id;
    block.here = qemu_plugin_insn_haddr(qemu_plugin_tb_get_insn(tb, 0));
    packed.instructions = (uint16_t)instructions;
    packed.bytes = (uint16_t)take_code(&block, tb, instructions);
    number = block_number(&block);
    packed.number = number & 0xfffff;
    last = line_of(code_address(&block) + packed.bytes - 1);
    for (uint64_t line = line_of(code_address(&block)); line <= last; line++)
        packed.is_looked_up |= number != NO_BLOCK && is_looked_up(&machine, line);
    qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_CB_NO_REGS, packed.pointer);
    for (size_t i = 0; i < instructions; i++)
        qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, i), on_access,
                                         QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
                                         (void *)(uintptr_t)number);
}

static void on_vcpu(qemu_plugin_id_t id, unsigned number)
{
    (void)id;
    if (!vcpu_make(&machine, number)) {
        fprintf(stderr, "tierlab-cache: no room for vCPU %u\n", number);
        __builtin_trap();
    }
}

static void on_end(qemu_plugin_id_t id, void *nothing)
{
    (void)id;
    (void)nothing;
    writer_end();
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
    const char *wrong = machine_read(&machine, argc, argv);

    is_system = info->system_emulation;
    if (!wrong && (!blocks_make() || !holders_make()))
        wrong = "no memory";
    if (!wrong)
        wrong = writer_start(&machine, is_system);
    if (wrong) {
        fprintf(stderr, "tierlab-cache: %s\n", wrong);
        return 1;
    }
    qemu_plugin_register_vcpu_init_cb(id, on_vcpu);
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_atexit_cb(id, on_end, NULL);
    return 0;
}
