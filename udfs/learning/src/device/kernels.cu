// The kernels of a program of layers on a GPU: the text of `crate::kernels`, one thread for each of its lanes.
//
// Matrices are row-major with `stride` stored columns; padding columns hold zeros. `rows` lists the rows that a kernel
// computes, null for all of them; no other row is touched. Blocks have 256 threads. A kernel "by warp" gives each row one
// warp; sums cross its lanes by shuffles in a fixed order, and sums over rows are formed by chunks that a second kernel
// adds in order. There are no atomics: the same input gives the same bits.
//
// The text needs nothing of CUDA but its keywords, `__shfl_xor_sync`, `__syncthreads` and `float4`, so that it also
// compiles for the host (see host.cpp), where the tests run it.

typedef unsigned int u32;
typedef unsigned long long u64;

static const u32 LANES = 32;
static const u32 WARPS = 8;
static const u32 THREADS = LANES * WARPS;
static const u32 NONE = 0xffffffffu;

enum Activation : u32 { IDENTITY, RELU, ELU, LEAKY, TANH, SIGMOID };

// Where a thread stands.

static __device__ __forceinline__ u32 lane() { return threadIdx.x % LANES; }

static __device__ __forceinline__ u32 warp() { return blockIdx.x * WARPS + threadIdx.x / LANES; }

static __device__ __forceinline__ u64 element() { return (u64)blockIdx.x * THREADS + threadIdx.x; }

static __device__ __forceinline__ u32 row_at(const u32* rows, u32 i) { return rows ? rows[i] : i; }

// Sums and maxima over the lanes of a warp, by distance: every lane gets the result.

static __device__ __forceinline__ float warp_sum(float x) {
    for (u32 d = LANES / 2; d > 0; d /= 2) x += __shfl_xor_sync(0xffffffffu, x, d);
    return x;
}

static __device__ __forceinline__ double warp_sum(double x) {
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

// Four columns at a time; one by one where a pointer or a stride is not aligned.

static __device__ __forceinline__ bool aligned(const void* p, u32 stride) { return ((u64)p & 15) == 0 && stride % 4 == 0; }

static __device__ __forceinline__ float4 load4(const float* p, bool fast) {
    if (fast) return *(const float4*)p;
    float4 v;
    v.x = p[0], v.y = p[1], v.z = p[2], v.w = p[3];
    return v;
}

// Dropout: the masks of `crate::random::Dropout`, bit by bit.

struct Drop {
    u32 threshold;
    u32 row_key;
    u32 column_key;
    float scale;
};

static __device__ __forceinline__ u32 hash32(u32 x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ (x >> 16);
}

static __device__ __forceinline__ u32 drop_row(const Drop* drop, u32 row) { return hash32(row ^ drop->row_key) + drop->column_key; }

static __device__ __forceinline__ bool keeps(const Drop* drop, u32 key, u32 column) {
    return hash32((column * 0x9e3779b9u) ^ key) >= drop->threshold;
}

static __device__ __forceinline__ float factor_of(const Drop* drop, u32 key, u32 column) {
    return keeps(drop, key, column) ? drop->scale : 0.0f;
}

// What follows the sums of an element, and its slope.

static __device__ __forceinline__ float sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }

static __device__ __forceinline__ float activate(float x, u32 activation, float slope) {
    switch (activation) {
        case RELU: return x > 0.0f ? x : x * 0.0f;
        case ELU: return x > 0.0f ? x : expf(x) - 1.0f;
        case LEAKY: return x > 0.0f ? x : x * slope;
        case TANH: return tanhf(x);
        case SIGMOID: return sigmoid(x);
        default: return x;
    }
}

// The slope of an activation by its value.
static __device__ __forceinline__ float slope_at(float y, u32 activation, float slope) {
    switch (activation) {
        case RELU: return y > 0.0f ? 1.0f : 0.0f;
        case ELU: return y > 0.0f ? 1.0f : y + 1.0f;
        case LEAKY: return y > 0.0f ? 1.0f : slope;
        case TANH: return 1.0f - y * y;
        case SIGMOID: return y * (1.0f - y);
        default: return 1.0f;
    }
}

struct Finish {
    const float* bias;
    u32 activation;
    float slope;
    const Drop* drop;
};

static __device__ __forceinline__ float finish(float x, const Finish& f, u32 key, u32 column) {
    if (f.bias) x += f.bias[column];
    x = activate(x, f.activation, f.slope);
    return f.drop ? x * factor_of(f.drop, key, column) : x;
}

#define FINISH const float *bias, u32 activation, float slope, const Drop *drop

// Sparse times dense, for every sum along the entries of rows: messages, features times weights and their gradients,
// attention. Entry e of row r has the weight `values[n * heads + column / dim]`, n its number (`edges[e]`, or e where that is
// null; 1 without values), times the mask of element (r, c), or (c, r) if `by_column`:
//     out[r] = finish(scale * sum over the entries (r, c) of weight * x[c] + factor * base[r]), or added to out[r].
// A row of x is read by as few lanes as it has groups of four columns; the other lanes read other entries.

struct Weights {
    const u32* columns;
    const u32* edges;
    const float* values;
    u32 heads;
    const Drop* mask;
    bool by_column;
    u32 row;
    u32 row_key;
};

static __device__ __forceinline__ float weight_of(const Weights& w, u32 e, u32 c, u32 head) {
    float weight = w.values ? w.values[(u64)(w.edges ? w.edges[e] : e) * w.heads + head] : 1.0f;
    if (w.mask) weight *= w.by_column ? factor_of(w.mask, drop_row(w.mask, c), w.row) : factor_of(w.mask, w.row_key, c);
    return weight;
}

// Adds every `step`th entry from `e` on, four in flight at a time and in order.
static __device__ __forceinline__ void gather(const Weights& w, u32 e, u32 end, u32 step, u32 head, const float* x,
                                              u32 x_stride, u32 column, bool fast, float* sum) {
    for (; end > e && end - e > 3 * step; e += 4 * step) {
        float weight[4];
        float4 v[4];
        for (u32 k = 0; k < 4; k++) {
            u32 c = w.columns[e + k * step];
            weight[k] = weight_of(w, e + k * step, c, head);
            v[k] = load4(x + (u64)c * x_stride + column, fast);
        }
        for (u32 k = 0; k < 4; k++) {
            sum[0] += weight[k] * v[k].x, sum[1] += weight[k] * v[k].y;
            sum[2] += weight[k] * v[k].z, sum[3] += weight[k] * v[k].w;
        }
    }
    for (; e < end; e += step) {
        u32 c = w.columns[e];
        float weight = weight_of(w, e, c, head);
        float4 v = load4(x + (u64)c * x_stride + column, fast);
        sum[0] += weight * v.x, sum[1] += weight * v.y, sum[2] += weight * v.z, sum[3] += weight * v.w;
    }
}

