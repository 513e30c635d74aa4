import Foundation
import LosslessJSON
import TestSupport

/// The reference implementation, run as a Python program over a batch of requests.
struct ReferenceValidator {
  struct Place: Hashable, Comparable, CustomStringConvertible {
    let rule: String
    let line: Int
    let column: Int

    var description: String { "\(rule)@\(line):\(column)" }

    static func < (left: Place, right: Place) -> Bool {
      (left.rule, left.line, left.column) < (right.rule, right.line, right.column)
    }
  }

  struct Verdict {
    let places: [Place]
    /// Rules that failed with an exception.
    let failed: Set<String>

    var rules: Set<String> { Set(places.map(\.rule)) }
  }

  private let reference: PythonReference

  init() throws {
    reference = try PythonReference(script: Self.script.path)
  }

  func judge(_ requests: [JSONValue]) throws -> [Verdict] {
    try answers(to: requests).map(Self.verdict)
  }

  func answers(to requests: [JSONValue]) throws -> [JSONValue] {
    try reference.answers(to: requests)
  }

  private static func verdict(_ answer: JSONValue) -> Verdict {
    let places = (answer["faults"]?.array ?? []).map { fault in
      Place(
        rule: fault[0]?.string ?? "", line: Int(fault[1]?.int64 ?? 0),
        column: Int(fault[2]?.int64 ?? 0))
    }
    return Verdict(
      places: places.sorted(),
      failed: Set((answer["failed"]?.array ?? []).compactMap(\.string)))
  }

  private static let testFolder = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent()
  private static let script = testFolder.appending(path: "Fixtures/reference_validator.py")

  static func fixture(_ name: String) throws -> String {
    let data = try Data(contentsOf: testFolder.appending(path: "Fixtures/\(name)"))
    return String(decoding: data, as: UTF8.self)
  }
}
