import HTTPClient
import Model
import Synchronization

/// Content that is streamed to the service in one request.
///
/// The last piece is held back until the content has been verified: if that fails, the request is never
/// completed, and the service keeps the previous object.
final class StreamedUpload: Sendable {
  private let reading: UploadReading
  private let state = Mutex((held: [UInt8]?.none, failure: FileStoreError?.none))

  init(_ reading: UploadReading) {
    self.reading = reading
  }

  /// Why the content was not completed, which is then the reason for the missing response.
  var failure: FileStoreError? { state.withLock { $0.failure } }

  func content(byteCount: Int) -> HTTPClientContent {
    HTTPClientContent(byteCount: byteCount) { await self.next() }
  }

  private func next() async -> HTTPClientContent.Step {
    do throws(FileStoreError) {
      while let piece = try await reading.next() {
        let before = state.withLock { state in
          let before = state.held
          state.held = piece
          return before
        }
        if let before { return .piece(before) }
      }
      _ = try reading.check()
      return state.withLock { $0.held.take() }.map { .piece($0) } ?? .end
    } catch {
      state.withLock { $0.failure = error }
      return .end
    }
  }
}
