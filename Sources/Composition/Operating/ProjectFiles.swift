import FoundationEssentials

/// The files of a new project: settings, schema and operations.
struct ProjectFiles {
  static let settingsName = SettingsSources.defaultFileName
  static let schemaName = "schema.graphql"
  static let operationsName = "operations"

  var settings: String
  var schema: String
  /// Texts by file name within the folder of operations, which can name one subfolder.
  var operations: [String: String]

  /// Refuses a folder that has any of the files, or cannot have them.
  static func checkPlace(_ folder: String) throws(StartFailure) {
    guard !folder.isEmpty else {
      throw StartFailure(.usage, "--output is empty; name a folder.")
    }
    let manager = FileManager.default
    var isFolder = false
    guard manager.fileExists(atPath: folder, isDirectory: &isFolder) else { return }
    guard isFolder else {
      throw StartFailure(.dataFolder, "\(folder) is not a folder; choose another --output.")
    }
    let existing = [settingsName, schemaName, operationsName].filter {
      // A link to nothing is in the way too.
      manager.fileExists(atPath: "\(folder)/\($0)")
        || (try? manager.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")) != nil
    }
    guard existing.isEmpty else {
      throw StartFailure(
        .dataFolder,
        "\(folder == "." ? "This folder" : folder) already has \(existing.joined(separator: ", ")). "
          + "Nothing was written; use an empty folder, with --output if you like.")
    }
    guard manager.isWritableFile(atPath: folder) else {
      throw StartFailure(
        .dataFolder, "The folder \(folder) is not writable; choose another --output.")
    }
  }

  /// Writes all files, or none.
  func write(to folder: String) throws(StartFailure) {
    let manager = FileManager.default
    let existed = manager.fileExists(atPath: folder)
    let staging = "\(folder)/.larder-init-\(UUID().uuidString)"
    var moved: [String] = []
    do {
      try manager.createDirectory(atPath: staging, withIntermediateDirectories: true)
      try manager.createDirectory(
        atPath: "\(staging)/\(Self.operationsName)", withIntermediateDirectories: false)
      for (name, text) in operations {
        let path = "\(staging)/\(Self.operationsName)/\(name)"
        try manager.createDirectory(
          atPath: FolderPath.folder(of: path), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(filePath: path))
      }
      try Data(schema.utf8).write(to: URL(filePath: "\(staging)/\(Self.schemaName)"))
      try Data(settings.utf8).write(to: URL(filePath: "\(staging)/\(Self.settingsName)"))
      // The settings last: with them the folder is a project.
      for name in [Self.operationsName, Self.schemaName, Self.settingsName] {
        try manager.moveItem(atPath: "\(staging)/\(name)", toPath: "\(folder)/\(name)")
        moved.append("\(folder)/\(name)")
      }
      try manager.removeItem(atPath: staging)
    } catch {
      for path in moved.reversed() { try? manager.removeItem(atPath: path) }
      try? manager.removeItem(atPath: existed ? staging : folder)
      throw StartFailure(
        .dataFolder,
        "The files cannot be written to \(folder): \(Self.reason(error)). Nothing is left of them.")
    }
  }

  /// Removes the files again.
  static func remove(from folder: String) {
    for name in [settingsName, schemaName, operationsName] {
      try? FileManager.default.removeItem(atPath: "\(folder)/\(name)")
    }
  }

  private static func reason(_ error: any Error) -> String {
    switch (error as? CocoaError)?.code {
    case .fileReadNoPermission, .fileWriteNoPermission: "permission is missing"
    case .fileWriteOutOfSpace: "the disk is full"
    case .fileWriteVolumeReadOnly: "the disk is read-only"
    case .fileWriteFileExists: "a file of that name has appeared"
    case let code?: "it failed with the code \(code.rawValue)"
    case nil: "\(error)"
    }
  }
}
