import Accounts
import Auth0Double
import Cryptography
import HTTPClient
import LosslessJSON
import Model
import TestSupport
import Testing
import Transport

struct TokenVerifierTests {
  static let issuer = "https://acme.example/"
  static let audience = "https://api.example"

  let clock = TestClock()
  let keySet = ScriptedKeySet()

  func verifier(_ more: [TokenIssuer] = []) throws -> TokenVerifier {
    TokenVerifier(
      issuers: [try issuer(Self.issuer, isFirst: true)] + more, clock: clock.clock,
      pool: BlockingPool(threadsMax: 1))
  }

  func issuer(_ name: String, isFirst: Bool) throws -> TokenIssuer {
    .remote(
      name: name, audience: Self.audience, isFirst: isFirst,
      keys: RemoteKeys(
        at: .keySet(try HTTPURL("\(name)keys")), exchange: keySet.exchange, clock: clock.clock))
  }

  func claims(_ change: (inout JSONValue) -> Void = { _ in }) -> JSONValue {
    let now = clock.seconds
    var claims: JSONValue = [
      "iss": .string(Self.issuer), "sub": "auth0|1", "aud": .string(Self.audience),
      "iat": .number(JSONNumber(now)), "exp": .number(JSONNumber(now + 600)),
    ]
    change(&claims)
    return claims
  }

  func fault(of token: String) async throws -> TokenFault? {
    let verifier = try verifier()
    do throws(TokenFault) {
      _ = try await verifier.verify(token)
      return nil
    } catch {
      return error
    }
  }

  @Test("A valid token is accepted", arguments: [true, false])
  func acceptsValidToken(isElliptic: Bool) async throws {
    let key = isElliptic ? try TestKey.elliptic("k1") : try TestKey.rsa("k1")
    keySet.publish([key])
    let user = try await verifier().verify(try key.token(claims()))
    #expect(user?.id == "auth0|1")
  }

