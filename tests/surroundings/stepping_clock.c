/* A clock that steps, for programs that are started with this library preloaded.

   The time of day is that of the machine plus an offset in seconds, which another process writes to a file
   (STEPPING_CLOCK). Clocks that count from the start of the machine stay as they are, and so do waits: the end of a
   wait is given as a time of day, which is turned back into the machine's. Times of files are the kernel's and do not
   step. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SINCE_THE_EPOCH 1000000000 /* no machine runs for so many seconds */

static volatile int64_t *shared;
static int (*read_clock)(clockid_t, struct timespec *);
static int (*wait_until)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
static int (*wait_by_clock)(pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *);

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("STEPPING_CLOCK");
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  void *place = file < 0 ? MAP_FAILED : mmap(NULL, sizeof *shared, PROT_READ, MAP_SHARED, file, 0);
  if (file >= 0) close(file);
  read_clock = dlsym(RTLD_NEXT, "clock_gettime");
  wait_until = dlsym(RTLD_NEXT, "pthread_cond_timedwait");
  wait_by_clock = dlsym(RTLD_NEXT, "pthread_cond_clockwait");
  if (place != MAP_FAILED) shared = place;
}

static int64_t offset(void) { return shared ? *shared : 0; }

int clock_gettime(clockid_t clock, struct timespec *time) {
  int failed = read_clock ? read_clock(clock, time) : (int)syscall(SYS_clock_gettime, clock, time);
  if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) time->tv_sec += offset();
  return failed;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  struct timespec now;
  int failed = clock_gettime(CLOCK_REALTIME, &now);
  (void)zone;
  if (!failed) *time = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
  return failed;
}

time_t time(time_t *place) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (place) *place = now.tv_sec;
  return now.tv_sec;
}

static struct timespec by_the_machine(const struct timespec *end) {
  return (struct timespec){end->tv_sec > SINCE_THE_EPOCH ? end->tv_sec - offset() : end->tv_sec, end->tv_nsec};
}

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *end) {
  struct timespec own = by_the_machine(end);
  return wait_until(condition, mutex, &own);
}

int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock,
                           const struct timespec *end) {
  struct timespec own = by_the_machine(end);
  return wait_by_clock(condition, mutex, clock, &own);
}
