import CLinux
import Glibc

/// How many descriptors this process may have open.
package enum DescriptorLimit {
  /// Raises the limit as far as the system lets this user. Returns what holds then.
  ///
  /// The soft limit is often 1024 for the sake of `select`, which nothing here uses.
  package static func raise() -> Int {
    let resource = __rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue))
    var limit = rlimit()
    guard getrlimit(resource, &limit) == 0 else { return 1024 }
    if limit.rlim_cur < limit.rlim_max {
      var raised = rlimit(rlim_cur: limit.rlim_max, rlim_max: limit.rlim_max)
      if setrlimit(resource, &raised) == 0 { limit = raised }
    }
    return Int(clamping: limit.rlim_cur)
  }
}
