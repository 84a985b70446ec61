// The kernels of the operations of `crate::ops` on a GPU.
//
// Matrices are row-major without padding. Blocks have 256 threads. A kernel "by warp" gives each row one warp; sums cross its
// lanes by shuffles in a fixed order. There are no atomics: the same input gives the same bits.
//
// The text needs nothing of CUDA but its keywords, `__shfl_xor_sync` and `__syncthreads`, so that it also compiles for the
// host (see host.cpp), where the tests run it.

typedef unsigned int u32;
typedef unsigned long long u64;

static const u32 LANES = 32;
static const u32 WARPS = 8;
static const u32 THREADS = LANES * WARPS;
static const u32 NONE = 0xffffffffu;

// Where a thread stands.

static __device__ __forceinline__ u32 lane() { return threadIdx.x % LANES; }

static __device__ __forceinline__ u32 warp() { return blockIdx.x * WARPS + threadIdx.x / LANES; }

static __device__ __forceinline__ u64 element() { return (u64)blockIdx.x * THREADS + threadIdx.x; }

// Sums and maxima over the lanes of a warp, by distance: every lane gets the result.

static __device__ __forceinline__ float warp_sum(float x) {
    for (u32 d = LANES / 2; d > 0; d /= 2) x += __shfl_xor_sync(0xffffffffu, x, d);
    return x;
}

static __device__ __forceinline__ float warp_max(float x) {
    for (u32 d = LANES / 2; d > 0; d /= 2) {
        float other = __shfl_xor_sync(0xffffffffu, x, d);
        x = other > x ? other : x;
    }
    return x;
}

// The sum over groups of `lanes` lanes, a power of two, at the same place of each group.
static __device__ __forceinline__ float across_groups(float x, u32 lanes) {
    for (u32 d = LANES / 2; d >= lanes; d /= 2) x += __shfl_xor_sync(0xffffffffu, x, d);
    return x;
}

// The sum within each group of `lanes` lanes.
static __device__ __forceinline__ float within_group(float x, u32 lanes) {
    for (u32 d = lanes / 2; d > 0; d /= 2) x += __shfl_xor_sync(0xffffffffu, x, d);
    return x;
}

// The least power of two that is not below `x`, at most a warp.
static __device__ __forceinline__ u32 lanes_for(u32 x) {
    u32 lanes = 1;
    while (lanes < x && lanes < LANES) lanes *= 2;
    return lanes;
}

// Dropout: the masks of `crate::random::Dropout`, bit by bit.

#define MASK u32 threshold, u32 row_key, u32 column_key, float scale

static __device__ __forceinline__ u32 hash32(u32 x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ (x >> 16);
}

static __device__ __forceinline__ bool keeps(u32 threshold, u32 key, u32 column) {
    return hash32((column * 0x9e3779b9u) ^ key) >= threshold;
}

// Sums along entries. Entry e of row r reads row `others[e]` of x (e itself where that is null) with the weight
// `w[number * heads + column / dim]`, its number `entries[e]` or e; 1 without weights. As many lanes as x has columns read a
// row; the other lanes read other entries.

struct Entries {
    const u32* others;
    const u32* entries;
    const float* w;
    u32 heads;
    u32 dim;
    const float* x;
};

static __device__ __forceinline__ float term(const Entries& s, u32 e, u32 width, u32 column) {
    u32 other = s.others ? s.others[e] : e;
    float x = s.x[(u64)other * width + column];
    return s.w ? s.w[(u64)(s.entries ? s.entries[e] : e) * s.heads + column / s.dim] * x : x;
}

// Adds every `step`th entry from `e` on, four in flight at a time and in order.
static __device__ __forceinline__ float along(const Entries& s, u32 e, u32 end, u32 step, u32 width, u32 column) {
    float sum = 0.0f;
    for (; end > e && end - e > 3 * step; e += 4 * step) {
        float part[4];
        for (u32 k = 0; k < 4; k++) part[k] = term(s, e + k * step, width, column);
        for (u32 k = 0; k < 4; k++) sum += part[k];
    }
    for (; e < end; e += step) sum += term(s, e, width, column);
    return sum;
}

