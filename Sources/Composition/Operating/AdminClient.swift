import HTTPClient
import HTTPTypes
import HTTPWire
package import LosslessJSON

/// Calls of the admin routes of the running service, for commands.
package struct AdminClient: Sendable {
  private static let timeout = Duration.seconds(30)

  private let address: ServiceAddress
  private let token: String

  /// - Parameter url: of the service; nil for the address in the settings.
  /// - Throws: if the settings have no admin token.
  package init(_ settings: Settings, url: String?) throws(StartFailure) {
    address = try ServiceAddress(settings, given: url)
    guard let token = settings.adminToken else {
      throw StartFailure(
        .faultySettings,
        "`admin.token` is not set: the service is operated with it. Set it in the settings of the "
          + "service and of this command, for example with LARDER_ADMIN_TOKEN.")
    }
    self.token = token.revealed
  }

  /// - Parameters:
  ///   - path: below the service's root, percent-encoded.
  ///   - body: nil for none.
  ///   - hint: what to do if there is no such path (404).
  /// - Returns: the body of the response; null if it is empty.
  /// - Throws: with the problem that the service reports.
  package func call(
    _ method: String, _ path: String, body: JSONValue? = nil, hint: String = ""
  ) async throws(StartFailure) -> JSONValue {
    guard let method = HTTPRequest.Method(method), let url = try? HTTPURL(address.url + path) else {
      throw StartFailure(.usage, "\(address)\(path) is not a valid URL.")
    }
    var fields: HTTPFields = [.authorization: "Bearer \(token)", .accept: "application/json"]
    if body != nil { fields[.contentType] = "application/json" }
    let response: HTTPClientResponse
    do throws(HTTPClientError) {
      response = try await address.send(
        HTTPClientRequest(method: method, url: url, fields: fields, body: body?.bytes ?? []),
        within: Self.timeout)
    } catch {
      throw address.failure(error)
    }
    let document = response.body.isEmpty ? JSONValue.null : try? JSONValue(parsing: response.body)
    guard (200..<300).contains(response.status.code), let document else {
      throw refusal(
        response.status.code, document, "\(method) \(address)\(path)", hint: hint)
    }
    return document
  }

  /// All items of a list that is read page by page.
  ///
  /// - Parameters:
  ///   - query: parameters, percent-encoded, without `after`.
  ///   - hint: what to do if there is no such list.
  package func items(
    _ path: String, query: [String] = [], hint: String
  ) async throws(StartFailure) -> [JSONValue] {
    var items: [JSONValue] = []
    var after: String?
    repeat {
      let parameters = query + (after.map { ["after=\(PercentCoding.encode($0))"] } ?? [])
      let page = try await call(
        "GET", path + (parameters.isEmpty ? "" : "?" + parameters.joined(separator: "&")),
        hint: hint)
      let more = page["items"]?.array ?? []
      items += more
      // A page without items ends the list, whatever it names as the next one.
      let next = page["next"]
      after = more.isEmpty || next == .null ? nil : next?.string ?? next?.text
    } while after != nil
    return items
  }

  private func refusal(
    _ status: Int, _ problem: JSONValue?, _ request: String, hint: String
  ) -> StartFailure {
    let errors = (problem?["errors"]?.array ?? []).compactMap { $0["detail"]?.string }
    let detail = ([problem?["detail"]?.string].compactMap { $0 } + errors).joined(separator: " ")
    switch status {
    case 401, 403:
      return StartFailure(
        .noPermission,
        "\(request): \(status) \(detail) Use the `admin.token` of that service, for example with "
          + "LARDER_ADMIN_TOKEN.")
    case 400 where problem?["code"] != nil:
      // What the command line said is what the service refuses.
      return StartFailure(.usage, "\(request): 400 \(detail)")
    case 404 where !hint.isEmpty:
      return StartFailure(.failed, "\(request): 404 \(detail) \(hint)")
    default:
      let reason = detail.isEmpty ? "The response is not one of Larder." : detail
      return StartFailure(.failed, "\(request): \(status) \(reason)")
    }
  }
}