#define GATHER                                                                                                              \
    const u32 *offsets, const u32 *columns, const u32 *edges, const float *values, u32 heads, u32 dim, const Drop *mask,    \
        u32 by_column, const float *x, u32 x_stride, u32 width, float scale, const float *base, u32 base_stride,            \
        float factor, u32 add, FINISH, float *out, u32 out_stride

// By warp, but for rows of more than `most` entries.
extern "C" __global__ void spmm(const u32* rows, u32 n_rows, u32 most, GATHER) {
    u32 i = warp();
    if (i >= n_rows) return;
    u32 row = row_at(rows, i), begin = offsets[row], end = offsets[row + 1];
    if (end - begin > most) return;
    u32 quads = width / 4, lanes = lanes_for(quads), group = lane() / lanes, groups = LANES / lanes, at = lane() % lanes;
    bool fast = aligned(x, x_stride);
    Weights w = {columns, edges, values, heads, mask, by_column != 0, row, mask && !by_column ? drop_row(mask, row) : 0};
    Finish f = {bias, activation, slope, drop};
    u32 key = drop ? drop_row(drop, row) : 0;
    for (u32 first = 0; first < quads; first += lanes) {
        u32 column = 4 * (first + at);
        bool real = column < width;
        float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        if (real) gather(w, begin + group, end, groups, column / dim, x, x_stride, column, fast, sum);
        for (u32 k = 0; k < 4; k++) sum[k] = across_groups(sum[k], lanes);
        if (real && group == 0) {
            float* to = out + (u64)row * out_stride + column;
            for (u32 k = 0; k < 4; k++) {
                float y = scale * sum[k];
                if (base) y += factor * base[(u64)row * base_stride + column + k];
                if (add) y += to[k];
                to[k] = finish(y, f, key, column + k);
            }
        }
    }
}

