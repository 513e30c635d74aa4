import GraphQL
import HTTPClient
import HTTPTypes
import LosslessJSON
import Model
import Synchronization
import Transport
import Upstream

/// Asks an upstream for its schema.
struct SchemaIntrospection {
  /// What to do about a failure, in words of the command that asks.
  struct Remedies: Sendable {
    /// How the address is changed, a clause such as "check `upstream.url`".
    let address: String
    /// How a credential is given.
    let credential: String
    /// How a schema is given without introspection.
    let schema: String

    /// The remedies of a command that reads settings.
    init(_ upstream: NamedUpstream, schemaFile: String) {
      address = "check `\(upstream.section).url`"
      credential =
        "set the credential in `\(upstream.section).headers` or `\(upstream.section).secret`"
      schema = "write the schema to \(schemaFile) as SDL"
    }

    init(address: String, credential: String, schema: String) {
      self.address = address
      self.credential = credential
      self.schema = schema
    }
  }

  /// The last failure of an exchange, which is more precise than what the upstream's client makes of it.
  private final class LastError: Sendable {
    private let state = Mutex<HTTPClientError?>(nil)
    var value: HTTPClientError? { state.withLock { $0 } }
    func note(_ error: HTTPClientError) { state.withLock { $0 = error } }
  }

  private let upstream: NamedUpstream
  private let schemaBytesMax: Int
  private let remedies: Remedies
  private let isInteractive: Bool

  /// - Parameters:
  ///   - schemaBytesMax: of the schema as SDL.
  ///   - isInteractive: whether a terminal shows how long it waits.
  init(
    _ upstream: NamedUpstream, schemaBytesMax: Int, remedies: Remedies, isInteractive: Bool = false
  ) {
    self.upstream = upstream
    self.schemaBytesMax = schemaBytesMax
    self.remedies = remedies
    self.isInteractive = isInteractive
  }

  private var url: String { upstream.settings.url?.text ?? "" }

  /// Returns the schema.
  func schema() async throws -> Schema {
    guard isInteractive else { return try await fetch() }
    let host = upstream.settings.url?.http.origin.authority ?? upstream.name.text
    return try await ProgressLine("Waiting for \(host)").whileWaiting { try await fetch() }
  }

  private func fetch() async throws -> Schema {
    let group = try EventLoopGroup(count: 1)
    let tls = upstream.settings.url?.scheme == "https" ? try TLSClientContext() : nil
    let client = HTTPClient(group: group, tls: tls, random: { Double.random(in: 0..<1) })
    let lastError = LastError()
    var configuration = UpstreamConfiguration(upstream)
    // An introspection result in JSON is about three times as large as the schema in SDL.
    configuration.responseBytesMax = max(configuration.responseBytesMax, schemaBytesMax * 4)
    let caller = UpstreamClient(
      settings: configuration, clock: SystemClock.wall,
      exchange: { request, limit throws(HTTPClientError) in
        do throws(HTTPClientError) {
          return try await client.execute(request, within: limit)
        } catch {
          lastError.note(error)
          throw error
        }
      })
    let result: Result<UpstreamResponse, UpstreamFailure>
    do throws(UpstreamFailure) {
      result = .success(try await caller.introspect(call: UpstreamCall()))
    } catch {
      result = .failure(error)
    }
    await client.close()
    await group.shutdown()
    switch result {
    case .failure(let failure): throw self.failure(text(failure, lastError.value))
    case .success(let response): return try schema(of: response)
    }
  }

  private func failure(_ text: String) -> StartFailure {
    StartFailure(.upstreamUnavailable, "The schema of \(url) cannot be fetched: \(text.onOneLine)")
  }