  @Test("Shared claims are read only if their value can name a group")
  func readsSharedClaims() async throws {
    let key = try TestKey.elliptic("k1")
    keySet.publish([key])
    let verifier = TokenVerifier(
      issuers: [try issuer(Self.issuer, isFirst: true)], sharedClaims: ["org_id", "team"],
      clock: clock.clock, pool: BlockingPool(threadsMax: 1))
    func shared(_ change: (inout JSONValue) -> Void) async throws -> [Claim]? {
      try await verifier.verify(try key.token(claims(change)))?.claims
    }
    #expect(try await shared { _ in } == [])
    #expect(
      try await shared { $0["org_id"] = "acme" }
        == [Claim(name: "org_id", issuer: Self.issuer, value: #""acme""#)])
    #expect(
      try await shared {
        $0["team"] = 5
        $0["other"] = "x"
      } == [Claim(name: "team", issuer: Self.issuer, value: "5")])
    for empty: JSONValue in [.null, "", [], [:], .string(String(repeating: "a", count: 2_000))] {
      #expect(try await shared { $0["org_id"] = empty } == [])
    }
  }

  @Test("Tokens of unknown issuers are opaque")
  func ignoresForeignTokens() async throws {
    let key = try TestKey.elliptic("k1")
    keySet.publish([])
    let foreign = try key.token(claims { $0["iss"] = "https://other.example/" })
    for token in ["opaque", "a.b.c", "..", foreign, String(repeating: "x.", count: 20_000)] {
      #expect(try await verifier().verify(token) == nil)
    }
    #expect(keySet.requests.isEmpty)
  }

  @Test("Tokens with invalid claims are refused")
  func refusesInvalidClaims() async throws {
    let key = try TestKey.elliptic("k1")
    keySet.publish([key])
    let now = clock.seconds
    func number(_ value: Int64) -> JSONValue { .number(JSONNumber(value)) }
    let cases: [(TokenFault, (inout JSONValue) -> Void)] = [
      (.expired, { $0["exp"] = number(now - 61) }),
      (.malformed, { $0["exp"] = nil }),
      (.malformed, { $0["exp"] = "soon" }),
      (.notYetValid, { $0["nbf"] = number(now + 61) }),
      (.notYetValid, { $0["iat"] = number(now + 3600) }),
      (.wrongAudience, { $0["aud"] = "client-id" }),
      (.wrongAudience, { $0["aud"] = ["a", "b"] }),
      (.wrongAudience, { $0["aud"] = nil }),
      (.malformed, { $0["sub"] = nil }),
      (.malformed, { $0["sub"] = "" }),
      (.malformed, { $0["sub"] = "a b" }),
      // It names one of our keys, so it is not treated as a foreign token.
      (.wrongIssuer, { $0["iss"] = "https://acme.example" }),
    ]
    let verifier = try verifier()
    _ = try await verifier.verify(try key.token(claims()))
    for (fault, change) in cases {
      let token = try key.token(claims(change))
      await #expect(throws: fault, "\(claims(change).text)") { try await verifier.verify(token) }
    }
  }

  @Test("A small clock difference is tolerated")
  func allowsClockSkew() async throws {
    let key = try TestKey.elliptic("k1")
    keySet.publish([key])
    let now = clock.seconds
    let token = try key.token(
      claims {
        $0["exp"] = .number(JSONNumber(now - 59))
        $0["nbf"] = .number(JSONNumber(now + 59))
        $0["aud"] = ["x", .string(Self.audience)]
      })
    #expect(try await verifier().verify(token)?.id == "auth0|1")
  }

  @Test("Tokens with a confused algorithm are refused")
  func refusesAlgorithmConfusion() async throws {
    let key = try TestKey.rsa("k1")
    keySet.publish([key])
    let text = claims()
    func forged(_ alg: String, _ sign: (String) -> [UInt8]) -> String {
      let header: JSONValue = ["alg": .string(alg), "kid": "k1"]
      let text = "\(Base64URL.encode(header.bytes)).\(Base64URL.encode(text.bytes))"
      return "\(text).\(Base64URL.encode(sign(text)))"
    }
    // The public key as a shared secret.
    let secret = SymmetricKey(data: Array(key.published.text.utf8))
    let hmac = forged("HS256") {
      Array(HMAC<SHA256>.authenticationCode(for: Array($0.utf8), using: secret))
    }
    for (token, fault) in [
      (hmac, TokenFault.wrongAlgorithm), (forged("none") { _ in [] }, .wrongAlgorithm),
      (forged("NONE") { _ in [] }, .wrongAlgorithm),
      (forged("ES256") { (try? key.sign($0)) ?? [] }, .wrongAlgorithm),
      (forged("RS256") { _ in [] }, .wrongSignature),
    ] {
      #expect(try await self.fault(of: token) == fault, "\(token)")
    }
  }

  @Test("Headers with critical extensions or other types are refused")
  func refusesCriticalExtensions() async throws {
    let key = try TestKey.elliptic("k1")
    keySet.publish([key])
    for header: JSONValue in [
      ["alg": "ES256", "kid": "k1", "crit": ["exp"]],
      ["alg": "ES256", "kid": "k1", "typ": "logout+jwt"],
    ] {
      #expect(try await fault(of: try key.token(claims(), header: header)) == .malformed)
    }
  }

  /// With any bit flipped, the token is refused or, if it no longer names a configured issuer,
  /// opaque; it never stands for a user.
  @Test("A token with any altered bit never stands for a user")
  func refusesEveryAlteredCharacter() async throws {
    let key = try TestKey.elliptic("k1")
    keySet.publish([key])
    let verifier = try verifier()
    let token = try key.token(claims())
    _ = try await verifier.verify(token)
    var refused = 0
    for index in token.utf8.indices {
      var bytes = Array(token.utf8)
      let place = token.utf8.distance(from: token.startIndex, to: index)
      bytes[place] = bytes[place] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
      let altered = String(decoding: bytes, as: UTF8.self)
      do throws(TokenFault) {
        #expect(try await verifier.verify(altered) == nil, "\(altered)")
      } catch {
        refused += 1
      }
    }
    // Header and claims each identify the issuer; without the dot between them neither can be read.
    #expect(refused == token.utf8.count - 1)
  }

  @Test("Users of different issuers are kept apart")
  func separatesIssuers() async throws {
    let key = try TestKey.elliptic("k1")
    keySet.publish([key])
    let other = "https://login.example/"
    let verifier = try verifier([try issuer(other, isFirst: false)])
    let user = try await verifier.verify(try key.token(claims { $0["iss"] = .string(other) }))
    #expect(user?.id == "https://login.example/#auth0|1")
    let posing = try key.token(claims { $0["sub"] = "https://login.example/#auth0|1" })
    await #expect(throws: TokenFault.malformed) { try await verifier.verify(posing) }
  }

  @Test("A cached token is refused after it expires")
  func cacheRespectsExpiry() async throws {
    let key = try TestKey.elliptic("k1")
    keySet.publish([key])
    let verifier = try verifier()
    let token = try key.token(claims())
    #expect(try await verifier.verify(token) != nil)
    clock.advance(by: .seconds(659))
    #expect(try await verifier.verify(token) != nil)
    clock.advance(by: .seconds(1))
    await #expect(throws: TokenFault.expired) { try await verifier.verify(token) }
  }

  // MARK: Keys that come and go

  @Test("A new key of the issuer is found")
  func findsNewKey() async throws {
    let (old, new) = (try TestKey.elliptic("k1"), try TestKey.rsa("k2"))
    keySet.publish([old])
    let verifier = try verifier()
    #expect(try await verifier.verify(try old.token(claims())) != nil)
    keySet.publish([old, new])
    clock.advance(by: .seconds(30))
    #expect(try await verifier.verify(try new.token(claims())) != nil)
    #expect(keySet.requests.count == 2)
  }

  @Test("Made-up key ids do not flood the issuer")
  func unknownKeyIDsAreThrottled() async throws {
    let (key, stranger) = (try TestKey.elliptic("k1"), try TestKey.elliptic("k2"))
    keySet.publish([key])
    let verifier = try verifier()
    for number in 0..<50 {
      let header: JSONValue = ["alg": "ES256", "kid": .string("made-up-\(number)")]
      let token = try stranger.token(claims(), header: header)
      await #expect(throws: TokenFault.unknownKey) { try await verifier.verify(token) }
    }
    #expect(keySet.requests.count == 1)
    #expect(try await verifier.verify(try key.token(claims())) != nil)
  }

  @Test("A withdrawn key stops being accepted")
  func withdrawnKeyExpires() async throws {
    let (old, new) = (try TestKey.elliptic("k1"), try TestKey.elliptic("k2"))
    keySet.publish([old])
    let verifier = try verifier()
    let far = JSONValue.number(JSONNumber(clock.seconds + 100_000))
    let token = try old.token(claims { $0["exp"] = far })
    #expect(try await verifier.verify(token) != nil)
    keySet.publish([new])
    clock.advance(by: .seconds(3_600))
    // The first request after an hour still uses the old set, which is renewed in the background.
    _ = try? await verifier.verify(token)
    #expect(await eventuallyHolds { keySet.requests.count > 1 })
    clock.advance(by: .seconds(300))
    await #expect(throws: TokenFault.unknownKey) { try await verifier.verify(token) }
  }

  @Test("During an issuer's outage known keys remain usable for a day")
  func issuerOutage() async throws {
    let key = try TestKey.elliptic("k1")
    keySet.publish([key])
    keySet.goAway()
    let verifier = try verifier()
    let token = try key.token(claims())
    let fault = try await #require(throws: TokenFault.self) { try await verifier.verify(token) }
    guard case .keysUnavailable = fault else {
      Issue.record("\(fault)")
      return
    }
    keySet.goAway(false)
    clock.advance(by: .seconds(5))
    #expect(try await verifier.verify(token) != nil)
    // Known keys remain usable for a day without the issuer.
    keySet.goAway()
    clock.advance(by: .seconds(3_700))
    let later = try key.token(claims())
    #expect(try await verifier.verify(later) != nil)
    // And not longer, however often they are requested.
    clock.advance(by: .seconds(86_400))
    let last = try key.token(claims())
    for _ in 0..<2 {
      await #expect(throws: TokenFault.self) { try await verifier.verify(last) }
    }
  }

  /// The key may exist: it could not be fetched.
  @Test("A key that cannot be fetched is reported as unavailable, not as unknown")
  func unreachableKeyIsNotUnknown() async throws {
    let (old, new) = (try TestKey.elliptic("k1"), try TestKey.elliptic("k2"))
    keySet.publish([old])
    let verifier = try verifier()
    #expect(try await verifier.verify(try old.token(claims())) != nil)
    keySet.publish([old, new])
    keySet.goAway()
    clock.advance(by: .seconds(30))
    for _ in 0..<2 {
      let fault = try await #require(throws: TokenFault.self) {
        try await verifier.verify(try new.token(claims()))
      }
      guard case .keysUnavailable = fault else {
        Issue.record("\(fault)")
        continue
      }
    }
    #expect(keySet.requests.count == 2)
    keySet.goAway(false)
    clock.advance(by: .seconds(5))
    #expect(try await verifier.verify(try new.token(claims())) != nil)
  }