// Whether a row is in an ascending list.
static __device__ __forceinline__ bool is_listed(const u32* rows, u32 n, u32 row) {
    u32 low = 0, high = n;
    while (low < high) {
        u32 middle = (low + high) / 2;
        if (rows[middle] < row) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < n && rows[low] == row;
}

// The rows that spmm leaves out, a block each: `heavy` lists them, whether they are among `rows` or not. The warps take every
// eighth part of the entries; their sums are added in order.
extern "C" __global__ void spmm_heavy(const u32* rows, u32 n_rows, const u32* heavy, GATHER) {
    __shared__ float parts[WARPS][4 * LANES];
    u32 row = heavy[blockIdx.x];
    if (rows && !is_listed(rows, n_rows, row)) return;
    u32 begin = offsets[row], end = offsets[row + 1];
    u32 quads = width / 4, lanes = lanes_for(quads), group = lane() / lanes, groups = LANES / lanes, at = lane() % lanes;
    u32 own = threadIdx.x / LANES;
    bool fast = aligned(x, x_stride);
    Weights w = {columns, edges, values, heads, mask, by_column != 0, row, mask && !by_column ? drop_row(mask, row) : 0};
    Finish f = {bias, activation, slope, drop};
    u32 key = drop ? drop_row(drop, row) : 0;
    for (u32 first = 0; first < quads; first += lanes) {
        u32 column = 4 * (first + at);
        bool real = column < width;
        float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        u32 start = begin + own * groups + group;
        if (real) gather(w, start, end, WARPS * groups, column / dim, x, x_stride, column, fast, sum);
        for (u32 k = 0; k < 4; k++) sum[k] = across_groups(sum[k], lanes);
        if (group == 0)
            for (u32 k = 0; k < 4; k++) parts[own][4 * at + k] = sum[k];
        __syncthreads();
        u32 c = threadIdx.x;
        if (c < 4 * lanes && 4 * first + c < width) {
            float total = 0.0f;
            for (u32 other = 0; other < WARPS; other++) total += parts[other][c];
            float y = scale * total;
            c += 4 * first;
            float* to = out + (u64)row * out_stride + c;
            if (base) y += factor * base[(u64)row * base_stride + c];
            if (add) y += *to;
            *to = finish(y, f, key, c);
        }
        __syncthreads();
    }
}

// The largest value of each column over the sources of a row, by warp, and the source that gave it, among equals the
// first; zeros and NONE for a row without entries.
extern "C" __global__ void segment_max(const u32* rows, u32 n_rows, const u32* offsets, const u32* columns, const float* x,
                                       u32 width, float* out, u32* which) {
    u32 i = warp();
    if (i >= n_rows) return;
    u32 row = row_at(rows, i), begin = offsets[row], end = offsets[row + 1];
    for (u32 c = lane(); c < width; c += LANES) {
        float best = 0.0f;
        u32 source = NONE;
        for (u32 e = begin; e < end; e++) {
            float y = x[(u64)columns[e] * width + c];
            if (e == begin || y > best) best = y, source = columns[e];
        }
        out[(u64)row * width + c] = best;
        which[(u64)row * width + c] = source;
    }
}

// The gradient of segment_max, by warp; rows, offsets and columns are those of the transposed entries.
extern "C" __global__ void segment_max_gradient(const u32* rows, u32 n_rows, const u32* offsets, const u32* columns,
                                                const u32* which, const float* d_out, u32 width, u32 add, float* out) {
    u32 i = warp();
    if (i >= n_rows) return;
    u32 row = row_at(rows, i), begin = offsets[row], end = offsets[row + 1];
    for (u32 c = lane(); c < width; c += LANES) {
        float sum = add ? out[(u64)row * width + c] : 0.0f;
        for (u32 e = begin; e < end; e++) {
            u64 from = (u64)columns[e] * width + c;
            if (which[from] == row) sum += d_out[from];
        }
        out[(u64)row * width + c] = sum;
    }
}

// The sampled dense-dense product, by warp: out[e] = scale * <x[r], y[c]> head by head for the entries of rows. A group of
// lanes takes an entry and a head.
extern "C" __global__ void edge_dots(const u32* rows, u32 n_rows, const u32* offsets, const u32* columns, u32 heads, u32 dim,
                                     const float* x, const float* y, float scale, float* out) {
    u32 i = warp();
    if (i >= n_rows) return;
    u32 row = row_at(rows, i), begin = offsets[row], end = offsets[row + 1];
    u32 stride = heads * dim, quads = dim / 4, lanes = lanes_for(quads);
    u32 group = lane() / lanes, groups = LANES / lanes, at = lane() % lanes;
    u64 items = (u64)(end - begin) * heads;
    bool fast = aligned(x, stride) && aligned(y, stride);
    // Every lane takes part in every shuffle: the last items are padded.
    for (u64 first = 0; first < items; first += groups) {
        u64 item = first + group;
        bool real = item < items;
        float sum = 0.0f;
        if (real) {
            u32 source = columns[begin + item / heads], head = item % heads;
            const float* a = x + (u64)row * stride + head * dim;
            const float* b = y + (u64)source * stride + head * dim;
            for (u32 q = at; q < quads; q += lanes) {
                float4 u = load4(a + 4 * q, fast), v = load4(b + 4 * q, fast);
                sum += u.x * v.x + u.y * v.y + u.z * v.z + u.w * v.w;
            }
        }
        sum = within_group(sum, lanes);
        if (real && at == 0) out[(u64)begin * heads + item] = scale * sum;
    }
}

// activation(target[r] + source[c]) head by head for the entries of rows, by warp; the numbers are the first columns of
// two matrices of `stride` columns.
extern "C" __global__ void edge_pair_scores(const u32* rows, u32 n_rows, const u32* offsets, const u32* columns, u32 heads,
                                            const float* target, const float* source, u32 stride, u32 activation, float slope,
                                            float* out) {
    u32 i = warp();
    if (i >= n_rows) return;
    u32 row = row_at(rows, i), begin = offsets[row], end = offsets[row + 1];
    u64 items = (u64)(end - begin) * heads;
    for (u64 item = lane(); item < items; item += LANES) {
        u32 head = item % heads, c = columns[begin + item / heads];
        float sum = target[(u64)row * stride + head] + source[(u64)c * stride + head];
        out[(u64)begin * heads + item] = activate(sum, activation, slope);
    }
}

// d *= slope of the activation at its value, for the entries of rows, by warp.
extern "C" __global__ void edge_through_gate(const u32* rows, u32 n_rows, const u32* offsets, u32 heads, u32 activation,
                                             float slope, const float* values, float* d) {
    u32 i = warp();
    if (i >= n_rows) return;
    u32 row = row_at(rows, i);
    u64 end = (u64)offsets[row + 1] * heads;
    for (u64 at = (u64)offsets[row] * heads + lane(); at < end; at += LANES) d[at] *= slope_at(values[at], activation, slope);
}

// to = from * factors (where given) * mask, for the entries of rows, by warp; the mask of an entry's head is element
// (r, c * heads + head).
extern "C" __global__ void edge_scale(const u32* rows, u32 n_rows, const u32* offsets, const u32* columns, u32 heads,
                                      const float* factors, const Drop* mask, const float* from, float* to) {
    u32 i = warp();
    if (i >= n_rows) return;
    u32 row = row_at(rows, i), key = mask ? drop_row(mask, row) : 0;
    u64 begin = (u64)offsets[row] * heads, end = (u64)offsets[row + 1] * heads;
    for (u64 at = begin + lane(); at < end; at += LANES) {
        float x = from[at];
        if (factors) x *= factors[at / heads];
        if (mask) x *= factor_of(mask, key, columns[at / heads] * heads + (u32)(at % heads));
        to[at] = x;
    }
}

// The softmax over the entries of each row, head by head, in place, by warp.
extern "C" __global__ void edge_softmax(const u32* rows, u32 n_rows, const u32* offsets, u32 heads, float* values) {
    u32 i = warp();
    if (i >= n_rows) return;
    u32 row = row_at(rows, i), begin = offsets[row], end = offsets[row + 1];
    for (u32 head = 0; head < heads; head++) {
        float max = -INFINITY, sum = 0.0f;
        for (u32 e = begin + lane(); e < end; e += LANES) {
            float x = values[(u64)e * heads + head];
            max = x > max ? x : max;
        }
        max = warp_max(max);
        for (u32 e = begin + lane(); e < end; e += LANES) {
            float x = expf(values[(u64)e * heads + head] - max);
            values[(u64)e * heads + head] = x;
            sum += x;
        }
        float inverse = 1.0f / warp_sum(sum);
        for (u32 e = begin + lane(); e < end; e += LANES) values[(u64)e * heads + head] *= inverse;
    }
}

// From the gradient of the coefficients to that of the scores, in place, by warp: d = alpha (d - sum of alpha d).
extern "C" __global__ void edge_softmax_gradient(const u32* rows, u32 n_rows, const u32* offsets, u32 heads,
                                                 const float* alpha, float* d) {
    u32 i = warp();
    if (i >= n_rows) return;
    u32 row = row_at(rows, i), begin = offsets[row], end = offsets[row + 1];
    for (u32 head = 0; head < heads; head++) {
        float mean = 0.0f;
        for (u32 e = begin + lane(); e < end; e += LANES) mean += alpha[(u64)e * heads + head] * d[(u64)e * heads + head];
        mean = warp_sum(mean);
        for (u32 e = begin + lane(); e < end; e += LANES) {
            u64 at = (u64)e * heads + head;
            d[at] = alpha[at] * (d[at] - mean);
        }
    }
}

// The sum (or mean) of the numbers of the entries of rows, by warp, into the first `heads` of `stride` columns; `edges`
// gives the number of each entry, null for its own.
extern "C" __global__ void edge_sums(const u32* rows, u32 n_rows, const u32* offsets, const u32* edges, u32 heads,
                                     const float* values, u32 mean, u32 add, float* out, u32 stride) {
    u32 i = warp();
    if (i >= n_rows) return;
    u32 row = row_at(rows, i), begin = offsets[row], end = offsets[row + 1];
    float scale = mean ? 1.0f / (float)(end > begin ? end - begin : 1) : 1.0f;
    for (u32 head = 0; head < heads; head++) {
        float sum = 0.0f;
        for (u32 e = begin + lane(); e < end; e += LANES) sum += values[(u64)(edges ? edges[e] : e) * heads + head];
        sum = warp_sum(sum) * scale;
        float* to = out + (u64)row * stride + head;
        if (lane() == 0) *to = add ? *to + sum : sum;
    }
}

// out[r][at + h] = <x[r], vector> over the columns of head h, by warp.
extern "C" __global__ void head_dots(const u32* rows, u32 n_rows, u32 heads, u32 dim, const float* x, const float* vector,
                                     float* out, u32 stride) {
    u32 i = warp();
    if (i >= n_rows) return;
    u32 row = row_at(rows, i);
    for (u32 head = 0; head < heads; head++) {
        float sum = 0.0f;
        for (u32 c = lane(); c < dim; c += LANES) sum += x[((u64)row * heads + head) * dim + c] * vector[head * dim + c];
        sum = warp_sum(sum);
        if (lane() == 0) out[(u64)row * stride + head] = sum;
    }
}

// out[r][c] = d[r][head of c] * x[r][c], or added; x has one row for all where `x_stride` is 0.
extern "C" __global__ void head_scale(const u32* rows, u32 n_rows, u32 heads, u32 dim, const float* d, u32 d_stride,
                                      const float* x, u32 x_stride, u32 add, float* out) {
    u32 width = heads * dim;
    u64 at = element();
    if (at >= (u64)n_rows * width) return;
    u32 row = row_at(rows, at / width), c = at % width;
    float y = d[(u64)row * d_stride + c / dim] * x[(u64)row * x_stride + c];
    float* to = out + (u64)row * width + c;
    *to = add ? *to + y : y;
}

// Dense products.

// out[r] = finish(a[r] W), or added: `a` has k columns, W is k x n, or the transpose of n x k if `transposed`; an entry of a
// is multiplied by its mask. A block computes 128 x 64 elements in tiles of 16 of k, a thread 8 x 4 of them.
static const u32 TILE_M = 128, TILE_N = 64, TILE_K = 16;

extern "C" __global__ void gemm(const u32* rows, u32 n_rows, const float* a, u32 k, const Drop* mask, const float* w, u32 n,
                                u32 transposed, u32 add, FINISH, float* out) {
    __shared__ float as[TILE_K][TILE_M + 4];
    __shared__ float bs[TILE_K][TILE_N + 4];
    __shared__ u32 row_of[TILE_M];
    __shared__ u32 key_of[TILE_M];
    u32 t = threadIdx.x, tiles = (n + TILE_N - 1) / TILE_N;
    u32 m0 = blockIdx.x / tiles * TILE_M, n0 = blockIdx.x % tiles * TILE_N;
    if (t < TILE_M) {
        u32 row = m0 + t < n_rows ? row_at(rows, m0 + t) : NONE;
        row_of[t] = row;
        key_of[t] = mask && row != NONE ? drop_row(mask, row) : 0;
    }
    __syncthreads();
    u32 ty = t / 16 * 8, tx = t % 16 * 4;
    float sum[8][4];
    for (u32 i = 0; i < 8; i++)
        for (u32 j = 0; j < 4; j++) sum[i][j] = 0.0f;
    bool fast_a = aligned(a, k), fast_w = aligned(w, transposed ? k : n);
    for (u32 k0 = 0; k0 < k; k0 += TILE_K) {
        for (u32 part = 0; part < 2; part++) {
            u32 m = t / 4 + 64 * part, kk = t % 4 * 4, row = row_of[m];
            float v[4] = {0.0f, 0.0f, 0.0f, 0.0f};
            if (row != NONE) {
                const float* from = a + (u64)row * k + k0 + kk;
                if (k0 + kk + 3 < k) {
                    float4 q = load4(from, fast_a);
                    v[0] = q.x, v[1] = q.y, v[2] = q.z, v[3] = q.w;
                } else {
                    for (u32 c = 0; c < 4; c++) v[c] = k0 + kk + c < k ? from[c] : 0.0f;
                }
                if (mask)
                    for (u32 c = 0; c < 4; c++) v[c] *= factor_of(mask, key_of[m], k0 + kk + c);
            }
            for (u32 c = 0; c < 4; c++) as[kk + c][m] = v[c];
        }
        {
            u32 kk = transposed ? t % 4 * 4 : t / 16, c0 = transposed ? t / 4 : t % 16 * 4;
            float v[4] = {0.0f, 0.0f, 0.0f, 0.0f};
            if (transposed) {
                const float* from = w + (u64)(n0 + c0) * k + k0 + kk;
                if (n0 + c0 < n && k0 + kk + 3 < k) {
                    float4 q = load4(from, fast_w);
                    v[0] = q.x, v[1] = q.y, v[2] = q.z, v[3] = q.w;
                } else if (n0 + c0 < n) {
                    for (u32 c = 0; c < 4; c++) v[c] = k0 + kk + c < k ? from[c] : 0.0f;
                }
                for (u32 c = 0; c < 4; c++) bs[kk + c][c0] = v[c];
            } else {
                const float* from = w + (u64)(k0 + kk) * n + n0 + c0;
                if (k0 + kk < k && n0 + c0 + 3 < n) {
                    float4 q = load4(from, fast_w);
                    v[0] = q.x, v[1] = q.y, v[2] = q.z, v[3] = q.w;
                } else if (k0 + kk < k) {
                    for (u32 c = 0; c < 4; c++) v[c] = n0 + c0 + c < n ? from[c] : 0.0f;
                }
                for (u32 c = 0; c < 4; c++) bs[kk][c0 + c] = v[c];
            }
        }
        __syncthreads();
#pragma unroll
        for (u32 kk = 0; kk < TILE_K; kk++) {
            float u[8], v[4];
            for (u32 i = 0; i < 8; i++) u[i] = as[kk][ty + i];
            for (u32 j = 0; j < 4; j++) v[j] = bs[kk][tx + j];
            for (u32 i = 0; i < 8; i++)
                for (u32 j = 0; j < 4; j++) sum[i][j] += u[i] * v[j];
        }
        __syncthreads();
    }
    Finish f = {bias, activation, slope, drop};
    for (u32 i = 0; i < 8; i++) {
        u32 row = row_of[ty + i];
        if (row == NONE) continue;
        u32 key = drop ? drop_row(drop, row) : 0;
        for (u32 j = 0; j < 4; j++) {
            u32 c = n0 + tx + j;
            if (c >= n) continue;
            float* to = out + (u64)row * n + c;
            *to = finish(add ? *to + sum[i][j] : sum[i][j], f, key, c);
        }
    }
}

// partials[chunk] = the sum over the rows of a chunk of a[r]' g[r], k x n; an entry of a is multiplied by its mask. A block
// computes 64 x 64 elements of one chunk in tiles of 16 rows, a thread 4 x 4 of them.
static const u32 OUTER = 64, OUTER_ROWS = 16;

extern "C" __global__ void gemm_tn(const u32* rows, u32 n_rows, u32 per_chunk, const float* a, u32 k, const Drop* mask,
                                   const float* g, u32 n, float* partials) {
    __shared__ float as[OUTER_ROWS][OUTER];
    __shared__ float gs[OUTER_ROWS][OUTER];
    u32 t = threadIdx.x, tiles_k = (k + OUTER - 1) / OUTER, tiles_n = (n + OUTER - 1) / OUTER, tiles = tiles_k * tiles_n;
    u32 chunk = blockIdx.x / tiles, tile = blockIdx.x % tiles;
    u32 k0 = tile / tiles_n * OUTER, n0 = tile % tiles_n * OUTER;
    u64 first = (u64)chunk * per_chunk, last = first + per_chunk < n_rows ? first + per_chunk : n_rows;
    u32 ty = t / 16 * 4, tx = t % 16 * 4;
    float sum[4][4];
    for (u32 i = 0; i < 4; i++)
        for (u32 j = 0; j < 4; j++) sum[i][j] = 0.0f;
    for (u64 r0 = first; r0 < last; r0 += OUTER_ROWS) {
        for (u32 part = 0; part < 4; part++) {
            u32 r = t / 64 + 4 * part, c = t % 64;
            float u = 0.0f, v = 0.0f;
            if (r0 + r < last) {
                u32 row = row_at(rows, r0 + r);
                if (k0 + c < k) {
                    u = a[(u64)row * k + k0 + c];
                    if (mask) u *= factor_of(mask, drop_row(mask, row), k0 + c);
                }
                if (n0 + c < n) v = g[(u64)row * n + n0 + c];
            }
            as[r][c] = u;
            gs[r][c] = v;
        }
        __syncthreads();
#pragma unroll
        for (u32 r = 0; r < OUTER_ROWS; r++) {
            float u[4], v[4];
            for (u32 i = 0; i < 4; i++) u[i] = as[r][ty + i];
            for (u32 j = 0; j < 4; j++) v[j] = gs[r][tx + j];
            for (u32 i = 0; i < 4; i++)
                for (u32 j = 0; j < 4; j++) sum[i][j] += u[i] * v[j];
        }
        __syncthreads();
    }
    for (u32 i = 0; i < 4; i++)
        for (u32 j = 0; j < 4; j++)
            if (k0 + ty + i < k && n0 + tx + j < n)
                partials[((u64)chunk * k + k0 + ty + i) * n + n0 + tx + j] = sum[i][j];
}

// partials[chunk][c] = the sum over the rows of a chunk of x[r][c]; a block takes 32 columns of a chunk.
extern "C" __global__ void column_sums(const u32* rows, u32 n_rows, u32 per_chunk, const float* x, u32 width, float* partials) {
    __shared__ float parts[WARPS][LANES];
    u32 tiles = (width + LANES - 1) / LANES, chunk = blockIdx.x / tiles, c = blockIdx.x % tiles * LANES + lane();
    u32 w = threadIdx.x / LANES;
    u64 first = (u64)chunk * per_chunk, last = first + per_chunk < n_rows ? first + per_chunk : n_rows;
    float sum = 0.0f;
    if (c < width)
        for (u64 r = first + w; r < last; r += WARPS) sum += x[(u64)row_at(rows, r) * width + c];
    parts[w][lane()] = sum;
    __syncthreads();
    if (w == 0 && c < width) {
        for (u32 other = 1; other < WARPS; other++) sum += parts[other][lane()];
        partials[(u64)chunk * width + c] = sum;
    }
}

// partials[chunk] = the sum over the rows of a chunk of <x[r], y[r]>; one block a chunk.
extern "C" __global__ void dot_partials(const u32* rows, u32 n_rows, u32 per_chunk, const float* x, const float* y, u32 width,
                                        float* partials) {
    __shared__ float parts[WARPS];
    u32 w = threadIdx.x / LANES;
    u64 first = (u64)blockIdx.x * per_chunk, last = first + per_chunk < n_rows ? first + per_chunk : n_rows;
    float sum = 0.0f;
    for (u64 r = first + w; r < last; r += WARPS) {
        u64 at = (u64)row_at(rows, r) * width;
        for (u32 c = lane(); c < width; c += LANES) sum += x[at + c] * y[at + c];
    }
    sum = warp_sum(sum);
    if (lane() == 0) parts[w] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (u32 other = 1; other < WARPS; other++) sum += parts[other];
        partials[blockIdx.x] = sum;
    }
}

