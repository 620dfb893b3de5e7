/* A shim for LD_PRELOAD: the k-th change to files below a folder fails, once or from then on.

   FAULT_BELOW  the folder          FAULT_AT    k, counted from 1; 0 only counts
   FAULT_ERRNO  what it fails with  FAULT_LAST  the last change that fails (default: none is)
   FAULT_KINDS  letters: w writes, s syncs, n new names   FAULT_COUNT  file for the count */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long changes;

static int below(const char *path) {
    const char *folder = getenv("FAULT_BELOW");
    return folder && strncmp(path, folder, strlen(folder)) == 0;
}

static long number(const char *name, long otherwise) {
    const char *text = getenv(name);
    return text ? atol(text) : otherwise;
}

static int fails(const char *path, char kind) {
    const char *kinds = getenv("FAULT_KINDS");
    if (!below(path) || (kinds && !strchr(kinds, kind))) return 0;
    long count = atomic_fetch_add(&changes, 1) + 1, at = number("FAULT_AT", 0);
    if (at == 0 || count < at || count > number("FAULT_LAST", LONG_MAX)) return 0;
    errno = (int)number("FAULT_ERRNO", EIO);
    return 1;
}

static int fails_open(int fd, char kind) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return fails(path, kind);
}

#define NEXT(name) \
    static __typeof__(&name) next; \
    if (!next) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

ssize_t write(int fd, const void *data, size_t size) {
    NEXT(write);
    return fails_open(fd, 'w') ? -1 : next(fd, data, size);
}
ssize_t pwrite(int fd, const void *data, size_t size, off_t at) {
    NEXT(pwrite);
    return fails_open(fd, 'w') ? -1 : next(fd, data, size, at);
}
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) {
    NEXT(pwrite64);
    return fails_open(fd, 'w') ? -1 : next(fd, data, size, at);
}
ssize_t writev(int fd, const struct iovec *parts, int count) {
    NEXT(writev);
    return fails_open(fd, 'w') ? -1 : next(fd, parts, count);
}
ssize_t sendfile64(int out, int in, off64_t *at, size_t size) {
    NEXT(sendfile64);
    return fails_open(out, 'w') ? -1 : next(out, in, at, size);
}
ssize_t copy_file_range(int in, off64_t *a, int out, off64_t *b, size_t size, unsigned flags) {
    NEXT(copy_file_range);
    return fails_open(out, 'w') ? -1 : next(in, a, out, b, size, flags);
}
int ftruncate64(int fd, off64_t size) {
    NEXT(ftruncate64);
    return fails_open(fd, 'w') ? -1 : next(fd, size);
}
int posix_fallocate64(int fd, off64_t at, off64_t size) {
    NEXT(posix_fallocate64);
    return fails_open(fd, 'w') ? errno : next(fd, at, size);
}
int fsync(int fd) {
    NEXT(fsync);
    return fails_open(fd, 's') ? -1 : next(fd);
}
int fdatasync(int fd) {
    NEXT(fdatasync);
    return fails_open(fd, 's') ? -1 : next(fd);
}
int link(const char *from, const char *to) {
    NEXT(link);
    return fails(to, 'n') ? -1 : next(from, to);
}
int linkat(int a, const char *from, int b, const char *to, int flags) {
    NEXT(linkat);
    return fails(to, 'n') ? -1 : next(a, from, b, to, flags);
}
int rename(const char *from, const char *to) {
    NEXT(rename);
    return fails(to, 'n') ? -1 : next(from, to);
}
int mkdir(const char *path, mode_t mode) {
    NEXT(mkdir);
    struct stat there;
    return stat(path, &there) && fails(path, 'n') ? -1 : next(path, mode);
}
int open64(const char *path, int flags, ...) {
    NEXT(open64);
    va_list rest;
    va_start(rest, flags);
    mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    struct stat there;
    int creates = (flags & O_CREAT) && stat(path, &there);
    return creates && fails(path, 'n') ? -1 : next(path, flags, mode);
}

__attribute__((destructor)) static void tell(void) {
    const char *path = getenv("FAULT_COUNT");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file) {
        fprintf(file, "%ld\n", atomic_load(&changes));
        fclose(file);
    }
}
