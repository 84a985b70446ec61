// The kernels on the host, for tests on machines without a GPU: kernels.cu as plain C++.
//
// A block's threads are coroutines. Each runs until its next `__shfl_xor_sync` or `__syncthreads`, where it waits for the
// other lanes of its warp, or the other threads of its block. So the text itself is run, its shuffles and barriers too; a
// barrier that not every thread reaches, which would hang or corrupt a GPU, is an error here. Buffers end where a page
// that cannot be touched begins, and start as NaN: reading or writing past the end ends the program, and reading what
// nobody wrote shows in the result.

#include <cmath>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <type_traits>
#include <ucontext.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace {

struct Index {
    unsigned int x;
};

constexpr unsigned int WARP = 32;

enum State { RUNNING, AT_SHUFFLE, AT_BARRIER, DONE };

// A stack on which threads run, and where it left off.
struct Coroutine {
    std::vector<char> stack;
    ucontext_t start;
    jmp_buf at;
    bool started;
};

// A thread of the block that runs.
struct Thread {
    State state;
    // What it gives to a shuffle, the numbers of one shuffle and of the next, and how many it has had.
    uint64_t given[2];
    unsigned int shuffles;
    Coroutine* coroutine;
};

struct Block {
    std::vector<Thread> threads;
    unsigned int next;
    void (*body)(const void*);
    const void* arguments;
    jmp_buf scheduler;
};

thread_local Block* block;
thread_local Index threadIdx, blockIdx;

// Jumps change no signals, so that a switch is no system call.
__attribute__((noinline)) void resume(Coroutine* coroutine) {
    if (_setjmp(block->scheduler) != 0) return;
    if (coroutine->started) _longjmp(coroutine->at, 1);
    coroutine->started = true;
    setcontext(&coroutine->start);
}

__attribute__((noinline)) void suspend(Coroutine* coroutine) {
    if (_setjmp(coroutine->at) == 0) _longjmp(block->scheduler, 1);
}

void wait_at(State state) {
    const unsigned int self = threadIdx.x;
    block->threads[self].state = state;
    suspend(block->threads[self].coroutine);
    threadIdx.x = self;
    block->threads[self].state = RUNNING;
}

template <class T> T __shfl_xor_sync(unsigned int, T value, unsigned int distance) {
    static_assert(sizeof(T) <= sizeof(uint64_t), "a shuffle moves a number");
    unsigned int self = threadIdx.x, now = block->threads[self].shuffles++ % 2;
    std::memcpy(&block->threads[self].given[now], &value, sizeof(T));
    wait_at(AT_SHUFFLE);
    unsigned int other = self / WARP * WARP + ((self % WARP) ^ distance);
    T result;
    std::memcpy(&result, &block->threads[other].given[now], sizeof(T));
    return result;
}

void __syncthreads() { wait_at(AT_BARRIER); }

// Runs threads that have not started, one after the other: those that never wait share a coroutine.
void run_threads(unsigned int low, unsigned int high) {
    auto* self = reinterpret_cast<Coroutine*>((uintptr_t(high) << 32) | low);
    for (;;) {
        if (block->next < block->threads.size()) {
            const unsigned int t = block->next++;
            threadIdx.x = t;
            block->threads[t].coroutine = self;
            block->threads[t].state = RUNNING;
            block->body(block->arguments);
            block->threads[t].state = DONE;
        } else {
            suspend(self);
        }
    }
}

// Coroutines without a thread, for the next ones.
thread_local std::vector<Coroutine*> idle;

__attribute__((noinline)) Coroutine* make() {
    auto* made = new Coroutine{};
    made->stack.resize(64 << 10);
    getcontext(&made->start);
    made->start.uc_stack.ss_sp = made->stack.data();
    made->start.uc_stack.ss_size = made->stack.size();
    made->start.uc_link = nullptr;
    auto address = reinterpret_cast<uintptr_t>(made);
    makecontext(&made->start, reinterpret_cast<void (*)()>(run_threads), 2, unsigned(address), unsigned(address >> 32));
    return made;
}

Coroutine* fresh() {
    if (idle.empty()) return make();
    Coroutine* coroutine = idle.back();
    idle.pop_back();
    return coroutine;
}

// Whether the threads from `first` to `last` wait at the same thing.
bool together(const Block& b, unsigned int first, unsigned int last, State state) {
    for (unsigned int t = first; t < last; t++)
        if (b.threads[t].state != state) return false;
    return true;
}