// out[i] = partials[0][i] + partials[1][i] + ..., or added.
extern "C" __global__ void sum_partials(const float* partials, u32 count, u32 len, u32 add, float* out) {
    u64 i = element();
    if (i >= len) return;
    float sum = 0.0f;
    for (u32 part = 0; part < count; part++) sum += partials[(u64)part * len + i];
    out[i] = add ? out[i] + sum : sum;
}

// out = value, for `len` numbers.
extern "C" __global__ void fill(float* out, u64 len, float value) {
    u64 i = element();
    if (i < len) out[i] = value;
}

// to = from, for `len` numbers.
extern "C" __global__ void copy(const float* from, u64 len, float* to) {
    u64 i = element();
    if (i < len) to[i] = from[i];
}

// Rows, element by element.

// Zeros in the rows of a set.
extern "C" __global__ void clear_rows(const u32* rows, u32 n_rows, u32 width, float* out) {
    u64 at = element();
    if (at < (u64)n_rows * width) out[(u64)row_at(rows, at / width) * width + at % width] = 0.0f;
}

// Zeros in the padding of rows: groups of `stored` columns, of which the first `real` are real.
extern "C" __global__ void clear_padding(const u32* rows, u32 n_rows, u32 width, u32 stored, u32 real, float* out) {
    u64 at = element();
    if (at >= (u64)n_rows * width) return;
    u32 c = at % width;
    if (c % stored >= real) out[(u64)row_at(rows, at / width) * width + c] = 0.0f;
}

