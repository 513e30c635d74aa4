import HTTPClient
import HTTPWire
import LosslessJSON
import Model
import Transport

/// AppSync's authorization of a connection and of each subscription: a JSON object with the API's host
/// and the credential.
struct AppSyncAuthorization: Sendable {
  let object: JSONValue

  /// - Parameter host: the host of the GraphQL endpoint, never that of the real-time endpoint.
  init(host: String, headers: CallHeaders) {
    var members = [JSONMember("host", .string(host))]
    for header in headers.all {
      let name = header.name.lowercased()
      // The service reads this name with a capital letter, as its own clients write it.
      members.append(
        JSONMember(name == "authorization" ? "Authorization" : name, .string(header.value)))
    }
    object = .object(members)
  }

  /// The second subprotocol of the handshake. Unpadded, since `=` is no character of a token.
  var subprotocol: String { "header-" + Base64URL.encode(object.bytes) }

  /// The query of the handshake's URL in the older form; the payload is `{}`.
  var query: String {
    "header=\(PercentCoding.encode(Base64.encode(object.bytes)))&payload=e30%3D"
  }
}

extension HTTPURL {
  /// The real-time endpoint of an AppSync API: another host for the service's own names, a longer path
  /// for custom domains.
  var appSyncRealTime: HTTPURL {
    guard case .host(let host, port: let port) = origin.endpoint else { return self }
    guard host.contains(".appsync-api."),
      host.hasSuffix(".amazonaws.com") || host.hasSuffix(".amazonaws.com.cn")
    else { return HTTPURL(origin: origin, target: target + "/realtime") }
    let live = host.replacing(".appsync-api.", with: ".appsync-realtime-api.")
    return HTTPURL(
      origin: Origin(scheme: origin.scheme, endpoint: .host(live, port: port)), target: target)
  }

  /// The URL with a query appended.
  func adding(query: String) -> HTTPURL {
    HTTPURL(origin: origin, target: target + (target.contains("?") ? "&" : "?") + query)
  }
}
