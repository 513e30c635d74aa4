/// An IPv4 or IPv6 address as its 4 or 16 bytes, read without a system call and without names.
package struct IPAddress: Hashable, Sendable {
  package let bytes: [UInt8]

  package var isIPv6: Bool { bytes.count == 16 }

  package init?(parsing text: String) {
    guard let bytes = text.contains(":") ? Self.sixteen(text) : Self.four(text) else { return nil }
    self.bytes = bytes
  }

  /// Four decimal numbers; leading zeros are refused because some readers take them as octal.
  private static func four(_ text: some StringProtocol) -> [UInt8]? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 4 else { return nil }
    var bytes: [UInt8] = []
    for part in parts {
      guard let number = UInt8(decimal: part), part == "0" || !part.hasPrefix("0") else {
        return nil
      }
      bytes.append(number)
    }
    return bytes
  }

  /// RFC 4291 section 2.2: eight groups, one run of which may be `::`, the last two of which may
  /// be an IPv4 address. Zones (`%eth0`) are refused.
  private static func sixteen(_ text: String) -> [UInt8]? {
    guard let gap = text.firstDoubleColon else {
      let bytes = groups(text[...])
      return bytes?.count == 16 ? bytes : nil
    }
    let head = text[..<gap]
    let tail = text[text.index(gap, offsetBy: 2)...]
    guard let first = head.isEmpty ? [] : groups(head, allowsIPv4: false),
      let last = tail.isEmpty ? [] : groups(tail),
      first.count + last.count <= 14
    else { return nil }
    return first + [UInt8](repeating: 0, count: 16 - first.count - last.count) + last
  }

  private static func groups(_ text: Substring, allowsIPv4: Bool = true) -> [UInt8]? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count <= 8 else { return nil }
    var bytes: [UInt8] = []
    for (index, part) in parts.enumerated() {
      if allowsIPv4, index == parts.count - 1, part.contains("."), let four = four(part) {
        bytes += four
      } else if (1...4).contains(part.utf8.count), part.utf8.allSatisfy(\.isHexDigit),
        let group = UInt16(part, radix: 16)
      {
        bytes += [UInt8(group >> 8), UInt8(truncatingIfNeeded: group)]
      } else {
        return nil
      }
    }
    return bytes
  }
}

extension String {
  fileprivate var firstDoubleColon: Index? {
    indices.first { self[$0...].hasPrefix("::") }
  }
}

extension UInt8 {
  fileprivate var isHexDigit: Bool {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
      UInt8(ascii: "A")...UInt8(ascii: "F"):
      true
    default: false
    }
  }
}

extension FixedWidthInteger {
  /// Digits alone: no sign, which `init(_:)` would take.
  init?(decimal text: some StringProtocol) {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let number = Self(text, radix: 10)
    else { return nil }
    self = number
  }
}