// The gradient of finished outputs becomes that of their sums, in place.
extern "C" __global__ void gate_rows(const u32* rows, u32 n_rows, u32 width, const float* output, u32 activation, float slope,
                                     const Drop* drop, float* gradient) {
    u64 i = element();
    if (i >= (u64)n_rows * width) return;
    u32 row = row_at(rows, i / width), c = i % width;
    u64 at = (u64)row * width + c;
    float factor = drop ? factor_of(drop, drop_row(drop, row), c) : 1.0f;
    // The value before dropout; where it was dropped the factor is 0 anyway.
    float y = drop ? output[at] / drop->scale : output[at];
    gradient[at] *= factor * slope_at(y, activation, slope);
}

// out = finish(c * x + (out, if add)), c = coefficient[0] (1 if null) * constant.
extern "C" __global__ void add_rows(const u32* rows, u32 n_rows, u32 width, const float* x, const float* coefficient,
                                    float constant, u32 add, FINISH, float* out) {
    u64 i = element();
    if (i >= (u64)n_rows * width) return;
    u32 row = row_at(rows, i / width), c = i % width;
    u64 at = (u64)row * width + c;
    Finish f = {bias, activation, slope, drop};
    float y = (coefficient ? coefficient[0] * constant : constant) * x[at];
    out[at] = finish(add ? out[at] + y : y, f, drop ? drop_row(drop, row) : 0, c);
}

