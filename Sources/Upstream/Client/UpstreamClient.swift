import GraphQL
package import HTTPClient
import HTTPTypes
import LosslessJSON

/// Executes operations on one upstream: GraphQL over HTTP, in the server's own dialect.
package final class UpstreamClient: Sendable {
  package let settings: UpstreamSettings
  private let client: HTTPClient
  private let rules: any DialectRules

  package init(settings: UpstreamSettings, client: HTTPClient) {
    self.settings = settings
    self.client = client
    rules = settings.dialect.rules
  }

  /// Sends one operation and reads the answer.
  ///
  /// A query may be sent a second time on a new connection if a reused one had died before the
  /// first byte of the answer; a mutation is sent once.
  package func execute(
    _ operation: RegisteredOperation, variables: Variables, call: UpstreamCall
  ) async throws(UpstreamFailure) -> UpstreamAnswer {
    try await send(
      document: operation.document, name: operation.name, variables: variables.json, call: call,
      isSafeToRepeat: operation.kind == .query)
  }

  /// Asks for the schema; the answer is introspection's, unread. Servers that do not know the
  /// newest fields are asked with fewer.
  package func introspect(call: UpstreamCall) async throws(UpstreamFailure) -> UpstreamAnswer {
    var answer: UpstreamAnswer?
    for query in IntrospectionQuery.all {
      let latest = try await send(
        document: query, name: "IntrospectionQuery", variables: "{}", call: call,
        isSafeToRepeat: true)
      answer = latest
      if latest.data != nil || latest.permission != nil { break }
    }
    guard let answer else { throw .malformed(status: 0, excerpt: "") }
    return answer
  }

  private func send(
    document: String, name: String, variables: String, call: UpstreamCall, isSafeToRepeat: Bool
  ) async throws(UpstreamFailure) -> UpstreamAnswer {
    let request = try request(
      body: Self.body(document: document, name: name, variables: variables), call: call,
      isSafeToRepeat: isSafeToRepeat)
    let response: HTTPClientResponse
    do throws(HTTPClientError) {
      response = try await client.execute(request, within: call.timeout ?? settings.timeout)
    } catch {
      throw UpstreamFailure(error, bytesMax: settings.answerBytesMax)
    }
    return try AnswerReading.answer(response, rules: rules)
  }

  private func request(
    body: [UInt8], call: UpstreamCall, isSafeToRepeat: Bool
  ) throws(UpstreamFailure) -> HTTPClientRequest {
    let url: HTTPURL
    do throws(HTTPURL.Fault) {
      url = try HTTPURL(settings.url)
    } catch {
      throw .notSent(cause: "\(settings.url): \(error)")
    }
    var request = HTTPClientRequest(
      method: .post, url: url, fields: fields(call), body: body)
    request.isSafeToRepeat = isSafeToRepeat
    request.responseBytesMax = settings.answerBytesMax
    return request
  }

  /// Where a user's credential goes along, the service's own stays here.
  private func fields(_ call: UpstreamCall) -> HTTPFields {
    var fields: HTTPFields = [
      .contentType: "application/json",
      .accept: "application/graphql-response+json, application/json;q=0.9",
    ]
    if !call.carriesUserCredential {
      for header in settings.headers { fields.set(header) }
      if let secret = settings.secret { fields.set(rules.credential(secret)) }
    }
    for header in call.forwarded { fields.set(header) }
    if let traceparent = call.traceparent { fields.set(.init("traceparent", traceparent)) }
    if let key = call.idempotencyKey { fields.set(.init("Idempotency-Key", key)) }
    return fields
  }

  private static func body(document: String, name: String, variables: String) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("query")
    writer.string(document)
    writer.name("operationName")
    writer.string(name)
    writer.name("variables")
    writer.raw(variables)
    writer.endObject()
    return writer.bytes
  }
}

extension HTTPFields {
  /// A name that is no token is left out: settings refuse it before it comes here.
  fileprivate mutating func set(_ header: UpstreamSettings.Header) {
    guard let name = HTTPField.Name(header.name) else { return }
    self[name] = header.value
  }
}