  private func schema(of response: UpstreamResponse) throws(StartFailure) -> Schema {
    if response.permission != nil, response.data == nil {
      throw failure(refused(response.status))
    }
    guard response.data != nil else {
      // Servers describe an unknown path in GraphQL's form too.
      if response.status == 404 || response.status == 405 { throw failure(status(response.status)) }
      let message = response.errors?[0]?["message"]?.string ?? "no reason is given"
      throw failure(
        "the API refuses introspection (\(message.prefix(300))). Allow it, at least for your credential "
          + "(\(remedies.credential)), or \(remedies.schema).")
    }
    do throws(Faults) {
      return try Schema.build(introspection: JSONValue(response.document.root))
    } catch {
      throw StartFailure(.faultyOperations, "The schema of \(url) is not valid:\n\(error)")
    }
  }

  /// The schema as SDL, if it is not too large.
  func sdl() async throws -> String {
    let sdl = try await schema().sdl
    guard sdl.utf8.count <= schemaBytesMax else {
      throw StartFailure(
        .faultyOperations,
        "The schema of \(url) has \(sdl.utf8.count) bytes; the maximum is \(schemaBytesMax). Raise the "
          + "setting `schema.bytes`.")
    }
    return sdl
  }

  // MARK: Failures

  private func refused(_ status: Int) -> String {
    let isStatus = status == 401 || status == 403
    return
      "the API refuses the request\(isStatus ? " (status \(status))" : ""); \(remedies.credential)."
  }

  private func text(_ failure: UpstreamFailure, _ error: HTTPClientError?) -> String {
    switch failure {
    case .refused, .serviceRefused: return refused(0)
    case .status(let status, _): return self.status(status)
    case .malformed(let status, let reason, _) where status != 0:
      return
        "its response (status \(status)) is not GraphQL: \(reason). It is not a GraphQL endpoint; "
        + "\(remedies.address), whose path is often /graphql."
    case .tooLarge(let bytesMax):
      return "the response is larger than \(bytesMax) bytes; raise the setting `schema.bytes`."
    case .notSent, .busy, .timeout, .lost, .malformed, .cancelled, .rejected:
      return error.map(connection) ?? "\(failure). Is the API running? \(address)."
    }
  }

  /// The remedy for a wrong address, at the beginning of a sentence.
  private var address: String {
    remedies.address.prefix(1).uppercased() + remedies.address.dropFirst()
  }

  private func status(_ status: Int) -> String {
    switch status {
    case 401, 403: refused(status)
    case 300..<400:
      "the API redirects elsewhere (status \(status)), which is not followed; \(remedies.address): is it "
        + "complete, with https and the whole path?"
    case 429: "the API has had too many requests (status 429). Wait, then try again."
    case 400..<500:
      "it is not a GraphQL endpoint (status \(status)); \(remedies.address), whose path is often /graphql."
    default: "the API failed (status \(status)). Look into its log, then try again."
    }
  }

  private func connection(_ error: HTTPClientError) -> String {
    switch error {
    case .unresolved(let reason): "its host name has no address (\(reason)). \(address)."
    case .connectFailed(let error):
      "the connection failed (\(error)). Is the API running there? \(address)."
    case .connectTimedOut:
      "nothing accepted the connection in time. Is the API reachable from this machine? \(address)."
    case .noResponseInTime, .responseTooSlow:
      "it did not respond in \(upstream.settings.timeout.wholeSeconds) s. Is it a GraphQL endpoint? "
        + "\(address)."
    case .tls(let failure): "TLS failed: \(failure). \(tlsRemedy(failure))"
    case .responseMalformed, .connectionLost:
      "\(error). Is it an HTTP server, and should the address begin with https? \(address)."
    default: "\(error). Is the API running? \(address)."
    }
  }

  private func tlsRemedy(_ failure: TLSFailure) -> String {
    switch failure {
    case .handshake, .closedInHandshake, .plainHTTP, .record:
      "If the API speaks plain HTTP there, begin the address with http://."
    case .untrusted, .certificate:
      "Add the certificate of its authority to those of the system, or name its file in SSL_CERT_FILE."
    case .nameMismatch: "Use the name that its certificate is for."
    case .expired: "Renew its certificate, or set the clock of this machine."
    }
  }
}
