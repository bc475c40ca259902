/*
 * A disk that can fail and lose power, preloaded into a process (LD_PRELOAD). Affects only files in
 * one folder, FAULTY_FOLDER:
 *   FAULTY_RULES    call:nth:errno, separated by commas: the nth such call fails (nth+: that call
 *                   and all later ones); errno 0 writes half of the bytes; -ms waits before the
 *                   call
 *   FAULTY_JOURNAL  file that records every write, rename and sync, in order
 *   FAULTY_NOSYNC   does not record syncs, so that nothing ever counts as durable
 * A write is recorded before the call and a sync after the call, so that the journal describes the
 * worst case of a power failure. journal.ts documents the layout.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/uio.h>
#include <unistd.h>

enum { WRITE = 1, DURABLE_WRITE, TRUNCATE, SYNC, CREATE, RENAME, REMOVE };
enum { RULES = 32 };

struct rule {
  char call[16];
  int nth, onwards, error;
};

static char folder[PATH_MAX];
static size_t folder_length;
static int journal = -1, nosync, rule_count;
static struct rule rules[RULES];
static int seen[RULES];

#define REAL(name) \
  static __typeof__(&name) real; \
  if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("FAULTY_FOLDER"), *text = getenv("FAULTY_RULES");
  if (!path) return;
  snprintf(folder, sizeof folder, "%s", path);
  folder_length = strlen(folder);
  nosync = getenv("FAULTY_NOSYNC") != NULL;
  REAL(open64);
  if (getenv("FAULTY_JOURNAL")) journal = real(getenv("FAULTY_JOURNAL"), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  for (; text && *text && rule_count < RULES; rule_count++) {
    struct rule *r = &rules[rule_count];
    char nth[16] = "";
    if (sscanf(text, "%15[^:]:%15[^:]:%d", r->call, nth, &r->error) != 3) abort();
    r->nth = atoi(nth);
    r->onwards = strchr(nth, '+') != NULL;
    text = strchr(text, ',');
    if (text) text++;
  }
}

/* Returns the name inside the folder, "." for the folder itself, or NULL for other paths. */
static const char *inside(const char *path) {
  if (!folder_length || strncmp(path, folder, folder_length) != 0) return NULL;
  if (path[folder_length] == '\0') return ".";
  return path[folder_length] == '/' ? path + folder_length + 1 : NULL;
}

static const char *name_of(int fd, char *path) {
  char link[64];
  if (!folder_length) return NULL;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  if (length < 0) return NULL;
  path[length] = '\0';
  return inside(path);
}

enum { GO_ON = -1 };

/* Returns the verdict of the rules on this call: GO_ON, 0 to write half, or an error. */
static int verdict(const char *call) {
  int found = GO_ON;
  for (int i = 0; i < rule_count; i++) {
    if (strcmp(rules[i].call, call) != 0) continue;
    int count = __atomic_add_fetch(&seen[i], 1, __ATOMIC_SEQ_CST);
    if (count == rules[i].nth || (rules[i].onwards && count > rules[i].nth)) found = rules[i].error;
  }
  if (found >= GO_ON) return found;
  usleep(1000 * -found);
  return GO_ON;
}

#define FAIL_IF_TOLD(call) \
  int error = verdict(call); \
  if (error > 0) { errno = error; return -1; }

static void note(uint8_t kind, const char *name, uint64_t offset, const void *data, uint32_t length) {
  if (journal < 0 || strcmp(name, "lock.mdb") == 0) return;
  uint16_t name_length = strlen(name);
  struct __attribute__((packed)) { uint8_t kind; uint16_t name_length; uint32_t length; uint64_t offset; }
    head = { kind, name_length, length, offset };
  struct iovec parts[] = { { &head, sizeof head }, { (void *)name, name_length }, { (void *)data, length } };
  REAL(writev);
  if (real(journal, parts, 3) < 0) abort();
}

static int note_opened(const char *path, int flags, int existed, int fd) {
  const char *name = inside(path);
  if (name && fd >= 0 && (flags & O_CREAT) && !existed) note(CREATE, name, 0, "", 0);
  if (name && fd >= 0 && (flags & O_TRUNC)) note(TRUNCATE, name, 0, "", 0);
  return fd;
}

