import CLinux
import Glibc

/// A failed system call and its error number.
package struct SystemError: Error, Equatable, CustomStringConvertible {
  package let call: StaticString
  package let code: Int32

  init(_ call: StaticString, code: Int32 = errno) {
    self.call = call
    self.code = code
  }

  package static func == (left: SystemError, right: SystemError) -> Bool {
    left.code == right.code && left.call.description == right.call.description
  }

  package var description: String {
    "\(call): \(Self.text(for: code))"
  }

  /// Whether the process or the machine has no descriptor left.
  var isOutOfDescriptors: Bool { code == EMFILE || code == ENFILE }

  static func text(for code: Int32) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
      guard __xpg_strerror_r(code, buffer.baseAddress, buffer.count) == 0,
        let start = buffer.baseAddress
      else { return "error \(code)" }
      return String(cString: start)
    }
  }
}