// By warp, but for rows of more than `most` entries.
extern "C" __global__ void edge_sum(u32 n, u32 most, const u32* offsets, const u32* others, const u32* entries,
                                    const float* w, u32 heads, u32 dim, const float* x, float* out) {
    u32 row = warp();
    if (row >= n) return;
    u32 begin = offsets[row], end = offsets[row + 1], width = heads * dim;
    if (end - begin > most) return;
    u32 lanes = lanes_for(width), group = lane() / lanes, groups = LANES / lanes, at = lane() % lanes;
    Entries s = {others, entries, w, heads, dim, x};
    for (u32 first = 0; first < width; first += lanes) {
        u32 column = first + at;
        bool real = column < width;
        float sum = real ? along(s, begin + group, end, groups, width, column) : 0.0f;
        sum = across_groups(sum, lanes);
        if (real && group == 0) out[(u64)row * width + column] = sum;
    }
}

// The rows that edge_sum leaves out, a block each. The warps take every eighth part of the entries; their sums are added in
// order.
extern "C" __global__ void edge_sum_heavy(const u32* heavy, const u32* offsets, const u32* others, const u32* entries,
                                          const float* w, u32 heads, u32 dim, const float* x, float* out) {
    __shared__ float parts[WARPS][LANES];
    u32 row = heavy[blockIdx.x], begin = offsets[row], end = offsets[row + 1], width = heads * dim;
    u32 lanes = lanes_for(width), group = lane() / lanes, groups = LANES / lanes, at = lane() % lanes;
    u32 own = threadIdx.x / LANES;
    Entries s = {others, entries, w, heads, dim, x};
    for (u32 first = 0; first < width; first += lanes) {
        u32 column = first + at;
        float sum = column < width ? along(s, begin + own * groups + group, end, WARPS * groups, width, column) : 0.0f;
        sum = across_groups(sum, lanes);
        if (group == 0) parts[own][at] = sum;
        __syncthreads();
        if (threadIdx.x < lanes && column < width) {
            float total = 0.0f;
            for (u32 other = 0; other < WARPS; other++) total += parts[other][at];
            out[(u64)row * width + column] = total;
        }
        __syncthreads();
    }
}

// out[e] = <x[r], y[c]> head by head for the entries of rows, by warp. A group of lanes takes an entry and a head.
extern "C" __global__ void edge_dots(u32 n, const u32* offsets, const u32* others, u32 heads, u32 dim, const float* x,
                                     const float* y, float* out) {
    u32 row = warp();
    if (row >= n) return;
    u32 begin = offsets[row], end = offsets[row + 1], width = heads * dim;
    u32 lanes = lanes_for(dim), group = lane() / lanes, groups = LANES / lanes, at = lane() % lanes;
    u64 items = (u64)(end - begin) * heads;
    for (u64 first = 0; first < items; first += groups) {
        u64 item = first + group;
        bool real = item < items;
        float sum = 0.0f;
        if (real) {
            u32 head = item % heads;
            const float* a = x + (u64)row * width + head * dim;
            const float* b = y + (u64)others[begin + item / heads] * width + head * dim;
            for (u32 c = at; c < dim; c += lanes) sum += a[c] * b[c];
        }
        sum = within_group(sum, lanes);
        if (real && at == 0) out[(u64)begin * heads + item] = sum;
    }
}

// out[e] = x[r], or x[c] if `sources`, for the entries of rows, by warp.
extern "C" __global__ void edge_take(u32 n, const u32* offsets, const u32* others, u32 sources, u32 width, const float* x,
                                     float* out) {
    u32 row = warp();
    if (row >= n) return;
    u32 begin = offsets[row];
    u64 items = (u64)(offsets[row + 1] - begin) * width;
    for (u64 item = lane(); item < items; item += LANES) {
        u32 from = sources ? others[begin + item / width] : row;
        out[(u64)begin * width + item] = x[(u64)from * width + item % width];
    }
}