  @Test("Keys are found through the issuer's metadata")
  func discovery() async throws {
    let key = try TestKey.elliptic("k1")
    keySet.publish([key])
    keySet.describe([
      "issuer": .string(Self.issuer), "jwks_uri": "https://acme.example/deep/keys",
    ])
    let keys = RemoteKeys(
      at: .discovery(issuer: Self.issuer), exchange: keySet.exchange, clock: clock.clock)
    #expect(try await keys.probe() == 1)
    #expect(keySet.requests == ["/.well-known/openid-configuration", "/deep/keys"])
    for metadata: JSONValue in [
      ["issuer": "https://acme.example", "jwks_uri": "https://acme.example/keys"],
      ["issuer": .string(Self.issuer), "jwks_uri": "http://acme.example/keys"],
      ["issuer": .string(Self.issuer)],
    ] {
      keySet.describe(metadata)
      await #expect(throws: TokenFault.self, "\(metadata.text)") { try await keys.probe() }
    }
  }

  @Test("Unusable keys in a set are skipped")
  func skipsUnusableKeys() async throws {
    let key = try TestKey.elliptic("k1")
    keySet.publishRaw([
      ["kty": "oct", "k": "c2VjcmV0", "kid": "k1", "alg": "HS256"],
      ["kty": "RSA", "n": "AQAB", "e": "AQAB", "kid": "weak"],
      ["kty": "EC", "crv": "P-384", "x": "AA", "y": "AA", "kid": "other"],
      ["kty": "EC", "kid": "k1", "use": "enc", "crv": "P-256", "x": "AA", "y": "AA"], "nonsense",
      key.published,
    ])
    #expect(try await verifier().verify(try key.token(claims()))?.id == "auth0|1")
  }

  @Test("A key whose numbers are padded and in the standard alphabet is accepted")
  func paddedKeyNumbers() async throws {
    let key = try TestKey.rsa("k1")
    let modulus = try #require(key.published["n"]?.string)
    let standard = modulus.replacing("-", with: "+").replacing("_", with: "/") + "=="
    keySet.publishRaw([["kty": "RSA", "kid": "k1", "e": "AQAB", "n": .string(standard)]])
    let user = try await verifier().verify(try key.token(claims()))
    #expect(user?.id == "auth0|1")
  }
}
