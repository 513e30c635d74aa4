/// Names nobody guesses: 128 random bits in hexadecimal.
enum RandomName {
  static func make() -> String {
    let bits = [UInt64.random(in: 0...UInt64.max), UInt64.random(in: 0...UInt64.max)]
    return bits.map { bits in
      let digits = String(bits, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }
}