// The softmax over the entries of each row, column by column, by warp.
extern "C" __global__ void edge_softmax(u32 n, const u32* offsets, u32 width, const float* x, float* out) {
    u32 row = warp();
    if (row >= n) return;
    u32 begin = offsets[row], end = offsets[row + 1];
    for (u32 column = 0; column < width; column++) {
        float max = -INFINITY, sum = 0.0f;
        for (u32 e = begin + lane(); e < end; e += LANES) {
            float y = x[(u64)e * width + column];
            max = y > max ? y : max;
        }
        max = warp_max(max);
        for (u32 e = begin + lane(); e < end; e += LANES) {
            float y = expf(x[(u64)e * width + column] - max);
            out[(u64)e * width + column] = y;
            sum += y;
        }
        float inverse = 1.0f / warp_sum(sum);
        for (u32 e = begin + lane(); e < end; e += LANES) out[(u64)e * width + column] *= inverse;
    }
}

// out = x * mask for the entries of rows, by warp; the mask of an entry's column is element (r, c * width + column).
extern "C" __global__ void edge_dropout(u32 n, const u32* offsets, const u32* others, u32 width, MASK, const float* x,
                                        float* out) {
    u32 row = warp();
    if (row >= n) return;
    u32 key = hash32(row ^ row_key) + column_key;
    u64 begin = (u64)offsets[row] * width, end = (u64)offsets[row + 1] * width;
    for (u64 at = begin + lane(); at < end; at += LANES) {
        bool kept = keeps(threshold, key, others[at / width] * width + (u32)(at % width));
        out[at] = kept ? x[at] * scale : 0.0f;
    }
}

// The largest value of each column over the entries of a row, by warp; zeros for a row without entries.
extern "C" __global__ void segment_max(u32 n, const u32* offsets, u32 width, const float* x, float* out) {
    u32 row = warp();
    if (row >= n) return;
    u32 begin = offsets[row], end = offsets[row + 1];
    for (u32 column = lane(); column < width; column += LANES) {
        float best = 0.0f;
        for (u32 e = begin; e < end; e++) {
            float y = x[(u64)e * width + column];
            if (e == begin || y > best) best = y;
        }
        out[(u64)row * width + column] = best;
    }
}

// The gradient of segment_max, by warp: to the first entry that holds the largest value.
extern "C" __global__ void segment_max_gradient(u32 n, const u32* offsets, u32 width, const float* x, const float* max,
                                                const float* g, float* out) {
    u32 row = warp();
    if (row >= n) return;
    u32 begin = offsets[row], end = offsets[row + 1];
    for (u32 column = lane(); column < width; column += LANES) {
        u64 of_row = (u64)row * width + column;
        bool met = false;
        for (u32 e = begin; e < end; e++) {
            u64 at = (u64)e * width + column;
            bool first = !met && x[at] == max[of_row];
            out[at] = first ? g[of_row] : 0.0f;
            met = met || first;
        }
    }
}

// out = x * mask, an element a thread. Columns come in groups of `group`, each stored in `stored` columns: the mask of a column
// is that of its stored place.
extern "C" __global__ void dropout(u64 n, u32 width, u32 group, u32 stored, MASK, const float* x, float* out) {
    u64 at = element();
    if (at >= n) return;
    u32 row = at / width, column = at % width;
    u32 key = hash32(row ^ row_key) + column_key;
    out[at] = keeps(threshold, key, column / group * stored + column % group) ? x[at] * scale : 0.0f;
}

// Functions of an element, and their slopes, by the number of `Curve`.

enum Curve : u32 { IDENTITY, RELU, ELU, LEAKY, TANH, SIGMOID, SILU, SOFTPLUS };

static __device__ __forceinline__ float logistic(float x) { return 1.0f / (1.0f + expf(-x)); }

extern "C" __global__ void activate(u64 n, u32 curve, float slope, const float* in, float* out) {
    u64 at = element();
    if (at >= n) return;
    float x = in[at], y = x;
    switch (curve) {
        case RELU: y = x > 0.0f ? x : x * 0.0f; break;
        case ELU: y = x > 0.0f ? x : expm1f(x); break;
        case LEAKY: y = x > 0.0f ? x : x * slope; break;
        case TANH: y = tanhf(x); break;
        case SIGMOID: y = logistic(x); break;
        case SILU: y = x * logistic(x); break;
        case SOFTPLUS: y = (x > 0.0f ? x : 0.0f) + log1pf(expf(-fabsf(x))); break;
    }
    out[at] = y;
}

