import Gateway
import HTTPServer
import HTTPWire
import Model

extension ServerRequest {
  /// The network by which a client's attempts are counted.
  var network: ClientNetwork { ClientNetwork(name: clientNetwork, block: clientNetworkBlock) }

  /// The value of a field, its lines joined; nil if it is absent.
  ///
  /// - Parameter name: in lower case.
  func field(_ name: String) -> String? {
    let values = head.fields.values(named: name)
    guard values.count > 1 else { return values.first?.text }
    // Only cookies have a separator of their own (RFC 6265 section 5.4).
    return values.map(\.text).joined(separator: name == "cookie" ? "; " : ", ")
  }

  /// The query string's parameters, in order.
  func queryParameters() throws(Failure) -> [QueryString.Parameter] {
    do throws(QueryString.Fault) {
      return try query().parameters
    } catch {
      switch error {
      case .malformedEncoding:
        throw Failure(
          .malformedRequest, "The query string is not valid percent-encoded UTF-8.")
      case .tooManyParameters:
        throw Failure(
          .malformedRequest,
          "The query string has more than \(QueryString.parametersMax) parameters.")
      }
    }
  }

  /// The request's cache directives (RFC 9111 section 5.2.1). `Pragma: no-cache` counts if there is no
  /// `Cache-Control` (section 5.4).
  var directives: ReadDirectives {
    guard let text = head["cache-control"] else {
      return ReadDirectives(noCache: field("pragma")?.lowercased() == "no-cache")
    }
    let control = RequestCacheControl(text)
    return ReadDirectives(
      noCache: control.noCache, noStore: control.noStore, onlyIfCached: control.onlyIfCached,
      maxAge: control.maxAge.map { .seconds($0) },
      maxStale: control.maxStale.map {
        switch $0 {
        case .any: .any
        case .seconds(let seconds): .atMost(.seconds(seconds))
        }
      })
  }
}
