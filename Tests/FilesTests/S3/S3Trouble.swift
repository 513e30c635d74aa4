import Files
import HTTPClient
import HTTPTypes
import Synchronization

@testable import S3FileStore

/// A connection to an independent service that fails where a test requires it.
final class S3Trouble: Sendable {
  enum Kind: CaseIterable {
    /// The service responds 500 and does nothing.
    case internalError
    /// The service responds 503 and does nothing.
    case unavailable
    /// The service never receives the request.
    case noConnection
    /// The service carries out the request, and the response is late.
    case lateAnswer
  }

  private let kind: Kind
  private let isTroubled: @Sendable (HTTPClientRequest) -> Bool
  private let left: Mutex<Int>
  private let seen = Mutex<[HTTPClientRequest]>([])
  private let fixture: S3Fixture

  /// - Parameters:
  ///   - times: how often it fails.
  ///   - isTroubled: whether a request fails.
  init(
    _ fixture: S3Fixture, _ kind: Kind, times: Int,
    at isTroubled: @escaping @Sendable (HTTPClientRequest) -> Bool
  ) {
    self.fixture = fixture
    self.kind = kind
    self.isTroubled = isTroubled
    left = Mutex(times)
  }

  var store: S3FileStore {
    S3FileStore(
      client: S3Client(
        fixture.settings, clock: TestClock.wall, random: { 0.5 }, rest: { _ in },
        exchange: { [self] request, content async throws(HTTPClientError) in
          try await exchange(request, content)
        }), sweptBuckets: [])
  }

  /// Requests of some kind that were sent.
  func count(_ isMeant: (HTTPClientRequest) -> Bool) -> Int {
    seen.withLock { $0.count { isMeant($0) } }
  }

  private func exchange(
    _ request: HTTPClientRequest, _ content: HTTPClientContent?
  ) async throws(HTTPClientError) -> S3ClientReply {
    // Without its content, which is long.
    seen.withLock { $0.append(HTTPClientRequest(method: request.method, url: request.url)) }
    guard isTroubled(request), fails() else {
      return S3ClientReply(try await fixture.http.stream(request, content: content))
    }
    switch kind {
    case .internalError: return S3ClientReply(status: 500, fields: [:]) { nil }
    case .unavailable: return S3ClientReply(status: 503, fields: [:]) { nil }
    case .noConnection: throw .connectTimedOut
    case .lateAnswer:
      let reply = S3ClientReply(try await fixture.http.stream(request, content: content))
      _ = try await reply.rest(bytesMax: 1 << 20)
      throw .noResponseInTime
    }
  }

  private func fails() -> Bool {
    left.withLock { left in
      guard left > 0 else { return false }
      left -= 1
      return true
    }
  }
}