// out = g * the slope at x.
extern "C" __global__ void activation_slope(u64 n, u32 curve, float slope, const float* in, const float* g, float* out) {
    u64 at = element();
    if (at >= n) return;
    float x = in[at], y = 1.0f;
    switch (curve) {
        case RELU: y = x > 0.0f ? 1.0f : 0.0f; break;
        case ELU: y = x > 0.0f ? 1.0f : expf(x); break;
        case LEAKY: y = x > 0.0f ? 1.0f : slope; break;
        case TANH: y = tanhf(x), y = 1.0f - y * y; break;
        case SIGMOID: y = logistic(x), y = y * (1.0f - y); break;
        case SILU: y = logistic(x), y = y * (1.0f + x * (1.0f - y)); break;
        case SOFTPLUS: y = logistic(x); break;
    }
    out[at] = g[at] * y;
}

// out = x + a row, an element a thread.
extern "C" __global__ void add_row(u64 n, u32 width, const float* x, const float* row, float* out) {
    u64 at = element();
    if (at < n) out[at] = x[at] + row[at % width];
}

// Softmax with negative log-likelihood. The logarithm of the sum of the exponentials of a row, for every lane.
static __device__ __forceinline__ float log_sum(const float* z, u32 classes) {
    float max = -INFINITY, sum = 0.0f;
    for (u32 c = lane(); c < classes; c += LANES) max = z[c] > max ? z[c] : max;
    max = warp_max(max);
    for (u32 c = lane(); c < classes; c += LANES) sum += expf(z[c] - max);
    return max + logf(warp_sum(sum));
}

// out[i] = share * the loss of item i, by warp.
extern "C" __global__ void nll(u32 n, const u32* rows, const u32* labels, const double* shares, u32 classes,
                               const float* logits, float* out) {
    u32 i = warp();
    if (i >= n) return;
    const float* z = logits + (u64)rows[i] * classes;
    float total = log_sum(z, classes);
    if (lane() == 0) out[i] = (float)shares[i] * (total - z[labels[i]]);
}

// Its gradient by the logits of every row, by warp: zeros where a row is no item.
extern "C" __global__ void nll_gradient(u32 n, const u32* items, const u32* labels, const double* shares, u32 classes,
                                        const float* logits, const float* g, float* out) {
    u32 row = warp();
    if (row >= n) return;
    u32 item = items[row];
    const float* z = logits + (u64)row * classes;
    float total = log_sum(z, classes);
    float share = item == NONE ? 0.0f : g[item] * (float)shares[item];
    u32 label = item == NONE ? NONE : labels[item];
    for (u32 c = lane(); c < classes; c += LANES) {
        float p = expf(z[c] - total);
        out[(u64)row * classes + c] = item == NONE ? 0.0f : share * (c == label ? p - 1.0f : p);
    }
}

// The optimisers of `crate::optimizer`, an element a thread: `state` holds the weights, then the first moments, then (adam)
// the second ones. `clip` is the factor of the gradient.

extern "C" __global__ void adam(u64 n, float clip, float l2, float shrink, float rate, float root, const float* gradient,
                                float* state) {
    u64 i = element();
    if (i >= n) return;
    float w = state[i], g = clip * gradient[i] + l2 * w;
    float m = 0.9f * state[n + i] + (float)(1.0 - 0.9) * g;
    float v = 0.999f * state[2 * n + i] + (float)(1.0 - 0.999) * g * g;
    state[n + i] = m;
    state[2 * n + i] = v;
    state[i] = w * shrink - rate * (m / (sqrtf(v) * root + 1e-8f));
}

extern "C" __global__ void sgd(u64 n, float clip, float l2, float shrink, float rate, float root, const float* gradient,
                               float* state) {
    u64 i = element();
    if (i >= n) return;
    float w = state[i];
    float m = 0.9f * state[n + i] + (clip * gradient[i] + l2 * w);
    state[n + i] = m;
    state[i] = w * shrink - rate * root * m;
}
