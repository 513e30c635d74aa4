import Foundation

/// A folder with settings and data, deleted when it is released.
final class ServiceFolder {
  static let adminToken = String(repeating: "a", count: 40)

  let path: String
  let dataPath: String

  var settingsPath: String { "\(path)/larder.yaml" }
  var databasePath: String { "\(dataPath)/larder.sqlite" }

  /// - Parameters:
  ///   - upstream: the URL of the GraphQL API.
  ///   - data: another place for the data than inside the folder.
  ///   - operations: their folder.
  ///   - settings: lines added to the settings file.
  init(
    upstream: String, data: String? = nil, listen: String = "127.0.0.1:0",
    operations: String = "\(LarderProgram.films)/operations", settings: String = ""
  ) throws {
    path =
      FileManager.default.temporaryDirectory
      .appending(path: "larder-crash-\(UUID().uuidString)").path
    dataPath = data ?? "\(path)/data"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    try write(
      """
      listen: \(listen)
      data: \(dataPath)
      operations: \(operations)
      schema: \(LarderProgram.films)/schema.graphql
      upstream:
        url: \(upstream)
        forward: [authorization]
      admin:
        token: \(Self.adminToken)
      log:
        level: warning
      \(settings)
      """, to: "larder.yaml")
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// Writes a file of the folder, creating the folders of its path.
  func write(_ text: String, to name: String) throws {
    let file = URL(filePath: "\(path)/\(name)")
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
  }
}
