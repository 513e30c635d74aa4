import FoundationEssentials

/// The example that comes with the binary.
package enum Examples {
  /// The settings file of the film library; nil where the examples were not installed.
  package static var filmsSettings: String? {
    ShippedFiles.candidates(for: "Examples/films/larder.yaml")
      .first { FileManager.default.fileExists(atPath: $0) }
  }
}
