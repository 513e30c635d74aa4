package import HTTPClient
import HTTPTypes
import HTTPWire
package import Model
import S3Wire

/// A client of the service, which addresses, signs and retries requests.
package struct S3Client: Sendable {
  /// Sends one request and returns the response's head.
  package typealias Exchange =
    @Sendable (HTTPClientRequest, HTTPClientContent?) async throws(HTTPClientError) -> S3ClientReply

  let settings: S3StoreSettings
  let clock: WallClock
  private let exchange: Exchange
  private let random: @Sendable () -> Double
  private let rest: @Sendable (Duration) async -> Void
  private let signer: RequestSigner
  private let memory = S3Memory()

  /// - Parameters:
  ///   - random: numbers from 0 up to 1.
  ///   - rest: waits for a duration.
  package init(
    _ settings: S3StoreSettings, clock: WallClock, random: @escaping @Sendable () -> Double,
    rest: @escaping @Sendable (Duration) async -> Void, exchange: @escaping Exchange
  ) {
    self.settings = settings
    self.clock = clock
    self.exchange = exchange
    self.random = random
    self.rest = rest
    signer = RequestSigner(
      accessKey: settings.accessKey, secretKey: settings.secretKey,
      sessionToken: settings.sessionToken)
  }

  /// Creates a client on connections of `http`.
  package init(
    _ settings: S3StoreSettings, clock: WallClock, random: @escaping @Sendable () -> Double,
    rest: @escaping @Sendable (Duration) async -> Void, http: HTTPClient
  ) {
    self.init(settings, clock: clock, random: random, rest: rest) {
      request, content async throws(HTTPClientError) in
      S3ClientReply(try await http.stream(request, content: content))
    }
  }

  /// Sends a request, and retries it while that is useful and `take` fails.
  ///
  /// - Parameter take: reads a successful response; its second argument is the number of requests sent.
  func perform<Result>(
    _ request: S3ClientRequest, _ take: (S3ClientReply, Int) async throws(S3Failure) -> Result
  ) async throws(S3Failure) -> Result {
    var attempts = 0
    var retries = 0
    var hasCorrected = false
    while true {
      attempts += 1
      var failure: S3Failure
      do throws(S3Failure) {
        return try await take(try await send(request), attempts)
      } catch {
        failure = error
      }
      failure.attempts = attempts
      guard request.canBeSentAgain else { throw failure }
      if !hasCorrected, correct(after: failure, request) {
        hasCorrected = true
        continue
      }
      retries += 1
      guard failure.isPassing, retries < settings.limits.attemptsMax,
        failure.retryAfter ?? .zero <= settings.limits.restMax, !Task.isCancelled
      else { throw failure }
      await rest(restTime(before: retries, atLeast: failure.retryAfter ?? .zero))
    }
  }

  /// Sends a request and reads the response to its end.
  func perform(_ request: S3ClientRequest) async throws(S3Failure) -> S3Response {
    try await perform(request) { reply, attempts throws(S3Failure) in
      S3Response(
        fields: reply.fields, content: try await content(of: reply), attempts: attempts,
        received: serviceTime)
    }
  }

  /// Sends a request whose response is a document, which can be an error in spite of its status.
  func perform<Result>(
    _ request: S3ClientRequest, document name: String,
    _ take: (XMLElement, S3Response) throws(S3Failure) -> Result
  ) async throws(S3Failure) -> Result {
    try await perform(request) { reply, attempts throws(S3Failure) in
      let response = S3Response(
        fields: reply.fields, content: try await content(of: reply), attempts: attempts,
        received: serviceTime)
      return try take(try response.document(name), response)
    }
  }

  private func send(_ request: S3ClientRequest) async throws(S3Failure) -> S3ClientReply {
    let reply: S3ClientReply
    do throws(HTTPClientError) {
      let (signed, content) = try sign(request)
      reply = try await exchange(signed, content)
    } catch {
      throw S3Failure(error)
    }
    guard !(200..<300).contains(reply.status) else { return reply }
    let document = try? XMLReader.read(await content(of: reply))
    throw S3Failure(
      status: reply.status, error: document.flatMap { $0.name == "Error" ? $0 : nil },
      fields: reply.fields, now: serviceTime)
  }

  private func content(of reply: S3ClientReply) async throws(S3Failure) -> [UInt8] {
    do throws(HTTPClientError) {
      return try await reply.rest(bytesMax: settings.limits.answerBytesMax)
    } catch {
      throw S3Failure(error)
    }
  }

  /// Returns a wait with full jitter: a random time up to a limit that doubles.
  private func restTime(before retry: Int, atLeast least: Duration) -> Duration {
    let bound = min(
      settings.limits.restFirst * (1 << min(retry - 1, 16)), settings.limits.restMax)
    return max(least, bound * random())
  }
}

extension S3Client {
  private func region(of bucket: BucketName?) -> S3Region {
    memory.region(of: bucket)
      ?? S3Region(name: settings.region, endpoint: settings.endpoint.origin)
  }

  /// The time by the service's clock, as far as its responses revealed the difference.
  private var serviceTime: HTTPDate {
    HTTPDate(
      secondsSince1970: clock.now().milliseconds / 1000 + memory.skew.components.seconds)
  }

  private func sign(
    _ request: S3ClientRequest
  ) throws(HTTPClientError) -> (HTTPClientRequest, HTTPClientContent?) {
    let region = region(of: request.bucket)
    var url = settings.addressing.url(of: request.bucket, request.key, at: region.endpoint)
    let path = url.target
    if !request.query.isEmpty { url.target += "?\(S3Encoding.canonicalQuery(request.query))" }
    let signed = signer.fields(
      method: request.method.rawValue, path: path, query: request.query,
      host: url.origin.authority, fields: request.fields, payload: payload(of: request),
      at: SignatureTime(serviceTime), region: region.name)
    // Content is stored and returned unchanged, in whatever coding it has.
    var fields: HTTPFields = [.acceptEncoding: "identity"]
    for field in request.fields + signed {
      guard let name = HTTPField.Name(field.name) else { throw .invalidRequest("fieldName") }
      fields.append(HTTPField(name: name, value: field.value))
    }
    switch request.content {
    case .bytes(let bytes):
      return (HTTPClientRequest(method: request.method, url: url, fields: fields, body: bytes), nil)
    case .stream(let content):
      return (HTTPClientRequest(method: request.method, url: url, fields: fields), content)
    }
  }

  /// TLS protects content by itself; `Content-MD5` protects streamed content.
  private func payload(of request: S3ClientRequest) -> PayloadHash {
    guard case .bytes(let bytes) = request.content else { return .unsigned }
    if bytes.isEmpty { return .empty }
    return settings.endpoint.origin.scheme == .https ? .unsigned : PayloadHash(of: bytes)
  }

  /// Learns the region of the bucket, or the service's time, from a refusal.
  ///
  /// - Returns: whether the request should be repeated with that.
  private func correct(after failure: S3Failure, _ request: S3ClientRequest) -> Bool {
    if failure.isElsewhere, let name = failure.region, let bucket = request.bucket {
      let region = region(of: bucket)
      guard region.name != name else { return false }
      memory.note(region.moved(to: name), of: bucket)
      return true
    }
    if failure.status == 403 || failure.status == 400, let date = failure.date {
      let error = date.secondsSince1970 - serviceTime.secondsSince1970
      guard error.magnitude >= UInt64(settings.limits.clockSkewMin.components.seconds) else {
        return false
      }
      memory.skew += .seconds(error)
      return true
    }
    return false
  }
}
