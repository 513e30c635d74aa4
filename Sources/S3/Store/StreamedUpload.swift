import Files
import HTTPClient
import Synchronization

/// Content that goes up as it comes in, in one request.
///
/// The last piece is held back until the content has been found to be what the client promised:
/// where it is not, the request is never whole, and the service keeps what was there.
final class StreamedUpload: Sendable {
  private let reading: UploadReading
  private let state = Mutex((held: [UInt8]?.none, failure: FileStoreError?.none))

  init(_ reading: UploadReading) {
    self.reading = reading
  }

  /// Why the content is not whole, which is then why there is no answer.
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