#define OPEN(function) \
  int function(const char *path, int flags, ...) { \
    va_list list; \
    va_start(list, flags); \
    mode_t mode = (flags & O_CREAT) ? va_arg(list, mode_t) : 0; \
    va_end(list); \
    REAL(function); \
    const char *name = inside(path); \
    if (!name) return real(path, flags, mode); \
    FAIL_IF_TOLD("open"); \
    int existed = access(path, F_OK) == 0; \
    return note_opened(path, flags, existed, real(path, flags, mode)); \
  }
OPEN(open)
OPEN(open64)

static ssize_t put(int fd, const void *bytes, size_t length, off64_t offset, ssize_t (*really)(int, const void *, size_t, off64_t)) {
  char path[PATH_MAX];
  const char *name = name_of(fd, path);
  if (!name) return really(fd, bytes, length, offset);
  FAIL_IF_TOLD("pwrite");
  if (error == 0) length = length > 1 ? length / 2 : length;
  int durable = (fcntl(fd, F_GETFL) & O_DSYNC) && !nosync;
  if (!durable) note(WRITE, name, offset, bytes, length);
  ssize_t written = really(fd, bytes, length, offset);
  if (durable && written >= 0) note(DURABLE_WRITE, name, offset, bytes, written);
  return written;
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t offset) {
  REAL(pwrite64);
  return put(fd, bytes, length, offset, real);
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset) {
  REAL(pwrite);
  return put(fd, bytes, length, offset, real);
}

static ssize_t at_the_place(int fd, const void *bytes, size_t length, off64_t offset) {
  REAL(write);
  (void)offset;
  return real(fd, bytes, length);
}

ssize_t write(int fd, const void *bytes, size_t length) {
  return put(fd, bytes, length, folder_length ? lseek64(fd, 0, SEEK_CUR) : 0, at_the_place);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  char path[PATH_MAX];
  const char *name = name_of(fd, path);
  REAL(writev);
  if (!name) return real(fd, parts, count);
  FAIL_IF_TOLD("pwrite");
  if (error == 0) count = count > 1 ? count / 2 : count;
  off64_t at = lseek64(fd, 0, SEEK_CUR);
  for (int i = 0; i < count; at += parts[i].iov_len, i++) note(WRITE, name, at, parts[i].iov_base, parts[i].iov_len);
  return real(fd, parts, count);
}

int ftruncate64(int fd, off64_t length) {
  char path[PATH_MAX];
  const char *name = name_of(fd, path);
  REAL(ftruncate64);
  if (!name) return real(fd, length);
  FAIL_IF_TOLD("ftruncate");
  note(TRUNCATE, name, length, "", 0);
  return real(fd, length);
}

#define FLUSH(function) \
  int function(int fd) { \
    char path[PATH_MAX]; \
    const char *name = name_of(fd, path); \
    REAL(function); \
    if (!name) return real(fd); \
    FAIL_IF_TOLD(#function); \
    int result = journal < 0 ? real(fd) : 0; \
    if (result == 0 && !nosync) note(SYNC, name, 0, "", 0); \
    return result; \
  }
FLUSH(fdatasync)
FLUSH(fsync)

int rename(const char *from, const char *to) {
  REAL(rename);
  const char *name = inside(from), *other = inside(to);
  if (!name || !other) return real(from, to);
  FAIL_IF_TOLD("rename");
  note(RENAME, name, 0, other, strlen(other));
  return real(from, to);
}

int unlink(const char *path) {
  REAL(unlink);
  const char *name = inside(path);
  if (name) note(REMOVE, name, 0, "", 0);
  return real(path);
}

void *mmap64(void *at, size_t length, int protection, int flags, int fd, off64_t offset) {
  char path[PATH_MAX];
  REAL(mmap64);
  if (fd < 0 || !name_of(fd, path)) return real(at, length, protection, flags, fd, offset);
  int error = verdict("mmap");
  if (error > 0) {
    errno = error;
    return MAP_FAILED;
  }
  return real(at, length, protection, flags, fd, offset);
}

int statfs64(const char *path, struct statfs64 *found) {
  REAL(statfs64);
  if (inside(path)) {
    FAIL_IF_TOLD("statfs");
  }
  return real(path, found);
}
