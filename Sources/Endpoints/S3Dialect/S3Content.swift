import Cryptography
import Gateway
import Model
import S3Wire
import Synchronization

/// Converts a request's content to an upload: removes the `aws-chunked` framing, verifies chunk
/// signatures, and returns trailing digests.
///
/// Pieces are passed on before the signature of their chunk is verified; if one is invalid, the
/// reader gets an error instead of the end.
final class S3Content: Sendable {
  private struct State: ~Copyable {
    var decoder: AWSChunkedDecoder
    var signatures: ChunkSignatures?
    var digest = RunningHash<SHA256>()
    /// The claimed signature of the current chunk.
    var claimed: String?
    var input: ArraySlice<UInt8> = []
    var trailing: ContentDigest?
  }

  private typealias Source = @Sendable () async throws(FileStoreError) -> [UInt8]?

  private let source: Source
  private let announced: ContentDigest.Algorithm?
  private let state: Mutex<State>

  private init(
    _ form: AWSChunkedForm, byteCount: Int, signatures: ChunkSignatures?,
    announced: ContentDigest.Algorithm?, source: @escaping Source
  ) {
    self.source = source
    self.announced = announced
    state = Mutex(
      State(
        decoder: AWSChunkedDecoder(form, byteCount: byteCount), signatures: signatures))
  }

  /// - Parameters:
  ///   - wire: the content as received, with the digests from header fields. Its length includes
  ///     the framing.
  ///   - decodedCount: the content's length without framing (`x-amz-decoded-content-length`).
  ///   - announced: the trailing digest that `x-amz-trailer` announces.
  static func upload(
    _ wire: UploadContent, of request: S3Request, decodedCount: Int?,
    announced: ContentDigest.Algorithm?
  ) throws(S3Fault) -> UploadContent {
    var upload = wire
    switch request.payload {
    case .unsigned: return upload
    case .sha256(let digits):
      // Inserted first: the last digest that a client gives is the one stored with the object.
      let digest = Hexadecimal.decode(digits).flatMap { ContentDigest(.sha256, $0) }
      upload.digests = (digest.map { [$0] } ?? []) + upload.digests
      return upload
    case .signedChunks, .signedChunksAndTrailer, .unsignedChunksAndTrailer: break
    }
    guard let decodedCount else {
      throw S3Fault(.missingContentLength, "The field x-amz-decoded-content-length is missing.")
    }
    let form: AWSChunkedForm =
      switch request.payload {
      case .signedChunks: .signed
      case .signedChunksAndTrailer: .signedWithTrailer
      default: .unsignedWithTrailer
      }
    let content = S3Content(
      form, byteCount: decodedCount, signatures: request.chunks, announced: announced,
      source: wire.next)
    upload.byteCount = decodedCount
    upload.computing = announced
    upload.next = { () async throws(FileStoreError) in try await content.next() }
    upload.trailingDigests = { () throws(FileStoreError) in try content.trailingDigests() }
    return upload
  }

  private func next() async throws(FileStoreError) -> [UInt8]? {
    while true {
      let step = state.withLock { Self.step(&$0) }
      switch try step.get() {
      case .content(let piece): return piece
      case .over:
        // Bytes after the end are read too; there must be none.
        guard let more = try await source() else { return nil }
        guard more.isEmpty else { throw .refused(.framing) }
      case .needsMore:
        guard let more = try await source() else { throw .incomplete }
        state.withLock { $0.input = more[...] }
      }
    }
  }

  private enum Step {
    case content([UInt8])
    case needsMore
    case over
  }

  private static func step(_ state: inout State) -> Result<Step, FileStoreError> {
    do throws(AWSChunkedError) {
      while let event = try state.decoder.next(&state.input) {
        switch event {
        case .chunk(_, let signature):
          state.claimed = signature
          state.digest = RunningHash()
        case .content(let piece):
          if state.signatures != nil {
            piece.withUnsafeBytes { state.digest.update(bufferPointer: $0) }
          }
          return .success(.content(Array(piece)))
        case .chunkEnd:
          guard acceptChunk(&state) else { return .failure(.refused(.signature)) }
        case .trailers(let trailers, let signature):
          let fields = trailers.map { CanonicalRequest.Field($0.name, $0.value) }
          if let signatures = state.signatures,
            !signatures.accept(signature ?? "", trailer: fields)
          {
            return .failure(.refused(.signature))
          }
          guard note(trailers, in: &state) else { return .failure(.refused(.trailer)) }
        case .end: break
        }
      }
    } catch {
      return .failure(fault(error))
    }
    return .success((try? state.decoder.finish()) == nil ? .needsMore : .over)
  }

  private static func acceptChunk(_ state: inout State) -> Bool {
    guard state.signatures != nil else { return true }
    let digest = SignatureDigest.hex(state.digest.finalize())
    return state.signatures?.accept(state.claimed ?? "", digest: digest) ?? false
  }

  /// - Returns: false for a malformed digest, and for a second one.
  private static func note(_ trailers: [AWSChunkedTrailer], in state: inout State) -> Bool {
    for trailer in trailers where trailer.name.hasPrefix(S3Digests.prefix) {
      guard state.trailing == nil, let digest = S3Digests.digest(trailer.name, trailer.value)
      else { return false }
      state.trailing = digest
    }
    return true
  }

  private static func fault(_ error: AWSChunkedError) -> FileStoreError {
    switch error {
    case .tooLittleContent, .tooMuchContent, .unfinished: .incomplete
    case .malformedTrailer, .tooManyTrailers: .refused(.trailer)
    case .trailerSignatureMissing: .refused(.signature)
    case .lineTooLong, .malformedChunkLine, .malformedChunkEnd, .contentAfterEnd: .refused(.framing)
    }
  }

  /// The trailing digest, which must be present exactly if it was announced.
  private func trailingDigests() throws(FileStoreError) -> [ContentDigest] {
    let trailing = state.withLock { $0.trailing }
    guard trailing?.algorithm == announced else { throw .refused(.trailer) }
    return trailing.map { [$0] } ?? []
  }
}
