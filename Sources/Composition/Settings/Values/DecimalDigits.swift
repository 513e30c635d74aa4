extension FixedWidthInteger {
  /// Digits alone: no sign, which `init(_:)` would take.
  init?(decimal text: some StringProtocol) {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let number = Self(text, radix: 10)
    else { return nil }
    self = number
  }
}

extension UInt8 {
  var isASCIIAlphanumeric: Bool {
    switch self {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: false
    }
  }
}
