import Gateway
import HTTPServer
import Model

extension ServerRequest {
  /// The request's content as an upload.
  func upload() throws(Failure) -> FileUpload {
    upload(digests: try FileDigests.read(self))
  }

  /// - Parameter digests: those to check the content by.
  func upload(digests: [ContentDigest]) -> FileUpload {
    let body = body
    return FileUpload(
      byteCount: body.length, digests: digests,
      next: { () async throws(FileUpload.Fault) in
        var iterator = body.makeAsyncIterator()
        do throws(BodyReadError) {
          return try await iterator.next()
        } catch {
          switch error {
          case .tooLarge(let bytesMax): throw .tooLarge(bytesMax: bytesMax)
          case .refused: throw .framing
          case .incomplete: throw .incomplete
          case .disconnected, .cancelled: throw .disconnected
          }
        }
      })
  }
}
