import Files
import Model
import Testing

/// One thing that every file store does alike.
struct ContractCase: Sendable, CustomTestStringConvertible {
  let name: String
  let run: @Sendable (ContractStore) async throws -> Void

  init(_ name: String, _ run: @escaping @Sendable (ContractStore) async throws -> Void) {
    self.name = name
    self.run = run
  }

  var testDescription: String { name }

  static let all = objects + conditions + listings + uploads
}
