import HTTPClient
import HTTPTypes
import Model
import Synchronization

@testable import S3FileStore

/// A service with scripted responses.
final class S3Script: Sendable {
  enum Step: Sendable {
    case answer(Int, HTTPFields = [:], String = "")
    case failure(HTTPClientError)
  }

  private let steps: Mutex<[Step]>
  private let seen = Mutex<[HTTPClientRequest]>([])
  private let rested = Mutex<[Duration]>([])

  init(_ steps: [Step]) {
    self.steps = Mutex(steps)
  }

  var requests: [HTTPClientRequest] { seen.withLock { $0 } }
  var rests: [Duration] { rested.withLock { $0 } }

  func store(
    endpoint: String = "https://s3.example", region: String = "us-east-1",
    addressing: S3Addressing = .path
  ) throws -> S3FileStore {
    let settings = S3StoreSettings(
      endpoint: try HTTPURL(endpoint), region: region, accessKey: "AKIA", secretKey: "secret",
      addressing: addressing)
    return S3FileStore(
      client: S3Client(
        settings, clock: WallClock { Timestamp(milliseconds: 1_369_353_600_000) },
        random: { 1 }, rest: { [self] time in rested.withLock { $0.append(time) } },
        exchange: { [self] request, _ async throws(HTTPClientError) in try reply(to: request) }),
      sweptBuckets: [])
  }

  private func reply(to request: HTTPClientRequest) throws(HTTPClientError) -> S3ClientReply {
    seen.withLock { $0.append(request) }
    switch steps.withLock({ $0.isEmpty ? .answer(599) : $0.removeFirst() }) {
    case .failure(let error): throw error
    case .answer(let status, let fields, let text):
      let rest = Mutex(text.isEmpty ? [] : [Array(text.utf8)])
      return S3ClientReply(status: status, fields: fields) {
        () async throws(HTTPClientError) in rest.withLock { $0.popLast() }
      }
    }
  }
}