// `width` columns of rows from one matrix to another, or added.
extern "C" __global__ void copy_columns(const u32* rows, u32 n_rows, u32 width, const float* x, u32 x_stride, u32 x_at, u32 add,
                                        float* out, u32 out_stride, u32 out_at) {
    u64 i = element();
    if (i >= (u64)n_rows * width) return;
    u32 row = row_at(rows, i / width), c = i % width;
    float y = x[(u64)row * x_stride + x_at + c];
    float* to = out + (u64)row * out_stride + out_at + c;
    *to = add ? *to + y : y;
}

// out = x * y element by element, or added.
extern "C" __global__ void multiply_rows(const u32* rows, u32 n_rows, u32 width, const float* x, const float* y, u32 add,
                                         float* out) {
    u64 i = element();
    if (i >= (u64)n_rows * width) return;
    u64 at = (u64)row_at(rows, i / width) * width + i % width;
    out[at] = add ? out[at] + x[at] * y[at] : x[at] * y[at];
}

// out[r] = gates[r][term] * x[r], or added.
extern "C" __global__ void scale_rows(const u32* rows, u32 n_rows, u32 width, const float* gates, u32 stride, u32 term,
                                      const float* x, u32 add, float* out) {
    u64 i = element();
    if (i >= (u64)n_rows * width) return;
    u32 row = row_at(rows, i / width);
    u64 at = (u64)row * width + i % width;
    float y = gates[(u64)row * stride + term] * x[at];
    out[at] = add ? out[at] + y : y;
}

// out[r][term] += <x[r], y[r]>, by warp.
extern "C" __global__ void row_dots(const u32* rows, u32 n_rows, u32 width, const float* x, const float* y, float* out,
                                    u32 stride, u32 term) {
    u32 i = warp();
    if (i >= n_rows) return;
    u32 row = row_at(rows, i);
    float sum = 0.0f;
    for (u32 c = lane(); c < width; c += LANES) sum += x[(u64)row * width + c] * y[(u64)row * width + c];
    sum = warp_sum(sum);
    if (lane() == 0) out[(u64)row * stride + term] += sum;
}

// out[r] = the mean of the `heads` groups of `width` columns of x[r].
extern "C" __global__ void mean_heads(const u32* rows, u32 n_rows, u32 heads, u32 width, const float* x, float* out) {
    u64 i = element();
    if (i >= (u64)n_rows * width) return;
    u32 row = row_at(rows, i / width), c = i % width;
    float sum = 0.0f;
    for (u32 head = 0; head < heads; head++) sum += x[((u64)row * heads + head) * width + c];
    out[(u64)row * width + c] = sum / (float)heads;
}

// The gradient of mean_heads.
extern "C" __global__ void mean_heads_gradient(const u32* rows, u32 n_rows, u32 heads, u32 width, const float* d_out, u32 add,
                                               float* out) {
    u64 i = element();
    u32 stride = heads * width;
    if (i >= (u64)n_rows * stride) return;
    u32 row = row_at(rows, i / stride), c = i % stride;
    float y = d_out[(u64)row * width + c % width] / (float)heads;
    float* to = out + (u64)row * stride + c;
    *to = add ? *to + y : y;
}

// GELU or SiLU of each element, padding too: both are 0 at 0. `curve` 0: x P(N < x); 1: x / (1 + e^-x).
static __device__ __forceinline__ float normal_below(float x) { return 0.5f * erfcf(-x * 0.70710678f); }

extern "C" __global__ void smooth(const u32* rows, u32 n_rows, u32 width, u32 curve, const float* x, float* out) {
    u64 i = element();
    if (i >= (u64)n_rows * width) return;
    u64 at = (u64)row_at(rows, i / width) * width + i % width;
    out[at] = x[at] * (curve == 0 ? normal_below(x[at]) : sigmoid(x[at]));
}

extern "C" __global__ void smooth_gradient(const u32* rows, u32 n_rows, u32 width, u32 curve, const float* x, const float* d_out,
                                           u32 add, float* out) {
    u64 i = element();
    if (i >= (u64)n_rows * width) return;
    u64 at = (u64)row_at(rows, i / width) * width + i % width;
    float z = x[at], s = curve == 0 ? normal_below(z) : sigmoid(z);
    float slope = curve == 0 ? s + z * 0.39894228f * expf(-0.5f * z * z) : s + z * s * (1.0f - s);
    float y = d_out[at] * slope;
    out[at] = add ? out[at] + y : y;
}

// Rows as a whole, by warp. A column c is real where c % stored < real.

// The softmax over the real columns; padding gets zeros.
extern "C" __global__ void row_softmax(const u32* rows, u32 n_rows, u32 width, u32 stored, u32 real, const float* x, float* out) {
    u32 i = warp();
    if (i >= n_rows) return;
    u64 at = (u64)row_at(rows, i) * width;
    float max = -INFINITY, sum = 0.0f;
    for (u32 c = lane(); c < width; c += LANES)
        if (c % stored < real) max = x[at + c] > max ? x[at + c] : max;
    max = warp_max(max);
    for (u32 c = lane(); c < width; c += LANES) {
        float y = c % stored < real ? expf(x[at + c] - max) : 0.0f;
        out[at + c] = y;
        sum += y;
    }
    sum = warp_sum(sum);
    for (u32 c = lane(); c < width; c += LANES) out[at + c] /= sum;
}

// d_x = y (d_out - <y, d_out>), or added.
extern "C" __global__ void row_softmax_gradient(const u32* rows, u32 n_rows, u32 width, const float* y, const float* d_out,
                                                u32 add, float* out) {
    u32 i = warp();
    if (i >= n_rows) return;
    u64 at = (u64)row_at(rows, i) * width;
    float mean = 0.0f;
    for (u32 c = lane(); c < width; c += LANES) mean += y[at + c] * d_out[at + c];
    mean = warp_sum(mean);
    for (u32 c = lane(); c < width; c += LANES) {
        float d = y[at + c] * (d_out[at + c] - mean);
        out[at + c] = add ? out[at + c] + d : d;
    }
}

static __device__ __forceinline__ float inverse_norm(const float* x, u32 width) {
    float squares = 0.0f;
    for (u32 c = lane(); c < width; c += LANES) squares += x[c] * x[c];
    squares = warp_sum(squares);
    return squares > 0.0f ? 1.0f / sqrtf(squares) : 0.0f;
}

