import HTTPWire
import Synchronization

/// Content whose coding is taken off as it is read.
///
/// It is decoded on the reader's side, so that a reader who lags stops the socket as with any
/// content, and however much a few bytes stand for, one piece of it is in memory.
final class DecodedContent: Sendable {
  private struct State: ~Copyable {
    var inflater: ContentInflater?
    var input: ArraySlice<UInt8> = []
    var codedBytes = 0
    var decodedBytes = 0
    /// Of these, since the reader last let others run.
    var unyieldedBytes = 0
    /// Nothing comes after a fault.
    var failure: BodyReadError?
  }

  let limits: DecodingLimits
  private let channel: BodyChannel
  private let isGzip: Bool
  private let state: Mutex<State>

  init(_ channel: BodyChannel, isGzip: Bool, limits: DecodingLimits) {
    self.channel = channel
    self.isGzip = isGzip
    self.limits = limits
    state = Mutex(State())
  }

  func next() async throws(BodyReadError) -> [UInt8]? {
    while true {
      let piece = try decode()
      if !piece.isEmpty {
        if isYieldDue(after: piece.count) { await Task.yield() }
        return piece
      }
      guard let chunk = try await channel.next() else {
        guard isComplete else { throw .refused(.malformedContentCoding) }
        return nil
      }
      state.withLock { state in
        state.input += chunk
        state.codedBytes += chunk.count
      }
    }
  }

  /// Whether others of the loop are due, about every third of a millisecond: a few bytes may stand
  /// for a long body, which is then read without any wait for the socket.
  private func isYieldDue(after bytes: Int) -> Bool {
    state.withLock { state in
      state.unyieldedBytes += bytes
      guard state.unyieldedBytes >= Self.unyieldedBytesMax else { return false }
      state.unyieldedBytes = 0
      return true
    }
  }

  private static let unyieldedBytesMax = 128 * 1024

  private var isComplete: Bool {
    state.withLock { $0.inflater?.isComplete ?? true }
  }

  /// A piece of what has come, empty if there is none.
  private func decode() throws(BodyReadError) -> [UInt8] {
    let result: Result<[UInt8], BodyReadError> = state.withLock { state in
      if let failure = state.failure { return .failure(failure) }
      do throws(BodyReadError) {
        return .success(try Self.decode(&state, isGzip: isGzip, limits: limits))
      } catch {
        state.failure = error
        state.inflater = nil
        state.input = []
        return .failure(error)
      }
    }
    return try result.get()
  }

  private static func decode(
    _ state: inout State, isGzip: Bool, limits: DecodingLimits
  ) throws(BodyReadError) -> [UInt8] {
    if state.input.isEmpty, state.inflater == nil { return [] }
    let piece: [UInt8]
    do throws(ContentInflater.Failure) {
      if state.inflater == nil { state.inflater = try ContentInflater(isGzip: isGzip) }
      piece = try state.inflater?.next(&state.input) ?? []
    } catch {
      throw .refused(.malformedContentCoding)
    }
    state.decodedBytes += piece.count
    let bytesMax = limits.bytesMax(for: state.codedBytes)
    guard state.decodedBytes <= bytesMax else { throw .tooLarge(bytesMax: bytesMax) }
    return piece
  }
}
