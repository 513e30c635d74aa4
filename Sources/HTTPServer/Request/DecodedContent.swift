import HTTPWire
import Synchronization

/// Content that is decoded as it is read.
///
/// It is decoded on the reader's side, so that a slow reader stops the socket as with any content, and
/// only one decoded piece is in memory, however far the content expands.
final class DecodedContent: Sendable {
  private struct State: ~Copyable {
    var inflater: ContentInflater?
    var input: ArraySlice<UInt8> = []
    var codedBytes = 0
    var decodedBytes = 0
    /// Decoded bytes since the reader last yielded.
    var unyieldedBytes = 0
    /// The fault that ended the content.
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

  /// Returns whether the reader should yield to the loop, about every third of a millisecond: a few
  /// bytes can expand to a long body, which is then read without waiting for the socket.
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

  /// Decodes a piece of the received input; empty if there is none.
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

/// The coding to decode in a request's content (RFC 9110 8.4.1).
enum ContentDecoding: Sendable, Equatable {
  case identity
  case gzip
  case deflate

  /// The value of `Accept-Encoding` in a 415, the response to other codings (RFC 9110 15.5.16).
  static let accepted = "gzip, deflate"

  /// Parses `Content-Encoding`; nil for any other coding, and for nested codings.
  init?(_ fields: FieldSection) {
    guard let value = fields.joined("content-encoding") else {
      self = .identity
      return
    }
    let names = value.split(separator: UInt8(ascii: ",")).map(\.trimmingBlanks).filter {
      !$0.isEmpty && !$0.equalsIgnoringCase("identity")
    }
    guard let name = names.first else {
      self = .identity
      return
    }
    guard names.count == 1 else { return nil }
    if name.equalsIgnoringCase("gzip") || name.equalsIgnoringCase("x-gzip") {
      self = .gzip
    } else if name.equalsIgnoringCase("deflate") {
      self = .deflate
    } else {
      return nil
    }
  }
}

/// Limits on a decoded body.
struct DecodingLimits: Sendable, Equatable {
  /// The limit on all decoded bytes.
  var bytesMax: Int
  /// Decoded bytes per coded byte, once more than `bytesFree` bytes are decoded. Text is repetitive, so
  /// a short body can expand a hundredfold.
  var ratioMax: Int
  var bytesFree: Int

  /// The limit on decoded bytes for a number of coded bytes.
  func bytesMax(for codedBytes: Int) -> Int {
    min(bytesMax, max(bytesFree, multiplied(codedBytes)))
  }

  /// Applies a reader's own limit on uncoded content to decoded content.
  func readerBytesMax(_ bytesMax: Int) -> Int {
    min(self.bytesMax, multiplied(bytesMax))
  }

  private func multiplied(_ bytes: Int) -> Int {
    let (product, overflow) = bytes.multipliedReportingOverflow(by: ratioMax)
    return overflow ? .max : product
  }
}
