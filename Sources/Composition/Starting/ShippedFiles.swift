import FoundationEssentials

/// Where files that come with the binary may lie: `../share/larder` of an installed one, or the
/// checkout whose build folder holds it.
enum ShippedFiles {
  /// Levels from a binary in a build folder up to the checkout.
  private static let levelsMax = 5

  /// Paths to look at, the likeliest first.
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
