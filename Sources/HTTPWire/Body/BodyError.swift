/// Why a body cannot be read to its end.
package enum BodyError: Error, Sendable, Hashable {
  case tooLarge
  case malformedChunk
  case chunkOverhead
  case malformedTrailer
  case trailerTooLarge

  /// The same fault, told to whoever sent the request.
  package var asRequestError: RequestError {
    switch self {
    case .tooLarge: .contentTooLarge
    case .malformedChunk: .malformedChunk
    case .chunkOverhead: .chunkOverhead
    case .malformedTrailer: .malformedTrailer
    case .trailerTooLarge: .trailerTooLarge
    }
  }
}
