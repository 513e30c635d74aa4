// Linux calls that the Glibc module does not carry.
//
// Do not define _GNU_SOURCE here: it turns every `struct sockaddr *` parameter into a transparent
// union, which Swift cannot pass. The few GNU calls needed are declared by hand instead.
#ifndef LARDER_CLINUX_H
#define LARDER_CLINUX_H

#include <arpa/inet.h>
#include <execinfo.h>
#include <linux/filter.h>
#include <malloc.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

extern int accept4(int, struct sockaddr *, socklen_t *, int);
extern int pipe2(int[2], int);
// The POSIX form of strerror_r: fills the buffer, returns 0 on success.
extern int __xpg_strerror_r(int, char *, size_t);
extern void *memmem(const void *, size_t, const void *, size_t);

// recv(2) and send(2) without the cancellation points that the C library makes of them
// (pthreads(7)), which cost each call four atomic operations: no thread here is ever cancelled.
static inline ssize_t larder_recv(int descriptor, void *to, size_t count) {
  return syscall(SYS_recvfrom, descriptor, to, count, 0, NULL, NULL);
}
static inline ssize_t larder_send(int descriptor, const void *from, size_t count) {
  return syscall(SYS_sendto, descriptor, from, count, MSG_NOSIGNAL, NULL, 0);
}

// How often the calling thread gave its processor back to wait, or (`is_forced`) had it taken away:
// getrusage(2) with RUSAGE_THREAD.
static inline long larder_thread_switches(int is_forced) {
  struct rusage usage;
  if (getrusage((enum __rusage_who)1, &usage) != 0) return 0;
  return is_forced ? usage.ru_nivcsw : usage.ru_nvcsw;
}

// The stacks of the thread that was last sent SIGPROF, the latest few, for debug builds. Writes and
// forgets them where `file` is one, else takes another. Dispatch's threads block most other signals.
static inline void larder_trace(int file) {
  enum { STACKS = 4, DEPTH = 64 };
  static void *frames[STACKS][DEPTH];
  static volatile int counts[STACKS], taken;
  if (file < 0) {
    int place = taken++ % STACKS;
    counts[place] = backtrace(frames[place], DEPTH);
    return;
  }
  for (int place = 0; place < STACKS && place < taken; place++) {
    backtrace_symbols_fd(frames[place], counts[place], file);
    if (write(file, "\n", 1) < 0) break;
  }
  taken = 0;
}
static inline void larder_take_trace(int signal) {
  (void)signal;
  larder_trace(-1);
}
static inline void larder_trace_on_signal(void) {
  void *frame[1];
  backtrace(frame, 1); // loads what the handler must not
  struct sigaction action = {.sa_handler = larder_take_trace, .sa_flags = SA_RESTART};
  sigaction(SIGPROF, &action, NULL);
}

#endif
