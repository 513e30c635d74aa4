import Foundation
import LosslessJSON

/// Bytes and vectors as texts write them.
enum Fixture {
  /// Google's and C2SP's Wycheproof (Apache License 2.0), reduced to the columns that tests read:
  /// number, verdict, inputs and outputs in hexadecimal digits.
  static let wycheproof: JSONValue = {
    let file = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "Fixtures/wycheproof.json")
    guard let data = try? Data(contentsOf: file), let value = try? JSONValue(parsing: Array(data))
    else { fatalError("\(file.path) cannot be read") }
    return value
  }()

  /// Rows of a table of texts; numbers stay texts.
  static func rows(_ value: JSONValue?) -> [[String]] {
    (value?.array ?? []).map { row in (row.array ?? []).map { $0.string ?? $0.text } }
  }

  static func bytes(_ digits: some StringProtocol) -> [UInt8] {
    precondition(digits.count % 2 == 0)
    var rest = Substring(digits)
    var bytes: [UInt8] = []
    while !rest.isEmpty {
      guard let byte = UInt8(rest.prefix(2), radix: 16) else {
        preconditionFailure("no hexadecimal digits: \(rest.prefix(2))")
      }
      bytes.append(byte)
      rest = rest.dropFirst(2)
    }
    return bytes
  }

  static func text(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
