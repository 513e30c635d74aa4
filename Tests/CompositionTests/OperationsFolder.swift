import Foundation

@testable import Composition

/// A temporary folder with a schema and operations, removed with the object.
final class OperationsFolder {
  let path = "\(NSTemporaryDirectory())/larder-operations-\(UUID().uuidString)"

  init(schema: String?, operations: [String: String]) throws {
    try FileManager.default.createDirectory(
      atPath: "\(path)/operations", withIntermediateDirectories: true)
    if let schema { try write(schema, to: "schema.graphql") }
    for (name, text) in operations { try write(text, to: "operations/\(name)") }
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func write(_ text: String, to name: String) throws {
    try Data(text.utf8).write(to: URL(filePath: "\(path)/\(name)"))
  }

  /// - Parameters:
  ///   - upstream: members of `upstream` in addition to its URL.
  ///   - settings: lines in addition to `upstream`.
  func open(_ settings: String = "", upstream: String = "") throws -> Workspace {
    let text = "upstream: {url: \"http://127.0.0.1:9/graphql\"\(upstream)}\n" + settings
    let loaded = try Settings.load(
      from: SettingsSources(file: .init(name: "\(path)/larder.yaml", text: text)))
    return try Workspace.open(loaded)
  }
}
