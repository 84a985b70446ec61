/* Records what a process does to the files below a folder, in the order in which it does it: writes, flushes and changes of
   names. Loaded before the C library (LD_PRELOAD), whose functions it stands in front of.

   BONNET_RECORD_ROOT is the folder, BONNET_RECORD the file that the record is appended to. A record is a letter, an offset of
   8 bytes, and two texts, each behind its length of 4 bytes: a path, and the bytes written or the second path. What goes to
   standard output is recorded too, so that it is known what the process had answered by then. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int record = -1;
static char root[PATH_MAX];

#define REAL(type, name, ...)                                                                                          \
    static type (*real_##name)(__VA_ARGS__);                                                                           \
    if (!real_##name) real_##name = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name);

__attribute__((constructor)) static void start(void) {
    const char *path = getenv("BONNET_RECORD"), *folder = getenv("BONNET_RECORD_ROOT");
    if (!path || !folder) return;
    REAL(int, open64, const char *, int, ...)
    record = real_open64(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    snprintf(root, sizeof root, "%s", folder);
}

static int below(const char *path) {
    size_t length = strlen(root);
    return length && !strncmp(path, root, length) && (path[length] == '/' || !path[length]);
}

static void put(char op, uint64_t offset, const char *first, const char *second, uint32_t second_length) {
    REAL(ssize_t, writev, int, const struct iovec *, int)
    uint32_t first_length = strlen(first);
    struct iovec parts[] = {{&op, 1},
                            {&offset, 8},
                            {&first_length, 4},
                            {(void *)first, first_length},
                            {&second_length, 4},
                            {(void *)second, second_length}};
    size_t all = 1 + 8 + 4 + first_length + 4 + second_length;
    if (real_writev(record, parts, 6) != (ssize_t)all) abort();
}

/* The path of an open file; 0 for one that is not below the folder. */
static int path_of(int fd, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return below(path);
}

/* The absolute path of a name in a folder; 0 for one that is not below the folder. */
static int path_at(int folder, const char *name, char *path) {
    if (name[0] == '/') {
        snprintf(path, PATH_MAX, "%s", name);
    } else {
        char base[PATH_MAX];
        if (folder == AT_FDCWD) {
            if (!getcwd(base, sizeof base)) return 0;
        } else if (!path_of(folder, base)) {
            return 0;
        }
        if ((size_t)snprintf(path, PATH_MAX, "%s/%s", base, name) >= PATH_MAX) return 0;
    }
    return below(path);
}

#define QUIET (record < 0)
#define BEGIN                                                                                                          \
    int before = errno;                                                                                                \
    pthread_mutex_lock(&lock);                                                                                         \
    errno = before;
#define END                                                                                                            \
    {                                                                                                                  \
        int after = errno;                                                                                             \
        pthread_mutex_unlock(&lock);                                                                                   \
        errno = after;                                                                                                 \
    }

static int opened(int folder, const char *name, int flags, mode_t mode) {
    REAL(int, openat64, int, const char *, int, ...)
    char path[PATH_MAX];
    if (QUIET || !(flags & (O_CREAT | O_TRUNC)) || !path_at(folder, name, path))
        return real_openat64(folder, name, flags, mode);
    BEGIN
    struct stat found;
    int was_there = !stat(path, &found);
    int fd = real_openat64(folder, name, flags, mode);
    if (fd >= 0) {
        if (!was_there) put('c', 0, path, "", 0);
        else if ((flags & O_TRUNC) && found.st_size) put('t', 0, path, "", 0);
    }
    END
    return fd;
}

#define OPENED(declaration, folder)                                                                                    \
    declaration {                                                                                                      \
        mode_t mode = 0;                                                                                               \
        if (flags & (O_CREAT | O_TMPFILE)) {                                                                           \
            va_list rest;                                                                                              \
            va_start(rest, flags);                                                                                     \
            mode = va_arg(rest, mode_t);                                                                               \
            va_end(rest);                                                                                              \
        }                                                                                                              \
        return opened(folder, name, flags, mode);                                                                      \
    }
OPENED(int open(const char *name, int flags, ...), AT_FDCWD)
OPENED(int open64(const char *name, int flags, ...), AT_FDCWD)
OPENED(int openat(int folder, const char *name, int flags, ...), folder)
OPENED(int openat64(int folder, const char *name, int flags, ...), folder)

static void written(int fd, const void *bytes, ssize_t length, off_t end) {
    char path[PATH_MAX];
    if (length <= 0) return;
    if (fd == STDOUT_FILENO) put('m', 0, "", bytes, length);
    else if (path_of(fd, path)) put('w', end - length, path, bytes, length);
}

