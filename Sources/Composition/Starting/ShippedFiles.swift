import FoundationEssentials
import HTTPServer
import Transport

/// Files shipped with the binary: in `../share/larder` of an installed one, or in the checkout whose
/// build folder contains it.
enum ShippedFiles {
  /// Maximum number of levels from a binary in a build folder up to the checkout.
  private static let levelsMax = 5

  /// Candidate paths, the likeliest first.
  static func candidates(for name: String) -> [String] {
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
}

/// The example shipped with the binary.
package enum Examples {
  /// The settings file of the film library; nil if the examples are not installed.
  package static var filmsSettings: String? {
    ShippedFiles.candidates(for: "Examples/films/larder.yaml")
      .first { FileManager.default.fileExists(atPath: $0) }
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
      pageFields: fields(settings, root: root))
  }

  /// Header fields of the pages. The console handles the admin token, so no page may frame it and it
  /// may connect only to this service. Pages of the operator's own folder can have other needs, but
  /// must not be framed either.
  private static func fields(
    _ settings: Settings, root: String
  ) -> [(name: String, value: String)] {
    let framing = "frame-ancestors 'none'"
    // A page's meta element cannot forbid framing; only a header field can.
    let own = settings.publicFolder == nil ? "\(policy(ofPageIn: root)); " : ""
    return [
      ("Content-Security-Policy", own + framing), ("X-Frame-Options", "DENY"),
      ("Referrer-Policy", "no-referrer"),
    ]
  }

  /// The policy in the console's page, with the digests of its script and style; a policy that allows
  /// nothing if the page cannot be read.
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

  static func exists(_ settings: Settings) -> Bool { root(settings) != nil }

  private static func root(_ settings: Settings) -> String? {
    let candidates = settings.publicFolder.map { [$0] } ?? shipped
    return candidates.first(where: isFolder)
  }

  private static var shipped: [String] { ShippedFiles.candidates(for: "Public") }

  private static func isFolder(_ path: String) -> Bool {
    var isFolder = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder
  }
}
