import HTTPClient
import LosslessJSON

/// Why an issuer's keys could not be had, in words for operators.
struct KeyFetchFault: Error, Sendable {
  let text: String
}

/// One question for an issuer's keys, by way of its metadata where needed.
struct KeyFetch {
  private static let metadataPath = ".well-known/openid-configuration"

  let exchange: JSONExchange

  func keys(at place: RemoteKeys.Place) async throws(KeyFetchFault) -> KeySet {
    switch place {
    case .keySet(let url): try await keys(url)
    case .discovery(let issuer): try await keys(try await keySetURL(of: issuer))
    }
  }

  /// The metadata must say that it is this issuer's (OpenID Connect Discovery section 4.3).
  private func keySetURL(of issuer: String) async throws(KeyFetchFault) -> HTTPURL {
    let base = issuer.hasSuffix("/") ? issuer : "\(issuer)/"
    let metadata = try await ask(try url(base + Self.metadataPath))
    guard metadata["issuer"]?.string == issuer else {
      throw KeyFetchFault(text: "the metadata is another issuer's than \(issuer)")
    }
    guard let text = metadata["jwks_uri"]?.string else {
      throw KeyFetchFault(text: "the metadata names no jwks_uri")
    }
    let url = try url(text)
    let isSecure = url.origin.scheme == .https
    guard isSecure || !issuer.lowercased().hasPrefix("https:") else {
      throw KeyFetchFault(text: "the keys of an https issuer would come over http")
    }
    return url
  }

  private func keys(_ url: HTTPURL) async throws(KeyFetchFault) -> KeySet {
    guard let entries = try await ask(url)["keys"]?.array else {
      throw KeyFetchFault(text: "the answer is no key set")
    }
    var keys: [VerificationKey] = []
    for entry in entries.prefix(KeySet.keysMax) {
      if let key = VerificationKey.read(entry) { keys.append(key) }
    }
    // Rather the keys that were good a moment ago than none.
    guard !keys.isEmpty else { throw KeyFetchFault(text: "the key set has no key of use") }
    return KeySet(keys: keys)
  }

  private func ask(_ url: HTTPURL) async throws(KeyFetchFault) -> JSONValue {
    let answer: JSONExchange.Answer
    do throws(HTTPClientError) {
      answer = try await exchange.get(url)
    } catch {
      throw KeyFetchFault(text: "\(error)")
    }
    guard answer.status == 200, let body = answer.body else {
      throw KeyFetchFault(text: "\(url.target) answered \(answer.status)")
    }
    return body
  }

  private func url(_ text: String) throws(KeyFetchFault) -> HTTPURL {
    do throws(HTTPURL.Fault) {
      return try HTTPURL(text)
    } catch {
      throw KeyFetchFault(text: "\(text) is no http address")
    }
  }
}