ssize_t write(int fd, const void *bytes, size_t length) {
    REAL(ssize_t, write, int, const void *, size_t)
    if (QUIET || fd == record) return real_write(fd, bytes, length);
    BEGIN
    ssize_t done = real_write(fd, bytes, length);
    int failed = errno;
    written(fd, bytes, done, fd == STDOUT_FILENO ? 0 : lseek(fd, 0, SEEK_CUR));
    errno = failed;
    END
    return done;
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    REAL(ssize_t, writev, int, const struct iovec *, int)
    if (QUIET || fd == record) return real_writev(fd, parts, count);
    ssize_t all = 0;
    for (int i = 0; i < count; i++) {
        ssize_t done = write(fd, parts[i].iov_base, parts[i].iov_len);
        if (done < 0) return all ? all : done;
        all += done;
        if ((size_t)done < parts[i].iov_len) break;
    }
    return all;
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t offset) {
    REAL(ssize_t, pwrite64, int, const void *, size_t, off64_t)
    if (QUIET) return real_pwrite64(fd, bytes, length, offset);
    BEGIN
    ssize_t done = real_pwrite64(fd, bytes, length, offset);
    written(fd, bytes, done, offset + done);
    END
    return done;
}

/* Copies take the way of write. */
ssize_t copy_file_range(int from, off64_t *at, int to, off64_t *place, size_t length, unsigned flags) {
    errno = ENOSYS;
    return -1;
}

ssize_t sendfile64(int to, int from, off64_t *at, size_t length) {
    errno = ENOSYS;
    return -1;
}

int ftruncate64(int fd, off64_t length) {
    REAL(int, ftruncate64, int, off64_t)
    if (QUIET) return real_ftruncate64(fd, length);
    BEGIN
    int done = real_ftruncate64(fd, length);
    char path[PATH_MAX];
    if (!done && path_of(fd, path)) put('t', length, path, "", 0);
    END
    return done;
}

static void flushed(int fd) {
    char path[PATH_MAX];
    if (path_of(fd, path)) put('f', 0, path, "", 0);
}

int fsync(int fd) {
    REAL(int, fsync, int)
    if (QUIET) return real_fsync(fd);
    BEGIN
    /* The record is of a disk that keeps its word: this one need not be waited for. */
    int done = fcntl(fd, F_GETFD) < 0 ? -1 : 0;
    if (!done) flushed(fd);
    END
    return done;
}

int fdatasync(int fd) { return fsync(fd); }

int rename(const char *from, const char *to) {
    REAL(int, rename, const char *, const char *)
    char first[PATH_MAX], second[PATH_MAX];
    if (QUIET || !path_at(AT_FDCWD, from, first) || !path_at(AT_FDCWD, to, second)) return real_rename(from, to);
    BEGIN
    int done = real_rename(from, to);
    if (!done) put('r', 0, first, second, strlen(second));
    END
    return done;
}

static int linked(int from_folder, const char *from, int to_folder, const char *to, int flags) {
    REAL(int, linkat, int, const char *, int, const char *, int)
    char first[PATH_MAX], second[PATH_MAX];
    if (QUIET || !path_at(from_folder, from, first) || !path_at(to_folder, to, second))
        return real_linkat(from_folder, from, to_folder, to, flags);
    BEGIN
    int done = real_linkat(from_folder, from, to_folder, to, flags);
    if (!done) put('l', 0, first, second, strlen(second));
    END
    return done;
}

int link(const char *from, const char *to) { return linked(AT_FDCWD, from, AT_FDCWD, to, 0); }

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
    return linked(from_folder, from, to_folder, to, flags);
}

int unlinkat(int folder, const char *name, int flags) {
    REAL(int, unlinkat, int, const char *, int)
    char path[PATH_MAX];
    if (QUIET || !path_at(folder, name, path)) return real_unlinkat(folder, name, flags);
    BEGIN
    int done = real_unlinkat(folder, name, flags);
    if (!done) put('u', 0, path, "", 0);
    END
    return done;
}

int unlink(const char *name) { return unlinkat(AT_FDCWD, name, 0); }

int rmdir(const char *name) { return unlinkat(AT_FDCWD, name, AT_REMOVEDIR); }

int mkdirat(int folder, const char *name, mode_t mode) {
    REAL(int, mkdirat, int, const char *, mode_t)
    char path[PATH_MAX];
    if (QUIET || !path_at(folder, name, path)) return real_mkdirat(folder, name, mode);
    BEGIN
    int done = real_mkdirat(folder, name, mode);
    if (!done) put('d', 0, path, "", 0);
    END
    return done;
}

int mkdir(const char *name, mode_t mode) { return mkdirat(AT_FDCWD, name, mode); }