// x / |x|; zeros stay zeros.
extern "C" __global__ void unit_rows(const u32* rows, u32 n_rows, u32 width, const float* x, float* out) {
    u32 i = warp();
    if (i >= n_rows) return;
    u64 at = (u64)row_at(rows, i) * width;
    float inverse = inverse_norm(x + at, width);
    for (u32 c = lane(); c < width; c += LANES) out[at + c] = x[at + c] * inverse;
}

extern "C" __global__ void unit_rows_gradient(const u32* rows, u32 n_rows, u32 width, const float* x, const float* d_out, u32 add,
                                              float* out) {
    u32 i = warp();
    if (i >= n_rows) return;
    u64 at = (u64)row_at(rows, i) * width;
    float inverse = inverse_norm(x + at, width), along = 0.0f;
    for (u32 c = lane(); c < width; c += LANES) along += x[at + c] * inverse * d_out[at + c];
    along = warp_sum(along);
    for (u32 c = lane(); c < width; c += LANES) {
        float d = inverse * (d_out[at + c] - x[at + c] * inverse * along);
        out[at + c] = add ? out[at + c] + d : d;
    }
}

struct Moments {
    float mean;
    float inverse;
};

// The mean of the real columns and the inverse of their deviation, 1e-5 added to the variance.
static __device__ __forceinline__ Moments moments(const float* x, u32 width, u32 stored, u32 real) {
    float count = (float)(width / stored * real), sum = 0.0f, squares = 0.0f;
    for (u32 c = lane(); c < width; c += LANES)
        if (c % stored < real) sum += x[c];
    Moments m;
    m.mean = warp_sum(sum) / count;
    for (u32 c = lane(); c < width; c += LANES)
        if (c % stored < real) squares += (x[c] - m.mean) * (x[c] - m.mean);
    m.inverse = 1.0f / sqrtf(warp_sum(squares) / count + 1e-5f);
    return m;
}

// gain * (x - mean) / deviation over the real columns; padding gets zeros.
extern "C" __global__ void layer_norm(const u32* rows, u32 n_rows, u32 width, u32 stored, u32 real, const float* x,
                                      const float* gain, float* out) {
    u32 i = warp();
    if (i >= n_rows) return;
    u64 at = (u64)row_at(rows, i) * width;
    Moments m = moments(x + at, width, stored, real);
    for (u32 c = lane(); c < width; c += LANES)
        out[at + c] = c % stored < real ? gain[c] * (x[at + c] - m.mean) * m.inverse : 0.0f;
}

// The gradient of layer_norm by x (where d_x is given; or added), and its terms of the gradient of the gain, whose column
// sums are that gradient.
extern "C" __global__ void layer_norm_gradient(const u32* rows, u32 n_rows, u32 width, u32 stored, u32 real, const float* x,
                                               const float* gain, const float* d_out, u32 add, float* d_x, float* terms) {
    u32 i = warp();
    if (i >= n_rows) return;
    u64 at = (u64)row_at(rows, i) * width;
    Moments m = moments(x + at, width, stored, real);
    float count = (float)(width / stored * real), sum = 0.0f, along = 0.0f;
    for (u32 c = lane(); c < width; c += LANES) {
        float standard = (x[at + c] - m.mean) * m.inverse;
        bool is_real = c % stored < real;
        if (is_real) sum += d_out[at + c] * gain[c], along += d_out[at + c] * gain[c] * standard;
        terms[at + c] = is_real ? d_out[at + c] * standard : 0.0f;
    }
    sum = warp_sum(sum);
    along = warp_sum(along);
    if (!d_x) return;
    for (u32 c = lane(); c < width; c += LANES) {
        float standard = (x[at + c] - m.mean) * m.inverse;
        float d = c % stored < real ? m.inverse * (d_out[at + c] * gain[c] - (sum + standard * along) / count) : 0.0f;
        d_x[at + c] = add ? d_x[at + c] + d : d;
    }
}

// One row a graph of a union: graph g has the nodes starts[g]..starts[g + 1].

enum Pool : u32 { POOL_SUM, POOL_MEAN, POOL_MAX };

static __device__ __forceinline__ float pool_share(u32 pool, u32 nodes) { return pool == POOL_MEAN ? 1.0f / (float)(nodes ? nodes : 1) : 1.0f; }

// The sum, mean or largest of the rows of each graph, by warp; zeros without nodes. `largest` receives the node of each
// maximum, among equals the first.
extern "C" __global__ void pool_rows(const u32* graphs, u32 n_graphs, const u32* starts, u32 pool, u32 width, const float* x,
                                     float* out, u32* largest) {
    u32 i = warp();
    if (i >= n_graphs) return;
    u32 graph = row_at(graphs, i), begin = starts[graph], end = starts[graph + 1];
    for (u32 c = lane(); c < width; c += LANES) {
        float y = 0.0f;
        u32 node = NONE;
        for (u32 v = begin; v < end; v++) {
            float z = x[(u64)v * width + c];
            if (pool != POOL_MAX) {
                y += z;
            } else if (v == begin || z > y) {
                y = z, node = v;
            }
        }
        out[(u64)graph * width + c] = y * pool_share(pool, end - begin);
        if (largest) largest[(u64)graph * width + c] = node;
    }
}

// The gradient of pool_rows, by warp: the rows of the graphs' nodes are written or added to.
extern "C" __global__ void pool_rows_gradient(const u32* graphs, u32 n_graphs, const u32* starts, u32 pool, u32 width,
                                              const float* d_out, const u32* largest, u32 add, float* out) {
    u32 i = warp();
    if (i >= n_graphs) return;
    u32 graph = row_at(graphs, i), begin = starts[graph], end = starts[graph + 1];
    float share = pool_share(pool, end - begin);
    for (u32 c = lane(); c < width; c += LANES) {
        float d = d_out[(u64)graph * width + c] * share;
        u32 node = pool == POOL_MAX ? largest[(u64)graph * width + c] : NONE;
        for (u32 v = begin; v < end; v++) {
            float y = pool != POOL_MAX || v == node ? d : 0.0f;
            float* to = out + (u64)v * width + c;
            *to = add ? *to + y : y;
        }
    }
}

// Coefficients from parameters: c = offset + basis * map(theta), in double as on the host. One block.

enum Map : u32 { MAP_IDENTITY, MAP_RELU, MAP_SOFTMAX, MAP_SIGMOID };

static __device__ __forceinline__ double mapped(const float* theta, u32 k, u32 at, u32 map) {
    double x = theta[at];
    if (map == MAP_RELU) return x > 0.0 ? x : 0.0;
    if (map == MAP_SIGMOID) return 1.0 / (1.0 + exp(-x));
    if (map != MAP_SOFTMAX) return x;
    double max = -INFINITY, sum = 0.0;
    for (u32 i = 0; i < k; i++) max = theta[i] > max ? theta[i] : max;
    for (u32 i = 0; i < k; i++) sum += exp(theta[i] - max);
    return exp(x - max) / sum;
}

