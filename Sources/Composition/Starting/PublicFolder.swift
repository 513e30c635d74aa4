import FoundationEssentials
import HTTPServer
import Transport

/// The folder of pages that `/` shows.
enum PublicFolder {
  /// The one settings name, else the one beside the binary or the sources; nil where there is none,
  /// which is no fault.
  static func files(_ settings: Settings, pool: BlockingPool) -> StaticFiles? {
    guard let root = root(settings) else { return nil }
    return StaticFiles(
      root: root, pool: pool, ranges: rangeLimits(settings),
      pageFields: fields(settings, root: root))
  }

  /// The console takes the admin token, so no page may frame it and it may reach nothing but this
  /// service. A folder of the operator's own has pages of its own needs, but is not framed either.
  private static func fields(
    _ settings: Settings, root: String
  ) -> [(name: String, value: String)] {
    let framing = "frame-ancestors 'none'"
    // What a page says of itself holds for its own text alone; framing can only be forbidden here.
    let own = settings.publicFolder == nil ? "\(policy(ofPageIn: root)); " : ""
    return [
      ("Content-Security-Policy", own + framing), ("X-Frame-Options", "DENY"),
      ("Referrer-Policy", "no-referrer"),
    ]
  }

  /// The policy that the console's page states, with the digests of its own script and style; one
  /// that allows nothing where it cannot be read.
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
