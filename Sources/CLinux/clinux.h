// Linux calls that the Glibc module does not carry.
//
// Do not define _GNU_SOURCE here: it turns every `struct sockaddr *` parameter into a transparent
// union, which Swift cannot pass. The few GNU calls needed are declared by hand instead.
#ifndef LARDER_CLINUX_H
#define LARDER_CLINUX_H

#include <arpa/inet.h>
#include <linux/filter.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

extern int accept4(int, struct sockaddr *, socklen_t *, int);
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

#endif
