import Foundation

/// The program under test and the example it serves.
enum LarderProgram {
  /// The path of the program, which the build puts beside the bundle that runs the tests.
  static let path: String = {
    let tests =
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
      ?? CommandLine.arguments[0]
    return URL(filePath: tests).deletingLastPathComponent().appending(path: "larder").path
  }()

  static let films: String =
    URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../Examples/films").standardized.path
}