// Runs a block; false where its threads part at a barrier.
bool run_block(Block& b) {
    while (b.next < b.threads.size()) {
        Coroutine* started = fresh();
        resume(started);
        // It came back since its last thread waits, or since there are no more to start.
        if (b.threads[b.next - 1].state == DONE) idle.push_back(started);
    }
    unsigned int n = unsigned(b.threads.size());
    for (bool progress = true; progress;) {
        progress = false;
        std::vector<unsigned int> ready;
        if (together(b, 0, n, AT_BARRIER)) {
            for (unsigned int t = 0; t < n; t++) ready.push_back(t);
        } else {
            for (unsigned int w = 0; w < n; w += WARP)
                if (together(b, w, w + WARP, AT_SHUFFLE))
                    for (unsigned int t = w; t < w + WARP; t++) ready.push_back(t);
        }
        for (unsigned int t : ready) {
            resume(b.threads[t].coroutine);
            progress = true;
            // Done, it stands in its loop for other threads.
            if (b.threads[t].state == DONE) idle.push_back(b.threads[t].coroutine);
        }
    }
    return together(b, 0, n, DONE);
}

} // namespace

#define __global__
#define __device__
#define __forceinline__ inline
// Blocks of a host thread run one after the other.
#define __shared__ static thread_local

#include "kernels.cu"

namespace {

// An argument as the launch gives it: 0 an address, 1 a 32-bit integer, 2 a float, 3 a 64-bit integer, 4 a double.
template <class T> constexpr unsigned char kind() {
    if (std::is_pointer_v<T>) return 0;
    if (std::is_same_v<T, u32>) return 1;
    if (std::is_same_v<T, float>) return 2;
    if (std::is_same_v<T, u64>) return 3;
    return 4;
}

template <class T> T argument(uint64_t word) {
    T value;
    std::memcpy(&value, &word, sizeof(T));
    return value;
}

struct Kernel {
    const char* name;
    bool (*fits)(const unsigned char*, size_t);
    void (*body)(const void*);
};

template <auto F> struct Caller;
template <class... A, void (*F)(A...)> struct Caller<F> {
    static bool fits(const unsigned char* kinds, size_t n) {
        const unsigned char expected[] = {kind<A>()...};
        return n == sizeof...(A) && std::memcmp(kinds, expected, n) == 0;
    }
    static void body(const void* words) { call(static_cast<const uint64_t*>(words), std::index_sequence_for<A...>()); }
    template <size_t... I> static void call(const uint64_t* words, std::index_sequence<I...>) { F(argument<A>(words[I])...); }
};

#define KERNEL(name) {#name, Caller<name>::fits, Caller<name>::body}

const Kernel KERNELS[] = {
    KERNEL(edge_sum),      KERNEL(edge_sum_heavy),       KERNEL(edge_dots), KERNEL(edge_take),
    KERNEL(edge_softmax),  KERNEL(edge_dropout),         KERNEL(segment_max), KERNEL(segment_max_gradient),
    KERNEL(dropout),       KERNEL(activate),             KERNEL(activation_slope), KERNEL(add_row),
    KERNEL(nll),           KERNEL(nll_gradient),         KERNEL(adam), KERNEL(sgd),
};

} // namespace

// Runs a kernel: 0, or 1 if there is none of the name, 2 if the arguments do not fit it, 3 if its threads part at a barrier.
extern "C" int bonnet_launch(const char* name, unsigned int blocks, const uint64_t* words, const unsigned char* kinds, size_t n) {
    for (const Kernel& kernel : KERNELS) {
        if (std::strcmp(kernel.name, name) != 0) continue;
        if (!kernel.fits(kinds, n)) return 2;
        for (unsigned int i = 0; i < blocks; i++) {
            Block running{};
            running.threads.resize(THREADS);
            running.body = kernel.body;
            running.arguments = words;
            block = &running;
            blockIdx.x = i;
            bool whole = run_block(running);
            block = nullptr;
            if (!whole) return 3;
        }
        return 0;
    }
    return 1;
}

// Bytes that end at a page that cannot be touched, all 0xff; null if there are none.
extern "C" void* bonnet_alloc(size_t bytes) {
    size_t page = size_t(sysconf(_SC_PAGESIZE)), room = (bytes + 15) / 16 * 16;
    size_t pages = (room + page - 1) / page * page;
    void* map = mmap(nullptr, pages + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) return nullptr;
    if (mprotect(static_cast<char*>(map) + pages, page, PROT_NONE) != 0) return nullptr;
    char* start = static_cast<char*>(map) + pages - room;
    std::memset(start, 0xff, room);
    return start;
}

extern "C" void bonnet_free(void* start, size_t bytes) {
    size_t page = size_t(sysconf(_SC_PAGESIZE)), room = (bytes + 15) / 16 * 16;
    size_t pages = (room + page - 1) / page * page;
    munmap(static_cast<char*>(start) + room - pages, pages + page);
}
