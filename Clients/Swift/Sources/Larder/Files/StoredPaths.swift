import Foundation

/// Paths of files as the store keeps them: relative to a folder that an update or a restored backup of the app
/// can move, where the file is in one.
struct StoredPaths: Sendable {
  private let bases: [(name: String, folder: String)]

  /// - Parameter store: the file of the store.
  init(store: URL?) {
    var bases: [(name: String, folder: String)] = []
    if let store {
      bases.append(("store:", Self.resolved(store.deletingLastPathComponent())))
    }
    #if canImport(Darwin)
      // The app's container. Elsewhere it is the user's folder, which does not move.
      bases.append(("home:", Self.resolved(URL(fileURLWithPath: NSHomeDirectory()))))
    #endif
    self.bases = bases
  }

  private static func resolved(_ folder: URL) -> String {
    let path = folder.standardizedFileURL.resolvingSymlinksInPath().path
    return path.hasSuffix("/") ? path : path + "/"
  }

  /// What is stored for a file: an absolute path if it is in none of the folders.
  func stored(_ file: URL) -> String {
    let path = Self.resolved(file.deletingLastPathComponent()) + file.lastPathComponent
    for base in bases where path.hasPrefix(base.folder) {
      return base.name + path.dropFirst(base.folder.count)
    }
    return file.path
  }

  func path(_ stored: String) -> String {
    for base in bases where stored.hasPrefix(base.name) {
      return base.folder + stored.dropFirst(base.name.count)
    }
    return stored
  }
}
