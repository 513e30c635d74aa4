import CResources
import FoundationEssentials
import HTTPServer
import Synchronization
import Transport

/// Folders shipped with the binary: in `../share/larder` of an installed one, in the checkout whose build
/// folder contains it, or else inside the binary itself.
package enum ShippedFiles {
  /// Maximum number of levels from a binary in a build folder up to the checkout.
  private static let levelsMax = 5

  /// A file inside the binary; `path` is relative to the root of the sources.
  struct Embedded {
    let path: String
    let bytes: [UInt8]
  }

  static var embedded: [Embedded] {
    sequence(first: 0) { $0 + 1 }.lazy.map { larder_resource_at($0)?.pointee }
      .prefix { $0 != nil }.compactMap { file in
        guard let file, let path = file.path else { return nil }
        return Embedded(
          path: String(cString: path),
          bytes: Array(UnsafeBufferPointer(start: file.bytes, count: file.count)))
      }
  }

  /// The path of a shipped file or folder; nil if it is not installed and the embedded files cannot be
  /// written to a temporary folder.
  static func path(_ name: String) -> String? {
    let exists = { FileManager.default.fileExists(atPath: $0) }
    return candidates(for: name).first(where: exists) ?? unpacked.map { "\($0)/\(name)" }
  }

  static func isFolder(_ path: String) -> Bool {
    var isFolder = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder
  }

  /// Candidate paths, the likeliest first.
  private static func candidates(for name: String) -> [String] {
    guard let binary = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    else { return [] }
    var folder = URL(filePath: binary).deletingLastPathComponent()
    var candidates = [folder.appending(path: "../share/larder/\(name)").standardized.path]
    for _ in 0..<levelsMax {
      candidates.append(folder.appending(path: name).path)
      folder = folder.deletingLastPathComponent()
    }
    return candidates
  }

  /// The temporary folder, once it was needed.
  private static let temporary = Mutex<String?>(nil)

  private static var unpacked: String? {
    temporary.withLock { folder in
      if folder == nil { folder = try? unpack() }
      return folder
    }
  }

  /// Writes the embedded folders to a new temporary folder that only this user can read.
  static func unpack() throws -> String {
    let root = FileManager.default.temporaryDirectory.appending(path: "larder-\(UUID().uuidString)")
    // The name is random, and making the folder fails if it exists: it belongs to this process alone.
    try FileManager.default.createDirectory(
      at: root, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    let isUnpacked = { (path: String) in
      ["Examples/", "Public/"].contains(where: path.hasPrefix)
    }
    for file in embedded where isUnpacked(file.path) {
      let place = root.appending(path: file.path)
      try FileManager.default.createDirectory(
        at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(file.bytes).write(to: place)
    }
    return root.path
  }

  /// Deletes the temporary folder, if there is one, at the end of the process.
  package static func removeUnpacked() {
    temporary.withLock { folder in
      if let folder { try? FileManager.default.removeItem(atPath: folder) }
      folder = nil
    }
  }
}

/// The example shipped with the binary.
package enum Examples {
  /// The settings file of the film library; nil if it is not installed and cannot be written to a
  /// temporary folder.
  package static var filmsSettings: String? {
    ShippedFiles.path("Examples/films/larder.yaml")
  }
}

/// The folder of the pages served at `/`.
enum PublicFolder {
  /// The folder that settings name, else the one shipped with the binary; nil if neither exists, which
  /// is allowed.
  static func files(_ settings: Settings, pool: BlockingPool) -> StaticFiles? {
    guard let root = root(settings) else { return nil }
    return StaticFiles(
      root: root, pool: pool, ranges: rangeLimits(settings),
      pageFields: fields(settings, root: root),
      fieldsBelow: settings.publicFolder == nil
        ? ["demo": [policyField(policy(ofPageIn: "\(root)/demo"))]] : [:])
  }

  /// Header fields of the pages. The console handles the admin token, so no page may frame it and it
  /// may connect only to this service. Pages of the operator's own folder can have other needs, but
  /// must not be framed either.
  private static func fields(
    _ settings: Settings, root: String
  ) -> [(name: String, value: String)] {
    let own = settings.publicFolder == nil ? policy(ofPageIn: root) : nil
    return [
      policyField(own), ("X-Frame-Options", "DENY"), ("Referrer-Policy", "no-referrer"),
    ]
  }

  /// The field of a page's policy. A page's meta element cannot forbid framing; only a header field can.
  private static func policyField(_ own: String?) -> (name: String, value: String) {
    ("Content-Security-Policy", (own.map { "\($0); " } ?? "") + "frame-ancestors 'none'")
  }

  /// The policy in the page of a folder; a policy that allows nothing if the page cannot be read.
  static func policy(ofPageIn root: String) -> String {
    guard let data = FileManager.default.contents(atPath: "\(root)/index.html"),
      let text = String(validating: data, as: UTF8.self),
      let start = text.firstRange(of: #"http-equiv="Content-Security-Policy" content=""#)?
        .upperBound,
      let end = text[start...].firstIndex(of: "\"")
    else { return "default-src 'none'" }
    return String(text[start..<end])
  }

  static func rangeLimits(_ settings: Settings) -> StaticFiles.RangeLimits {
    var ranges = StaticFiles.RangeLimits()
    ranges.partsMax = settings.limits.rangesMax
    ranges.disorderMax = settings.limits.overlappingRangesMax
    return ranges
  }

  /// Whether there are pages, without writing the embedded ones anywhere.
  static func exists(_ settings: Settings) -> Bool {
    settings.publicFolder.map(ShippedFiles.isFolder) ?? true
  }

  private static func root(_ settings: Settings) -> String? {
    guard let named = settings.publicFolder else { return ShippedFiles.path("Public") }
    return ShippedFiles.isFolder(named) ? named : nil
  }
}