extern "C" __global__ void coefficients(const float* theta, u32 k, u32 slots, u32 map, const double* basis, const double* offset,
                                        float* out) {
    for (u32 slot = threadIdx.x; slot < slots; slot += THREADS) {
        double sum = offset ? offset[slot] : 0.0;
        if (basis) {
            for (u32 i = 0; i < k; i++) sum += mapped(theta, k, i, map) * basis[(u64)slot * k + i];
        } else {
            sum += mapped(theta, k, slot, map);
        }
        out[slot] = (float)sum;
    }
}

static __device__ __forceinline__ double d_mapped(u32 k, u32 slots, u32 at, const double* basis, const float* d) {
    if (!basis) return d[at];
    double sum = 0.0;
    for (u32 slot = 0; slot < slots; slot++) sum += d[slot] * basis[(u64)slot * k + at];
    return sum;
}

extern "C" __global__ void coefficients_gradient(const float* theta, u32 k, u32 slots, u32 map, const double* basis,
                                                 const float* d, u32 add, float* out) {
    for (u32 at = threadIdx.x; at < k; at += THREADS) {
        double m = mapped(theta, k, at, map), g = d_mapped(k, slots, at, basis, d), mean = 0.0;
        if (map == MAP_SOFTMAX) {
            for (u32 i = 0; i < k; i++) mean += mapped(theta, k, i, map) * d_mapped(k, slots, i, basis, d);
            g = m * (g - mean);
        } else if (map == MAP_RELU) {
            g = theta[at] > 0.0f ? g : 0.0;
        } else if (map == MAP_SIGMOID) {
            g *= m * (1.0 - m);
        }
        out[at] = add ? out[at] + (float)g : (float)g;
    }
}

// The loss: softmax with negative log-likelihood, by warp. `losses[i]` receives that of row i of the list, times the weight
// of its class, and `hits[i]` whether the largest logit (among equals the first) is the label's; `gradient`, where given,
// that of the sum divided by `total`.
extern "C" __global__ void nll(const u32* rows, u32 n_rows, const float* logits, u32 stride, u32 classes, const u32* labels,
                               const float* weights, double total, float* gradient, double* losses, double* hits) {
    u32 i = warp();
    if (i >= n_rows) return;
    u32 row = row_at(rows, i), label = labels[row];
    const float* z = logits + (u64)row * stride;
    float max = -INFINITY, sum = 0.0f;
    u32 best = NONE;
    for (u32 c = lane(); c < classes; c += LANES)
        if (z[c] > max) max = z[c], best = c;
    for (u32 d = LANES / 2; d > 0; d /= 2) {
        float other = __shfl_xor_sync(0xffffffffu, max, d);
        u32 where = __shfl_xor_sync(0xffffffffu, best, d);
        if (other > max || (other == max && where < best)) max = other, best = where;
    }
    for (u32 c = lane(); c < classes; c += LANES) sum += expf(z[c] - max);
    sum = warp_sum(sum);
    float weight = weights ? weights[label] : 1.0f;
    if (gradient) {
        float scale = (float)(1.0 / total) * weight;
        for (u32 c = lane(); c < stride; c += LANES) {
            float p = c < classes ? expf(z[c] - max) / sum : 0.0f;
            gradient[(u64)row * stride + c] = scale * (c == label ? p - 1.0f : p);
        }
    }
    if (lane() == 0) {
        losses[i] = (double)weight * (log((double)sum) - (double)(z[label] - max));
        if (hits) hits[i] = best == label ? 1.0 : 0.0;
    }
}

// out[0] = scale * the sum of n numbers, in an order that depends on n alone. One block.
extern "C" __global__ void sum_doubles(const double* x, u32 n, double scale, double* out) {
    __shared__ double parts[WARPS];
    // Four sums side by side: their terms are read at the same time.
    double part[4] = {0.0, 0.0, 0.0, 0.0};
    for (u64 i = threadIdx.x; i < n; i += 4 * THREADS)
        for (u32 k = 0; k < 4; k++)
            if (i + k * THREADS < n) part[k] += x[i + k * THREADS];
    double sum = warp_sum((part[0] + part[1]) + (part[2] + part[3]));
    if (lane() == 0) parts[threadIdx.x / LANES] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (u32 w = 1; w < WARPS; w++) sum += parts[w];
        out[0] = scale * sum;
    }
}

// partials[block] = the sum of the squares of 4096 numbers.
extern "C" __global__ void square_sums(const float* x, u64 n, double* partials) {
    __shared__ double parts[WARPS];
    u64 first = (u64)blockIdx.x * 4096, last = first + 4096 < n ? first + 4096 : n;
    double sum = 0.0;
    for (u64 i = first + threadIdx.x; i < last; i += THREADS) sum += (double)x[i] * (double)x[i];
    sum = warp_sum(sum);
    if (lane() == 0) parts[threadIdx.x / LANES] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (u32 w = 1; w < WARPS; w++) sum += parts[w];
        partials[blockIdx.x] = sum;
    }
}

// The optimisers of `crate::optimizer`, an element a thread. `step` holds what changes from step to step; a gradient whose
// squares add up to more than the square of `limit` is scaled down to that length first.

struct Step {
    float l2;
    float shrink;
    float rate;
    float root;
};

static __device__ __forceinline__ float clipped(float g, const double* squares, double limit) {
    if (!squares) return g;
    double norm = sqrt(squares[0]);
    return isfinite(norm) && norm > limit ? g * (float)(limit / norm) : g;
}

extern "C" __global__ void adam(float* w, const float* gradient, u64 n, float* first, float* second, const Step* step,
                                const double* squares, double limit) {
    u64 i = element();
    if (i >= n) return;
    float g = clipped(gradient[i], squares, limit) + step->l2 * w[i];
    float m = 0.9f * first[i] + (float)(1.0 - 0.9) * g;
    float v = 0.999f * second[i] + (float)(1.0 - 0.999) * g * g;
    first[i] = m;
    second[i] = v;
    w[i] = w[i] * step->shrink - step->rate * (m / (sqrtf(v) * step->root + 1e-8f));
}

extern "C" __global__ void sgd(float* w, const float* gradient, u64 n, float* first, const Step* step, const double* squares,
                               double limit) {
    u64 i = element();
    if (i >= n) return;
    float g = clipped(gradient[i], squares, limit) + step->l2 * w[i];
    first[i] = 0.9f * first[i] + g;
    w[i] -= step->rate * first[i];
}
