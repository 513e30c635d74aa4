import CLinux
import Glibc

/// The resources that this process uses, as the kernel counts them (proc(5), getrusage(2)).
package struct ProcessUsage: Sendable {
  /// Of user and system time.
  package let cpuSeconds: Double
  package let residentBytes: Int
  package let virtualBytes: Int
  package let openDescriptors: Int
  package let descriptorsMax: Int

  /// Reads the present numbers. Those that cannot be read are zero.
  package static func current() -> ProcessUsage {
    let pages = (read("/proc/self/statm") ?? "").split(separator: " ").compactMap { Int($0) }
    let page = Int(sysconf(Int32(_SC_PAGESIZE)))
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    return ProcessUsage(
      cpuSeconds: cpuSeconds(), residentBytes: (pages.count > 1 ? pages[1] : 0) * page,
      virtualBytes: (pages.first ?? 0) * page, openDescriptors: openDescriptors(),
      descriptorsMax: Int(clamping: limit.rlim_cur))
  }

  /// When the process began, in seconds since 1970; nil if that cannot be read.
  package static func startSeconds() -> Double? {
    // The name of the program is in parentheses, and can contain blanks and parentheses itself.
    guard let text = read("/proc/self/stat"), let end = text.lastIndex(of: ")") else { return nil }
    let values = text[text.index(after: end)...].split(separator: " ")
    // The 22nd value of the line; the first two are before the parenthesis.
    guard values.count > 19, let ticks = Double(values[19]) else { return nil }
    let sinceBoot = seconds(CLOCK_BOOTTIME)
    return seconds(CLOCK_REALTIME) - sinceBoot + ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
  }

  private static func seconds(_ clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  private static func cpuSeconds() -> Double {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return [usage.ru_utime, usage.ru_stime].reduce(0) {
      $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6
    }
  }

  private static func openDescriptors() -> Int {
    // Since Linux 6.2 the size of the folder is the number of its entries.
    var status = stat()
    if stat("/proc/self/fd", &status) == 0, status.st_size > 0 { return Int(status.st_size) }
    guard let folder = opendir("/proc/self/fd") else { return 0 }
    defer { closedir(folder) }
    var count = 0
    while readdir(folder) != nil { count += 1 }
    // Without `.`, `..` and the descriptor of the folder itself.
    return max(0, count - 3)
  }

  private static func read(_ path: String) -> String? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = Glibc.read(file, &bytes, bytes.count)
    return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
  }
}
