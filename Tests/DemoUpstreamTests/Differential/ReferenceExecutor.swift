import Foundation
import LosslessJSON
import TestSupport

/// graphql-core's executor over a batch of requests.
struct ReferenceExecutor {
  private let reference: PythonReference

  init() throws {
    reference = try PythonReference(script: Self.script)
  }

  /// One answer for each request, in order.
  func answers(to requests: [JSONValue]) throws -> [JSONValue] {
    try reference.answers(to: requests)
  }

  private static let script = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Fixtures/reference_executor.py").path
}
