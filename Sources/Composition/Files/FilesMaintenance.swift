import Gateway
import Logging
import Model

/// Makes the buckets that settings name, and clears what crashes, cut-off uploads and replaced
/// objects leave: at start, so that nothing of the last run outlives it, and from time to time.
struct FilesMaintenance: Sendable {
  private static let rest = Duration.seconds(600)

  let files: FileService
  let logger: Logger

  /// Runs until it is cancelled. A store that does not answer is tried again at the next pass.
  func run() async {
    while !Task.isCancelled {
      do throws(Failure) {
        try await files.sweep()
      } catch {
        logger.warning(
          "files were not cleaned", metadata: ["cause": "\(error.cause ?? error.message)"])
      }
      try? await Task.sleep(for: Self.rest)
      // Buckets that could not be made at start, or that others removed.
      if !Task.isCancelled { await prepare() }
    }
  }

  /// What settings name is there before anybody asks for it.
  func prepare() async {
    do throws(Failure) {
      try await files.makeNamedBuckets()
    } catch {
      logger.warning(
        "buckets were not made", metadata: ["cause": "\(error.cause ?? error.message)"])
    }
  }
}
