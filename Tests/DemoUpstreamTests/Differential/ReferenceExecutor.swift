import Foundation
import LosslessJSON
import TestSupport

/// The executor of graphql-core, for a batch of requests.
struct ReferenceExecutor {
  private let reference: PythonReference

  init() throws {
    reference = try PythonReference(script: Self.script)
  }

  /// Returns one response for each request, in order.
  func answers(to requests: [JSONValue]) throws -> [JSONValue] {
    try reference.answers(to: requests)
  }

  private static let script = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Fixtures/reference_executor.py").path
}
